"""After a broker outage, a reset or lost packets the monitor must reconnect, report the gap and raise no alarm."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from faults.broker import Broker
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, expect_none
from faults.proxy import FaultProxy
from faults.rig import JOURNAL, PREFIX, Rig, Watcher, begin, cpu_s, publish, watched_ms
from faults.toy_detector import SITE, STEP_MS, Telemetry
from graphghha._util.times import iso
from graphghha.monitor import Reader

ROWS_BETWEEN = 30  # received between two faults
ROWS_LOST = 45  # rows of plant time that no device could send
MAX_CPU = 5.0  # per cent of one core
RESET_S = 1.0


@dataclass(frozen=True, slots=True)
class _Setup:
    """One building, one broker, one proxy, one watcher."""

    broker: Broker
    proxy: FaultProxy
    watcher: Watcher
    telemetry: Telemetry

    def send(self, first: int, end: int) -> None:
        self.post(first, end)
        self.wait_until_scored(end)

    def post(self, first: int, end: int) -> None:
        """Publish rows to the broker directly, as a device does."""
        with self.broker.publisher() as device:
            publish(device, self.telemetry, first, end)

    def wait_until_scored(self, end: int) -> None:
        """Wait until the monitor has scored all rows but the last, which is still open."""
        reached = int(self.telemetry.times_ms[end - 2])
        self.watcher.until(lambda: watched_ms(self.watcher.state) >= reached, f"row {end - 2}")


def try_outages(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    count = 2 + len(effort.outages_s)
    telemetry = rig.building(effort.outage_zones, (count + 1) * (ROWS_BETWEEN + ROWS_LOST), False)
    at, figures, lost = max(1, rig.warm_up_rows), [], []
    state = folder / "state"
    state.mkdir(parents=True)
    with Broker(folder) as broker, FaultProxy(("127.0.0.1", broker.port)) as proxy:
        address = f"mqtt://127.0.0.1:{proxy.port}/{PREFIX}?keepalive_s={effort.keepalive_s}"
        with Watcher(rig.command(state, address, effort.outage_zones), state) as watcher:
            setup = _Setup(broker, proxy, watcher, telemetry)
            with broker.publisher() as device:
                begin(watcher, device, telemetry)
            setup.send(1, at := at + ROWS_BETWEEN)
            for seconds in effort.outages_s:
                fault = f"broker down {seconds:g} s"
                progress(fault)
                figures.append(
                    expect_at_most(fault, "processor time during the fault", _down(setup, seconds), MAX_CPU, " %")
                )
                lost.append((at - 1, at + ROWS_LOST))
                setup.send(at + ROWS_LOST, at := at + ROWS_LOST + ROWS_BETWEEN)
            for fault, inject in (("connection reset", _reset), ("black hole", _black_hole)):
                progress(fault)
                cost = inject(setup, at, effort)
                figures.append(expect_at_most(fault, "processor time during the fault", cost, MAX_CPU, " %"))
                setup.wait_until_scored(at := at + ROWS_BETWEEN)
            watcher.end()
    return figures + _figures(state, telemetry, lost, at)


def _down(setup: _Setup, seconds: float) -> float:
    setup.broker.stop()
    cost = _cost(setup.watcher.pid, seconds)
    setup.broker.start()
    return cost


def _reset(setup: _Setup, at: int, effort: Effort) -> float:
    """Reset the connection and refuse new ones for a while."""
    setup.proxy.refuse()
    setup.proxy.reset()
    setup.post(at, at + ROWS_BETWEEN)
    cost = _cost(setup.watcher.pid, RESET_S)
    setup.proxy.refuse(False)
    return cost


def _black_hole(setup: _Setup, at: int, effort: Effort) -> float:
    """Keep connections open but pass nothing on, until the client has noticed."""
    setup.proxy.black_hole()
    setup.post(at, at + ROWS_BETWEEN)
    cost = _cost(setup.watcher.pid, 2.0 * effort.keepalive_s)
    setup.proxy.black_hole(False)
    return cost


def _cost(pid: int, seconds: float) -> float:
    """Return the processor time of a process over some seconds, in per cent of one core."""
    before, began = cpu_s(pid), time.monotonic()
    time.sleep(seconds)
    return 100.0 * (cpu_s(pid) - before) / (time.monotonic() - began)


def _figures(state: Path, telemetry: Telemetry, lost: list[tuple[int, int]], end: int) -> list[Figure]:
    """Compare the journal with what was sent and what was lost."""
    with Reader(state / JOURNAL) as reader:
        reconnections = [event.body for event in reader.events_after(0, 10**6, ["source.found"])]
        alarms = len(reader.events_after(0, 10**6, ["incident.annunciated"]))
        rows = reader.rows(SITE)
    assert rows is not None
    gaps = [(iso(int(telemetry.times_ms[last])), iso(int(telemetry.times_ms[first]))) for last, first in lost]
    exact = sum(gap == (body["from"], body["to"]) for gap, body in zip(gaps, reconnections, strict=False))
    sent = np.ones(end - 1, np.bool_)
    for last, first in lost:
        sent[last + 1 : first] = False
    received = np.isin(telemetry.times_ms[: end - 1][sent], rows.times_ms[rows.fresh.all(axis=1)])
    fault = "all outages"
    return [
        expect_all(
            fault,
            f"gaps reported with exact limits on the {STEP_MS // 1000} s grid",
            exact,
            max(len(gaps), len(reconnections)),
        ),
        expect_all(fault, "sent rows that are in the journal", int(received.sum()), int(sent.sum())),
        expect_none(fault, "false attack alarms", alarms),
    ]
