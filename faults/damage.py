"""A journal torn at its end, or with a bit flipped anywhere: opened unaided, damage told, nothing silently changed."""

import random
import shutil
from pathlib import Path

from faults.disk import CONFIG
from faults.effort import Effort
from faults.figures import Figure, Say, none_of, stated
from faults.rig import JOURNAL, Rig
from faults.toy_detector import SITE, Telemetry, plain_building, plain_detector
from graphghha.errors import GraphGHHAError
from graphghha.monitor import Journal, Monitor
from graphghha.monitor.sinks import Event

TORN, FLIPPED = "torn last record", "flipped bit"
ZONES, ROWS = 1, 24
WAL = JOURNAL + "-wal"
HEADER_BITS = 800  # of a database file: small, and each of them matters
RESUME_EVERY = 25  # torn or flipped journals that are not only opened but written on


def try_damage(folder: Path, rig: Rig, effort: Effort, say: Say, seed: int = 0) -> list[Figure]:
    telemetry = plain_building(ZONES, ROWS, [(6, ROWS, "zone-01/RM_TEMP")])
    return _torn(folder / "torn", telemetry, effort, say) + _flipped(folder / "flipped", telemetry, effort, say, seed)


def _torn(folder: Path, telemetry: Telemetry, effort: Effort, say: Say) -> list[Figure]:
    """Cut the log at every byte of its last commit: power failed while it was written."""
    path = folder / "live" / JOURNAL
    with Journal(path) as journal:
        monitor = _monitor(journal)
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
                    _monitor(journal).step(telemetry.batch(row, row + 1))  # it was not acknowledged: it comes again
                    failed += journal.events_after(0, 10**6) != events
        except GraphGHHAError:
            failed += 1
        shutil.rmtree(folder / "cut")
        if number % 100 == 0:
            say(f"{TORN}: {number} of {len(cuts)} cuts")
    return [
        none_of(TORN, "cuts after which an acknowledged event was missing or changed", lost, f"{len(cuts):,} cuts"),
        none_of(TORN, "cuts that needed help, or went on differently", failed, f"{len(cuts):,} cuts"),
    ]


def _flipped(folder: Path, telemetry: Telemetry, effort: Effort, say: Say, seed: int) -> list[Figure]:
    path, chance = folder / "whole" / JOURNAL, random.Random(seed)
    with Journal(path) as journal:
        monitor = _monitor(journal)
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
                left = journal.events_after(0, 10**6)
                _monitor(journal).step(telemetry.batch(ROWS - 1, ROWS))
                told = [event.kind for event in journal.events_after(len(left), 10**6)]
                noticed += "journal.damaged" in told
                missing = _changed(events, left)
                lost += missing
                lost_to_header += missing if bit < HEADER_BITS else 0
                silent += bool(missing) and "journal.damaged" not in told
        except GraphGHHAError as exc:
            failed += 1
            say(f"{FLIPPED}: bit {bit} of the file: {exc}")
        shutil.rmtree(copy.parent)
        if number % 100 == 0:
            say(f"{FLIPPED}: {number} of {effort.flips}")
    return [
        none_of(FLIPPED, "journals that changed and did not say so", silent, f"{effort.flips:,} flips"),
        none_of(FLIPPED, "journals that needed help", failed, f"{effort.flips:,} flips"),
        none_of(FLIPPED, "events lost to flips in the file's header", lost_to_header),
        stated(FLIPPED, "events lost to a flip, on average", f"{lost / max(1, effort.flips):.3g} of {len(events)}"),
        stated(FLIPPED, "flips noticed at the start; the rest hit free space or rows", f"{noticed} of {effort.flips}"),
    ]


def _monitor(journal: Journal) -> Monitor:
    monitor = Monitor(journal)
    monitor.add(SITE, plain_detector(ZONES), CONFIG)
    return monitor


def _changed(events: list[Event], left: list[Event]) -> int:
    """Events that are not there any more as they were written."""
    now = {event.number: event for event in left}
    return sum(now.get(event.number) != event for event in events)
