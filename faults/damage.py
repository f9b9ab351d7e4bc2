"""A journal that is cut off at its end or has a flipped bit must open unaided and report what it lost."""

import random
import shutil
from pathlib import Path

from faults.effort import Effort
from faults.figures import Figure, Progress, expect_none, report
from faults.rig import JOURNAL, Rig
from faults.toy_detector import Telemetry, toy_building, toy_monitor
from graphghha.alarms import StoredEvent
from graphghha.errors import GraphGHHAError
from graphghha.monitor import Journal

TORN, FLIPPED = "torn last record", "flipped bit"
ZONES, ROWS = 1, 24
WAL = JOURNAL + "-wal"
HEADER_BITS = 800  # length of a database file's header, in which every bit matters
RESUME_EVERY = 25  # after one in this many cut journals, the next row is also written


def try_damage(folder: Path, rig: Rig, effort: Effort, progress: Progress, seed: int = 0) -> list[Figure]:
    telemetry = toy_building(ZONES, ROWS, [(6, ROWS, "zone-01/RM_TEMP")])
    return _torn(folder / "torn", telemetry, effort, progress) + _flipped(
        folder / "flipped", telemetry, effort, progress, seed
    )


def _torn(folder: Path, telemetry: Telemetry, effort: Effort, progress: Progress) -> list[Figure]:
    """Cut the write-ahead log at every byte of its last commit, as a power failure during the write does."""
    path = folder / "live" / JOURNAL
    with Journal(path) as journal:
        monitor = toy_monitor(journal, ZONES)
        before, begin = 0, 0
        for row in range(ROWS):
            monitor.step(telemetry.batch(row, row + 1))
            size, events = path.with_name(WAL).stat().st_size, journal.events_after(0, 10**6)
            if before and len(events) > before:
                break  # this commit holds an alarm
            before, begin = len(events), size
        shutil.copytree(path.parent, folder / "whole")
    data = (folder / "whole" / WAL).read_bytes()
    cuts = [*range(begin, size, effort.cut_every), size]
    lost = failed = 0
    for number, cut in enumerate(cuts):
        shutil.copytree(folder / "whole", folder / "cut")
        (folder / "cut" / WAL).write_bytes(data[:cut])
        expected = events if cut == size else events[:before]
        try:
            with Journal(folder / "cut" / JOURNAL) as journal:
                lost += journal.events_after(0, 10**6) != expected or journal.damage is not None
                if number % RESUME_EVERY == 0:
                    toy_monitor(journal, ZONES).step(
                        telemetry.batch(row, row + 1)
                    )  # the source sends an unacknowledged row again
                    failed += journal.events_after(0, 10**6) != events
        except GraphGHHAError:
            failed += 1
        shutil.rmtree(folder / "cut")
        if number % 100 == 0:
            progress(f"{TORN}: {number} of {len(cuts)} cuts")
    return [
        expect_none(TORN, "cuts after which an acknowledged event was missing or changed", lost, f"{len(cuts):,} cuts"),
        expect_none(TORN, "cuts that needed manual repair or resumed differently", failed, f"{len(cuts):,} cuts"),
    ]


def _flipped(folder: Path, telemetry: Telemetry, effort: Effort, progress: Progress, seed: int) -> list[Figure]:
    path, chance = folder / "whole" / JOURNAL, random.Random(seed)
    with Journal(path) as journal:
        monitor = toy_monitor(journal, ZONES)
        for row in range(ROWS - 1):
            monitor.step(telemetry.batch(row, row + 1))
        events = journal.events_after(0, 10**6)
    data = path.read_bytes()
    silent = failed = noticed = lost = lost_to_header = 0
    for number in range(effort.flips):
        bit = chance.randrange(HEADER_BITS if number % 4 == 0 else 8 * len(data))
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        copy = folder / "flipped" / JOURNAL
        copy.parent.mkdir()
        copy.write_bytes(flipped)
        try:
            with Journal(copy) as journal:
                kept = journal.events_after(0, 10**6)
                toy_monitor(journal, ZONES).step(telemetry.batch(ROWS - 1, ROWS))
                kinds = [event.kind for event in journal.events_after(len(kept), 10**6)]
                noticed += "journal.damaged" in kinds
                missing = _changed(events, kept)
                lost += missing
                lost_to_header += missing if bit < HEADER_BITS else 0
                silent += bool(missing) and "journal.damaged" not in kinds
        except GraphGHHAError as exc:
            failed += 1
            progress(f"{FLIPPED}: bit {bit} of the file: {exc}")
        shutil.rmtree(copy.parent)
        if number % 100 == 0:
            progress(f"{FLIPPED}: {number} of {effort.flips}")
    return [
        expect_none(FLIPPED, "journals with changed events and no report of damage", silent, f"{effort.flips:,} flips"),
        expect_none(FLIPPED, "journals that needed manual repair", failed, f"{effort.flips:,} flips"),
        expect_none(FLIPPED, "events lost to flips in the file header", lost_to_header),
        report(FLIPPED, "events lost per flip, on average", f"{lost / max(1, effort.flips):.3g} of {len(events)}"),
        report(
            FLIPPED, "flips reported at start; the others hit free space or row data", f"{noticed} of {effort.flips}"
        ),
    ]


def _changed(events: list[StoredEvent], kept: list[StoredEvent]) -> int:
    """Count the events that are missing or no longer as they were written."""
    now = {event.number: event for event in kept}
    return sum(now.get(event.number) != event for event in events)
