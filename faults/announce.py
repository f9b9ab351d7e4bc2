"""Attacks must be announced while the journal, the evidence or the descriptors of the process fail.

The service runs in this process with the toy detector and a sink that keeps what it gets. A fault lasts until both
attacks were announced, or for `PATIENCE_S`.
"""

import contextlib
import os
import resource
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

from faults.disk import full, small_disk
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_none
from faults.rig import JOURNAL, Rig, until
from faults.toy_detector import IMMEDIATE, SITE, Telemetry, toy_building, toy_detector
from graphghha.alarms import StoredEvent
from graphghha.errors import EngineError
from graphghha.monitor import Detector, Journal, Monitor
from graphghha.monitor.conditions import read_conditions
from graphghha.monitor.service import Service
from graphghha.monitor.sinks import Cursor, FollowRule
from graphghha.sources import Batch, SourceStatus

ZONES, ROWS, LEAD = 3, 96, 20
ATTACKS = ((30, 60, "zone-02/FCU_CVLV"), (40, 70, "zone-01/RM_TEMP"))
PATIENCE_S = 60.0
Exhausting = Callable[[], contextlib.AbstractContextManager[None]]
QUICKLY = FollowRule(poll_s=0.02, first_retry_s=0.05, longest_retry_s=0.2)
FULL_DISK, FULL_START, LOCKED, EVIDENCE, DESCRIPTORS, NO_THREADS, NO_MEMORY = (
    "disk full while two attacks happen",
    "started on a full disk",
    "another process holds the journal's lock",
    "evidence cannot be gathered",
    "no descriptors left",
    "no thread can be started",
    "no memory left",
)


class Station:
    """A sink that keeps what it gets."""

    name = "station"

    def __init__(self) -> None:
        self.got: list[StoredEvent] = []

    def deliver(self, events: Sequence[StoredEvent]) -> None:
        self.got += events

    def close(self) -> None: ...

    @property
    def announced(self) -> set[str]:
        """The zones whose attack has been announced."""
        return {str(event.body["zone"]) for event in self.got if event.kind == "incident.annunciated"}


class LiveSource:
    """A source that returns batches as they are added and never ends."""

    def __init__(self) -> None:
        self.batches: deque[Batch] = deque()

    def poll(self, timeout_s: float) -> Batch | None:
        if not self.batches:
            time.sleep(timeout_s)
            return None
        return self.batches.popleft()

    def acknowledge(self, batch: Batch) -> None: ...

    @property
    def status(self) -> SourceStatus:
        return SourceStatus(is_connected=True)

    def close(self) -> None: ...


@dataclass(slots=True)
class Run:
    """A running service, its source and its sink."""

    monitor: Monitor
    service: Service
    source: LiveSource
    station: Station
    thread: Thread

    @classmethod
    def start(cls, path: Path, detector: Detector) -> "Run":
        monitor = Monitor(Journal(path, is_patient=True))
        monitor.add(SITE, detector, IMMEDIATE)
        source, station = LiveSource(), Station()
        service = Service(monitor, {SITE: source}, {}, drain_s=20)
        service.follow(station, Cursor(None), QUICKLY)
        thread = Thread(target=service.run, daemon=True)
        thread.start()
        return cls(monitor, service, source, station, thread)

    def feed(self, telemetry: Telemetry, begin: int, end: int) -> None:
        """Send rows and wait until they are scored."""
        self.source.batches.extend(telemetry.batch(row, row + 1) for row in range(begin, end))
        until(lambda: self.monitor.sites[SITE].steps >= end, f"row {end}")

    def end(self) -> None:
        self.service.stop()
        self.thread.join(60)


class NoWitness:
    """A provider of evidence that fails as a module does that can no longer be loaded."""

    def explain(self, *_: Any) -> list[dict[str, Any]]:
        raise ImportError("no module named 'torch.fx.experimental.symbolic_shapes'")


@contextlib.contextmanager
def no_descriptors() -> Iterator[None]:
    """Lower the limit of open files to what is in use, and use up what is left below it."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    in_use = max(int(each) for each in os.listdir("/proc/self/fd")) + 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (in_use, before[1]))
    ballast: list[int] = []
    try:
        with contextlib.suppress(OSError):
            while True:
                ballast.append(os.open(os.devnull, os.O_RDONLY))
        yield
    finally:
        for each in ballast:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextlib.contextmanager
def _address_space(spare_bytes: int) -> Iterator[None]:
    """Limit the memory of this process to what it has and a little more."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + spare_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def no_threads() -> Iterator[None]:
    """Let every new thread ask for more memory than there is, which works for any user, unlike a limit of threads."""
    before = threading.stack_size(1 << 30)
    try:
        with _address_space(1 << 28):
            yield
    finally:
        threading.stack_size(before)


@contextlib.contextmanager
def no_memory() -> Iterator[None]:
    """Use up the memory but for a few megabytes."""
    ballast: list[bytearray] = []
    with _address_space(64 << 20):
        with contextlib.suppress(MemoryError):
            while True:
                ballast.append(bytearray(4 << 20))
        del ballast[:2]
        try:
            yield
        finally:
            ballast.clear()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the journal's write lock, as a database browser does."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as stranger:
        stranger.execute("BEGIN IMMEDIATE")
        yield
        stranger.execute("ROLLBACK")


