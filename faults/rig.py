"""What is put to the test: a detector in this process, a building, and the program that watches it in another."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults.broker import Publisher
from faults.toy_detector import SITE, Telemetry, plain_building, plain_detector, usual_attacks
from graphghha.errors import EngineError, GraphGHHAError
from graphghha.monitor import Detector, Reader, SiteConfig

PREFIX = "bms"
JOURNAL = "journal.sqlite"
WAIT_S = 300.0


@dataclass(frozen=True, slots=True)
class Rig:
    """`building(zones, rows, is_attacked)` gives `warm_up_rows` rows more than asked for, which are not judged."""

    detector: Callable[[int], Detector]
    building: Callable[[int, int, bool], Telemetry]
    command: Callable[[Path, str, int], Sequence[str]]  # state folder, address, zones
    warm_up_rows: int = 0

    @property
    def config(self) -> SiteConfig:
        return SiteConfig(warm_up_rows=self.warm_up_rows)


def _plain_command(state: Path, address: str, zones: int) -> list[str]:
    return [sys.executable, "-m", "faults.worker", str(state), address, str(zones)]


PLAIN_RIG = Rig(
    detector=plain_detector,
    building=lambda zones, rows, is_attacked: plain_building(zones, rows, usual_attacks(rows) if is_attacked else ()),
    command=_plain_command,
)


class Watcher:
    """A monitor in a process of its own, to be killed."""

    def __init__(self, command: Sequence[str], state: Path) -> None:
        self.state = state
        state.mkdir(parents=True, exist_ok=True)
        self._log = state / "log"
        with self._log.open("ab") as log:
            environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[1])}
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    def __enter__(self) -> "Watcher":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """SIGKILL: no word of warning."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        if self._process.wait(WAIT_S) != 0:
            raise EngineError(f"the watcher ended with {self._process.returncode}: {self._tail()}")

    def until(self, is_true: Callable[[], bool], what: str) -> None:
        """Wait for something it does."""
        until(is_true, what, lambda: None if self.is_running else f"it ended: {self._tail()}")

    def _tail(self) -> str:
        return self._log.read_text(errors="replace")[-2000:]


def until(is_true: Callable[[], bool], what: str, failure: Callable[[], str | None] = lambda: None) -> None:
    deadline = time.monotonic() + WAIT_S
    while not is_true():
        if time.monotonic() > deadline or failure():
            raise EngineError(f"never: {what}; {failure() or f'waited {WAIT_S:g} s'}")
        time.sleep(0.005)


def summary(state: Path) -> dict[str, Any]:
    """How the site stands by its journal; empty while there is none."""
    try:
        with Reader(state / JOURNAL) as reader:
            return reader.summary(SITE)
    except GraphGHHAError:
        return {}


def watched_ms(state: Path) -> int:
    """Plant time of the newest row in the journal."""
    return int(summary(state).get("time_ms", 0))


def begin(watcher: Watcher, device: Publisher, telemetry: Telemetry) -> None:
    """Send the first row again and again, until the journal shows that somebody listens: copies change nothing."""

    def is_heard() -> bool:
        publish(device, telemetry, 0, 1)
        time.sleep(0.05)
        return bool(summary(watcher.state))

    watcher.until(is_heard, "a first reading in the journal")


def messages(telemetry: Telemetry, first: int, end: int) -> Iterator[tuple[str, bytes]]:
    """One message per device and row, as devices send them."""
    devices: dict[str, list[tuple[str, int]]] = {}
    for column, name in enumerate(telemetry.names):
        device, _, signal_name = name.rpartition("/")
        devices.setdefault(device, []).append((signal_name, column))
    for row in range(first, end):
        time_s = int(telemetry.times_ms[row]) / 1000
        values = telemetry.values[row].tolist()
        for device, signals in devices.items():
            own = {name: values[column] for name, column in signals}
            yield f"{PREFIX}/{device}", json.dumps({"time": time_s, "values": own}).encode()


def publish(device: Publisher, telemetry: Telemetry, first: int, end: int) -> None:
    for topic, payload in messages(telemetry, first, end):
        device.post(topic, payload)
    device.flush()
