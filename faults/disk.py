"""A disk that is full or read-only: the journal stops and says so, the scoring does not, nothing is missing later."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from faults.effort import Effort
from faults.figures import Figure, Say, all_of, none_of
from faults.rig import JOURNAL, Rig
from faults.small_disk import full, read_only, small_disk
from faults.toy_detector import SITE, Telemetry, plain_building, plain_detector, usual_attacks
from graphghha.monitor import Journal, Monitor, SiteConfig
from graphghha.monitor.row_clock import IntakeConfig
from graphghha.monitor.sinks import Event
from graphghha.sources import Batch, SourceStatus

ZONES, ROWS = 2, 96
TROUBLE = range(20, 50)  # rows during which the disk fails; the attacks are raised and cleared in them
CONFIG = SiteConfig(intake=IntakeConfig(lateness_ms=0), warm_up_rows=0)
Trouble = Callable[[Path], AbstractContextManager[None]]


@dataclass
class Counting:
    """A source that remembers what it was told to forget."""

    acknowledged: list[int] = field(default_factory=list)
    status: SourceStatus = SourceStatus(is_connected=True)

    def poll(self, timeout_s: float) -> Batch | None:
        return None

    def acknowledge(self, batch: Batch) -> None:
        self.acknowledged.append(batch.received_ms)

    def close(self) -> None: ...


def try_disks(folder: Path, rig: Rig, effort: Effort, say: Say) -> list[Figure]:
    telemetry = plain_building(ZONES, ROWS, usual_attacks(ROWS))
    with Journal(folder / "well" / JOURNAL) as journal:
        whole = _watch(journal, telemetry, Counting())
    figures: list[Figure] = []
    troubles: tuple[tuple[str, Trouble], ...] = (("disk full", full), ("disk read-only", read_only))
    for fault, trouble in troubles:
        say(fault)
        with small_disk(folder / fault):
            figures += _trial(fault, folder / fault, telemetry, whole, trouble)
    return figures


def _trial(fault: str, folder: Path, telemetry: Telemetry, whole: list[Event], trouble: Trouble) -> list[Figure]:
    source = Counting()
    with Journal(folder / JOURNAL) as journal:
        monitor = Monitor(journal)
        site = monitor.add(SITE, plain_detector(ZONES), CONFIG)
        _feed(monitor, telemetry, source, range(TROUBLE.start))
        with trouble(folder):
            _feed(monitor, telemetry, source, TROUBLE)
            early = len(source.acknowledged) - TROUBLE.start
            scored, is_told = site.steps, monitor.is_journal_failing
        _feed(monitor, telemetry, source, range(TROUBLE.stop, ROWS))
        monitor.finish(SITE)
        events = journal.events_after(0, 10**6)
        rows = journal.reader.rows(SITE)
    kinds = Counter(event.kind for event in events)
    alarm = kinds["journal.failing"] == kinds["journal.recovered"] == 1 and is_told
    kept = 0 if rows is None else len(rows)
    return [
        Figure(fault, "alarm of its own, and its end", "1", str(int(alarm)), alarm),
        all_of(fault, "rows scored meanwhile", scored - TROUBLE.start, len(TROUBLE)),
        none_of(fault, "batches acknowledged that were not written", early),
        none_of(fault, "events missing or changed after recovery", _missing(whole, events), f"{len(whole)}"),
        all_of(fault, "rows in the journal after recovery", kept, ROWS),
        all_of(fault, "batches acknowledged in the end", len(set(source.acknowledged)), ROWS),
    ]


def _watch(journal: Journal, telemetry: Telemetry, source: Counting) -> list[Event]:
    monitor = Monitor(journal)
    monitor.add(SITE, plain_detector(ZONES), CONFIG)
    _feed(monitor, telemetry, source, range(ROWS))
    monitor.finish(SITE)
    return journal.events_after(0, 10**6)


def _feed(monitor: Monitor, telemetry: Telemetry, source: Counting, rows: range) -> None:
    for row in rows:
        monitor.step(telemetry.batch(row, row + 1), source)


def _missing(whole: list[Event], events: list[Event]) -> int:
    told = [(event.time_ms, event.kind, event.body) for event in events if not event.kind.startswith("journal.")]
    expected = [(event.time_ms, event.kind, event.body) for event in whole]
    return sum(each not in told for each in expected) + abs(len(told) - len(expected))
