"""A plant in real time behind a broker: what the broker keeps while it cannot deliver must not be lost.

The connection is cut, the monitor is stopped (as a virtual machine that is moved), or it is down and comes back to
messages that nobody can use. With `live_step_ms` below a minute the same happens faster.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from faults.broker import Broker, Publisher
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_none
from faults.proxy import FaultProxy
from faults.rig import JOURNAL, PREFIX, Rig, Watcher, publish, summary, watched_ms
from faults.toy_detector import SITE, Telemetry, toy_building
from graphghha.monitor import Reader

ZONES, MOST_ROWS = 12, 3_000
LEAD_ROWS, CUT_ROWS, STOPPED_ROWS, DOWN_ROWS = 4, 6, 7, 8
CHATTER = 5  # unusable messages per row
CUT, STOPPED = "connection cut for 6 rows, session kept", "monitor stopped (SIGSTOP) for 7 rows"
DOWN = "monitor down for 8 rows, unusable messages before and between"


@dataclass(slots=True)
class Plant:
    """Devices that send a row whenever its time has come, in a thread of their own."""

    telemetry: Telemetry
    device: Publisher
    measured: int = 0  # rows
    sent: int = 0
    is_storing: bool = False  # measured rows wait for better times
    chatter: int = 0
    is_ended: bool = False

    def run(self) -> None:
        while not self.is_ended and self.measured < len(self.telemetry):
            time.sleep(max(0.0, self.telemetry.times_ms[self.measured] / 1000 - time.time()))
            self.measured += 1
            while self.sent < self.measured and not self.is_storing:
                for number in range(self.chatter):
                    self.device.post(f"{PREFIX}/lift/position", str(number).encode())
                publish(self.device, self.telemetry, self.sent, self.sent + 1)
                self.sent += 1

    def pass_rows(self, count: int) -> None:
        """Wait until so many more rows were measured."""
        until = self.measured + count
        while self.measured < until:
            time.sleep(0.01)


@contextmanager
def plant_of(broker: Broker, step_ms: int) -> Iterator[Plant]:
    building = toy_building(ZONES, MOST_ROWS)
    first_ms = -(-int((time.time() + 0.2) * 1000) // step_ms) * step_ms
    telemetry = replace(building, times_ms=first_ms + step_ms * np.arange(MOST_ROWS, dtype=np.int64))
    with broker.publisher() as device:
        plant = Plant(telemetry, device)
        thread = threading.Thread(target=plant.run, daemon=True)
        thread.start()
        try:
            yield plant
        finally:
            plant.is_ended = True
            thread.join()


def command_of(state: Path, address: str, rig: Rig) -> list[str]:
    scale = [str(rig.live_step_ms), str(rig.live_lateness_ms)]
    return [sys.executable, "-m", "faults.worker", str(state), address, str(ZONES), *scale]


def wait_for(watcher: Watcher, plant: Plant, row: int) -> None:
    reached = int(plant.telemetry.times_ms[row])
    watcher.until(lambda: watched_ms(watcher.state) >= reached, f"row {row}")


def try_cuts(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    """Cut the connection, then stop the process; everybody else goes on."""
    folder.mkdir(parents=True, exist_ok=True)
    state, lost = folder / "state", []
    with Broker(folder) as broker, FaultProxy(("127.0.0.1", broker.port)) as proxy:
        with Watcher(command_of(state, f"mqtt://127.0.0.1:{proxy.port}/{PREFIX}", rig), state) as watcher:
            watcher.until(lambda: proxy.connections > 0, "a connection")
            time.sleep(0.5)  # until it has subscribed
            with plant_of(broker, rig.live_step_ms) as plant:
                plant.pass_rows(LEAD_ROWS)
                wait_for(watcher, plant, 0)
                for fault, inject in ((CUT, _cut), (STOPPED, _stop)):
                    progress(fault)
                    first = plant.measured
                    inject(watcher, proxy, plant)
                    last = plant.measured
                    plant.pass_rows(LEAD_ROWS)
                    wait_for(watcher, plant, last + 1)
                    lost.append((fault, first, last))
                watcher.end()
        return [figure_of(fault, state, plant.telemetry, first, last) for fault, first, last in lost]


def _cut(watcher: Watcher, proxy: FaultProxy, plant: Plant) -> None:
    proxy.refuse()
    proxy.reset()
    plant.pass_rows(CUT_ROWS)
    proxy.refuse(False)


def _stop(watcher: Watcher, proxy: FaultProxy, plant: Plant) -> None:
    os.kill(watcher.pid, signal.SIGSTOP)
    plant.pass_rows(STOPPED_ROWS)
    os.kill(watcher.pid, signal.SIGCONT)


def try_restarts(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    """End the monitor; when it is back, it gets an unusable message first, and many between what was stored."""
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / "state"
    progress(DOWN)
    with Broker(folder) as broker:
        command = command_of(state, f"{broker.address}/{PREFIX}", rig)
        with Watcher(command, state) as watcher:
            watcher.until((state / JOURNAL).exists, "a journal")
            time.sleep(0.5)
            with plant_of(broker, rig.live_step_ms) as plant:
                plant.pass_rows(LEAD_ROWS)
                wait_for(watcher, plant, 0)
                first, plant.is_storing, plant.chatter = plant.measured, True, CHATTER
                watcher.end()
                plant.pass_rows(DOWN_ROWS)
                with Watcher(command, state) as again, broker.publisher() as stranger:
                    stranger.post(f"{PREFIX}/printer/toner", b"17")
                    stranger.flush()
                    again.until(lambda: bool(summary(state)["rejected"].get("unmapped")), "the unusable message")
                    last, plant.is_storing = plant.measured, False
                    plant.pass_rows(LEAD_ROWS)
                    wait_for(again, plant, last + 1)
                    again.end()
        return [figure_of(DOWN, state, plant.telemetry, first, last)]


def figure_of(fault: str, state: Path, telemetry: Telemetry, first: int, last: int) -> Figure:
    """Count the readings of the disturbed rows that are missing in the journal."""
    with Reader(state / JOURNAL) as reader:
        rows = reader.rows(SITE)
    assert rows is not None
    kept = dict(zip(rows.times_ms.tolist(), rows.values, strict=True))
    none = np.full(len(telemetry.names), np.nan, np.float32)
    lost = sum(
        int((kept.get(int(telemetry.times_ms[row]), none) != telemetry.values[row].astype(np.float32)).sum())
        for row in range(first, last + 1)
    )
    return expect_none(fault, "readings lost", lost, f"{(last + 1 - first) * len(telemetry.names):,}")