def try_announcing(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    telemetry = toy_building(ZONES, ROWS, ATTACKS)
    figures: list[Figure] = []
    for fault, trial in (
        (FULL_DISK, _full),
        (FULL_START, _full_start),
        (LOCKED, _locked),
        (EVIDENCE, _evidence),
        (DESCRIPTORS, partial(_exhausted, DESCRIPTORS, no_descriptors)),
        (NO_THREADS, partial(_exhausted, NO_THREADS, no_threads)),
        (NO_MEMORY, partial(_exhausted, NO_MEMORY, no_memory)),
    ):
        progress(fault)
        figures += trial(folder / fault.replace("'", ""), telemetry, effort)
    return figures


def _during(
    fault: str,
    run: Run,
    telemetry: Telemetry,
    begin: int,
    inject: contextlib.AbstractContextManager[Any],
    at_least_s: float = 0,
) -> list[Figure]:
    """Let both attacks happen during a fault; count what the sink knew before it was over, and what is stored after."""
    with inject:
        began = time.monotonic()
        with contextlib.suppress(EngineError):
            run.feed(telemetry, begin, ROWS - 1)
            _wait(lambda: len(run.station.announced) == len(ATTACKS))
        early = len(run.station.announced)
        is_alive = run.thread.is_alive()
        time.sleep(max(0.0, at_least_s - (time.monotonic() - began)))
    run.feed(telemetry, ROWS - 1, ROWS)
    _wait(lambda: not run.monitor.is_journal_failing)
    with contextlib.suppress(EngineError):
        until(lambda: _stored(run) == len(ATTACKS), "both attacks in the journal")
    stored = _stored(run)
    return [
        expect_all(fault, "attacks announced while it lasts", early, len(ATTACKS)),
        expect_all(fault, "attacks in the journal afterwards", stored, len(ATTACKS)),
        expect_none(fault, "ends of the process", int(not is_alive)),
    ]


def _stored(run: Run) -> int:
    return [event.kind for event in run.monitor.journal.events_after(0, 10**6)].count("incident.annunciated")


def _wait(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_true() and time.monotonic() < end:
        time.sleep(0.01)


def _full(folder: Path, telemetry: Telemetry, effort: Effort) -> list[Figure]:
    with small_disk(folder):
        run = Run.start(folder / JOURNAL, toy_detector(ZONES))
        try:
            run.feed(telemetry, 0, LEAD)
            return _during(FULL_DISK, run, telemetry, LEAD, full(folder))
        finally:
            run.end()


def _full_start(folder: Path, telemetry: Telemetry, effort: Effort) -> list[Figure]:
    with small_disk(folder):
        (folder / "other").write_bytes(b"other")
        disk = contextlib.ExitStack()
        disk.enter_context(full(folder))
        run = Run.start(folder / JOURNAL, toy_detector(ZONES))
        try:
            is_reported = "cannot be opened" in run.monitor.journal.problem
            return [
                expect_all(FULL_START, "starts that say so", int(is_reported), 1),
                *_during(FULL_START, run, telemetry, 0, disk),
            ]
        finally:
            run.end()


def _locked(folder: Path, telemetry: Telemetry, effort: Effort) -> list[Figure]:
    run = Run.start(folder / JOURNAL, toy_detector(ZONES))
    try:
        run.feed(telemetry, 0, LEAD)
        fault = f"{LOCKED} for {effort.locked_s:g} s"
        return _during(fault, run, telemetry, LEAD, locked(folder / JOURNAL), effort.locked_s)
    finally:
        run.end()


def _evidence(folder: Path, telemetry: Telemetry, effort: Effort) -> list[Figure]:
    run = Run.start(folder / JOURNAL, replace(toy_detector(ZONES), evidence_providers=(NoWitness(),)))
    try:
        run.feed(telemetry, 0, LEAD)
        figures = _during(EVIDENCE, run, telemetry, LEAD, contextlib.nullcontext())
        texts = [str(event.body["text"]) for event in run.station.got if event.kind == "incident.annunciated"]
        named = sum("evidence could not be gathered: ImportError" in text for text in texts)
        return [*figures, expect_all(EVIDENCE, "incidents that say so", named, len(ATTACKS))]
    finally:
        run.end()


def _exhausted(fault: str, inject: Exhausting, folder: Path, telemetry: Telemetry, effort: Effort) -> list[Figure]:
    run = Run.start(folder / JOURNAL, toy_detector(ZONES))
    try:
        run.feed(telemetry, 0, LEAD)
        figures = _during(fault, run, telemetry, LEAD, inject(), at_least_s=5)
        kinds = [event.kind for event in run.station.got]
        _wait(lambda: not run.service.snapshot().exhausted and not read_conditions(run.monitor.journal.reader))
        left = len(read_conditions(run.monitor.journal.reader))
        is_reported = "resources.exhausted" in kinds
        return [
            *figures,
            expect_all(fault, "reported as an event", int(is_reported), 1),
            expect_none(fault, "conditions that stand afterwards", left),
        ]
    finally:
        run.end()
