"""A journal of gigabytes must neither delay the start of the monitor for long nor fill its memory."""

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from faults.broker import Broker, Publisher
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, report
from faults.rig import JOURNAL, PREFIX, Rig, Watcher, begin, highest_memory_mb, publish, watched_ms
from faults.toy_detector import SITE, STEP_MS, Telemetry, toy_building
from graphghha.monitor import Reader
from graphghha.monitor.journal.schema import checksum

ZONES, ROWS, STEP = 2, 40, 10
MAX_START_S, MAX_GROWTH_MB = 30.0, 50.0
BLOCK_BYTES = 16_000  # of the packed hours that fill the file


def try_large_journal(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    fault = f"start with a clean journal of {effort.journal_mb:,} MB"
    telemetry, state = toy_building(ZONES, ROWS), folder / "state"
    state.mkdir(parents=True)
    with Broker(folder) as broker, broker.publisher() as device:
        command = rig.command(state, f"{broker.address}/{PREFIX}", ZONES)
        with Watcher(command, state) as watcher:
            begin(watcher, device, telemetry)
            publish(device, telemetry, 1, STEP)
            watcher.until(lambda: watched_ms(state) >= telemetry.times_ms[STEP - 2], "the first rows")
            watcher.end()
        progress(f"{fault}: with a small one")
        small_s, small_mb = _start(command, state, device, telemetry, STEP)
        progress(f"{fault}: the journal is written")
        events = _enlarge(state / JOURNAL, effort)
        size_mb = (state / JOURNAL).stat().st_size / 1e6
        progress(fault)
        took_s, memory_mb = _start(command, state, device, telemetry, 2 * STEP)
    with Reader(state / JOURNAL) as reader:
        kept, rows = reader.last_event_number(), reader.rows(SITE, from_ms=int(telemetry.times_ms[0]))
    last = 0 if rows is None else len(rows)
    return [
        expect_at_most(fault, "time from the start to the first commit", took_s, MAX_START_S, " s"),
        expect_at_most(fault, "memory more than with a small one", memory_mb - small_mb, MAX_GROWTH_MB, " MB"),
        report(
            fault, "memory; the same with a small journal", f"{memory_mb:.0f} MB; {small_mb:.0f} MB, {small_s:.1f} s"
        ),
        report(fault, "size of the file", f"{size_mb:,.0f} MB, {events:,} events"),
        expect_all(fault, "events kept", min(kept, events), events),
        expect_all(fault, "rows in the journal", last, 3 * STEP - 1),
    ]


def _start(
    command: Sequence[str], state: Path, device: Publisher, telemetry: Telemetry, first: int
) -> tuple[float, float]:
    """Start a monitor for which the broker has rows; return when they are in the journal, and its highest memory."""
    publish(device, telemetry, first, first + STEP)
    last = int(telemetry.times_ms[first + STEP - 2])
    began = time.monotonic()
    with Watcher(command, state) as watcher:
        watcher.until(lambda: watched_ms(state) >= telemetry.times_ms[first], "a first row")
        took_s = time.monotonic() - began
        watcher.until(lambda: watched_ms(state) >= last, "the last row")
        memory_mb = highest_memory_mb(watcher.pid)
        watcher.end()
    return took_s, memory_mb


def _enlarge(path: Path, effort: Effort) -> int:
    """Add events, and packed hours of another site, up to the size; return how many events there are."""
    body = '{"node":"zone-01/RM_TEMP","state":"A","version":3}'
    with closing(sqlite3.connect(path)) as stranger:
        stranger.execute("PRAGMA synchronous = OFF")
        (last,) = stranger.execute("SELECT coalesce(max(number), 0) FROM events").fetchone()
        numbers = range(last + 1, last + 1 + effort.journal_events)
        events = ((number, SITE, STEP_MS * number, "alarm.cleared", None, body) for number in numbers)
        with stranger:
            signed = ((*row, checksum(row[0], row[1], row[2], row[3], body)) for row in events)
            stranger.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", signed)
        block, hours = bytes(range(250)) * (BLOCK_BYTES // 250), effort.journal_mb * 1_000_000 // (BLOCK_BYTES + 400)
        with stranger:
            packed = (
                ("other", 0, hour * 3_600_000, hour * 3_600_000 + 3_540_000, 1, b"", block) for hour in range(hours)
            )
            stranger.executemany("INSERT INTO hours VALUES (?, ?, ?, ?, ?, ?, ?)", packed)
        stranger.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return int(last) + effort.journal_events
