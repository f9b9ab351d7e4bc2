"""What the trials run: a detector in this process, a building's telemetry, and a monitor in a process of its own."""

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
from faults.toy_detector import SITE, Telemetry, default_attacks, toy_building, toy_detector
from graphghha.errors import EngineError, GraphGHHAError
from graphghha.monitor import Detector, Reader, SiteConfig

PREFIX = "bms"
JOURNAL = "journal.sqlite"
WAIT_S = 300.0


@dataclass(frozen=True, slots=True)
class Rig:
    """A detector, a building and a monitor command that belong together.

    `building(zones, rows, is_attacked)` returns `warm_up_rows` more rows than asked for, which are not scored.
    """

    detector: Callable[[int], Detector]
    building: Callable[[int, int, bool], Telemetry]
    command: Callable[[Path, str, int], Sequence[str]]  # state folder, address, zones
    warm_up_rows: int = 0
    live_step_ms: int = 60_000  # between two rows of a plant that runs in real time
    live_lateness_ms: int = 30_000

    @property
    def config(self) -> SiteConfig:
        return SiteConfig(warm_up_rows=self.warm_up_rows)


def _toy_command(state: Path, address: str, zones: int) -> list[str]:
    return [sys.executable, "-m", "faults.worker", str(state), address, str(zones)]


TOY_RIG = Rig(
    detector=toy_detector,
    building=lambda zones, rows, is_attacked: toy_building(zones, rows, default_attacks(rows) if is_attacked else ()),
    command=_toy_command,
    live_step_ms=300,
    live_lateness_ms=600,
)


def child_environment() -> dict[str, str]:
    """Return the environment in which another Python process imports this checkout, with one thread."""
    checkout = str(Path(__file__).parents[1])
    paths = os.pathsep.join(filter(None, (checkout, os.environ.get("PYTHONPATH"))))
    return os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": paths}


def cpu_s(pid: int) -> float:
    """Return the seconds of processor time a process has used (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process (Linux)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def highest_memory_mb(pid: int) -> float:
    """Return the most resident memory that a process has had (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next((int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM:")), 0.0)


def catches(pid: int, number: int) -> bool:
    """Return whether a process handles a signal (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    mask = next((line.split()[1] for line in lines if line.startswith("SigCgt:")), "0")
    return bool(int(mask, 16) >> (number - 1) & 1)


class Watcher:
    """A monitor in a process of its own that a trial can kill."""

    def __init__(self, command: Sequence[str], state: Path, log: Path | None = None) -> None:
        self.state = state
        state.mkdir(parents=True, exist_ok=True)
        self._log = log or state / "log"
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(command, stdout=out, stderr=out, env=child_environment())

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
        """Send SIGKILL."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """Send SIGTERM and wait for an orderly end. A process that is still starting does not handle it yet."""
        self.until_started()
        self._process.send_signal(signal.SIGTERM)
        if self._process.wait(WAIT_S) != 0:
            raise EngineError(f"the monitor process ended with code {self._process.returncode}: {self._tail()}")

    def stop(self, number: signal.Signals) -> tuple[float, int | None]:
        """Send a signal; return the seconds until the process has ended, and its code, which is None if it lives on."""
        began = time.monotonic()
        self._process.send_signal(number)
        try:
            code = self._process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            code = None
        return time.monotonic() - began, code

    def until_started(self) -> None:
        """Wait until the process handles SIGTERM."""
        self.until(lambda: catches(self.pid, signal.SIGTERM), "a process that handles signals")

    def until(self, is_true: Callable[[], bool], what: str) -> None:
        """Wait until a condition holds, as long as the process runs."""
        until(is_true, what, lambda: None if self.is_running else f"the monitor process ended: {self._tail()}")

    def _tail(self) -> str:
        return self._log.read_text(errors="replace")[-2000:]


def until(is_true: Callable[[], bool], what: str, failure: Callable[[], str | None] = lambda: None) -> None:
    """Wait until a condition holds; raise EngineError on a timeout or when `failure` returns a reason."""
    deadline = time.monotonic() + WAIT_S
    while not is_true():
        if time.monotonic() > deadline or failure():
            raise EngineError(f"no sign of {what}: {failure() or f'waited for {WAIT_S:g} s'}")
        time.sleep(0.005)


def summary(state: Path) -> dict[str, Any]:
    """Return the site's summary from the journal, or an empty one while there is no journal."""
    try:
        with Reader(state / JOURNAL) as reader:
            return reader.summary(SITE)
    except GraphGHHAError:
        return {}


def watched_ms(state: Path) -> int:
    """Return the plant time of the newest row in the journal."""
    return int(summary(state).get("time_ms", 0))


def begin(watcher: Watcher, device: Publisher, telemetry: Telemetry) -> None:
    """Send the first row repeatedly until it is in the journal. Duplicates do not change the journal."""

    def is_received() -> bool:
        publish(device, telemetry, 0, 1)
        time.sleep(0.05)
        return bool(summary(watcher.state))

    watcher.until(is_received, "a first reading in the journal")


def messages(telemetry: Telemetry, first: int, end: int) -> Iterator[tuple[str, bytes]]:
    """Yield topic and payload of one message per device and row."""
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
