"""On a full or read-only disk the journal must stop with an alarm while scoring continues, and catch up later."""

import contextlib
import os
import resource
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_none
from faults.rig import JOURNAL, Rig
from faults.toy_detector import SITE, Telemetry, default_attacks, toy_building, toy_monitor
from graphghha.alarms import StoredEvent
from graphghha.monitor import Journal, Monitor
from graphghha.sources import Batch, SourceStatus

ZONES, ROWS = 2, 96
FAULTY = range(20, 50)  # rows during which the disk fails; attacks begin and end in them
DISK_MB = 16
Inject = Callable[[Path], contextlib.AbstractContextManager[None]]


@dataclass
class RecordingSource:
    """A source that records which batches were acknowledged."""

    acknowledged: list[int] = field(default_factory=list)
    status: SourceStatus = SourceStatus(is_connected=True)

    def poll(self, timeout_s: float) -> Batch | None:
        return None

    def acknowledge(self, batch: Batch) -> None:
        self.acknowledged.append(batch.received_ms)

    def close(self) -> None: ...


def try_disks(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    telemetry = toy_building(ZONES, ROWS, default_attacks(ROWS))
    with Journal(folder / "undisturbed" / JOURNAL) as journal:
        undisturbed = _run_monitor(journal, telemetry, RecordingSource())
    figures: list[Figure] = []
    faults: tuple[tuple[str, Inject], ...] = (("disk full", full), ("disk read-only", read_only))
    for fault, inject in faults:
        progress(fault)
        with small_disk(folder / fault):
            figures += _trial(fault, folder / fault, telemetry, undisturbed, inject)
    return figures


def _trial(
    fault: str, folder: Path, telemetry: Telemetry, undisturbed: list[StoredEvent], inject: Inject
) -> list[Figure]:
    source = RecordingSource()
    with Journal(folder / JOURNAL) as journal:
        monitor = toy_monitor(journal, ZONES)
        site = monitor.sites[SITE]
        _feed(monitor, telemetry, source, range(FAULTY.start))
        with inject(folder):
            _feed(monitor, telemetry, source, FAULTY)
            early = len(source.acknowledged) - FAULTY.start
            scored, is_reported = site.steps, monitor.is_journal_failing
        _feed(monitor, telemetry, source, range(FAULTY.stop, ROWS))
        monitor.finish(SITE)
        events = journal.events_after(0, 10**6)
        rows = journal.reader.rows(SITE)
    kinds = Counter(event.kind for event in events)
    alarm = kinds["journal.failing"] == kinds["journal.recovered"] == 1 and is_reported
    kept = 0 if rows is None else len(rows)
    return [
        Figure(fault, "system alarm raised and cleared", "1", str(int(alarm)), alarm),
        expect_all(fault, "rows scored during the fault", scored - FAULTY.start, len(FAULTY)),
        expect_none(fault, "unwritten batches acknowledged", early),
        expect_none(
            fault, "events missing or changed after recovery", _missing(undisturbed, events), f"{len(undisturbed)}"
        ),
        expect_all(fault, "rows in the journal after recovery", kept, ROWS),
        expect_all(fault, "batches acknowledged after recovery", len(set(source.acknowledged)), ROWS),
    ]


def _run_monitor(journal: Journal, telemetry: Telemetry, source: RecordingSource) -> list[StoredEvent]:
    monitor = toy_monitor(journal, ZONES)
    _feed(monitor, telemetry, source, range(ROWS))
    monitor.finish(SITE)
    return journal.events_after(0, 10**6)


def _feed(monitor: Monitor, telemetry: Telemetry, source: RecordingSource, rows: range) -> None:
    for row in rows:
        monitor.step(telemetry.batch(row, row + 1), source)


def _missing(undisturbed: list[StoredEvent], events: list[StoredEvent]) -> int:
    """Count the events that are missing, changed or superfluous, apart from those about the journal itself."""
    written = [(event.time_ms, event.kind, event.body) for event in events if not event.kind.startswith("journal.")]
    expected = [(event.time_ms, event.kind, event.body) for event in undisturbed]
    return sum(each not in written for each in expected) + abs(len(written) - len(expected))


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount a tmpfs of a few megabytes at `folder` where the process may mount."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    is_mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextlib.contextmanager
def full(folder: Path) -> Iterator[None]:
    """Fill the disk. Where no small disk could be mounted, keep the files of this process from growing instead."""
    if not os.path.ismount(folder):
        with file_size_limit(max(file.stat().st_size for file in folder.iterdir())):
            yield
        return
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    yield
    ballast.unlink()


def read_only(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Make every write fail. A file size limit is used because a disk with open files cannot be remounted read-only."""
    return file_size_limit(0)


@contextlib.contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
