"""What a stranger, an accident or a year of service does to the files of a running monitor must not go unnoticed."""

import shutil
import sqlite3
import time
import zlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, expect_none
from faults.rig import JOURNAL, Rig
from faults.toy_detector import SITE, STEP_MS, toy_building, toy_monitor
from graphghha.monitor import Journal, Reader
from graphghha.monitor.journal import Commit
from graphghha.monitor.journal.schema import checksum
from graphghha.sources import ReadingBatch

YEAR, BOMB, GONE, BACKUP, IDLE = (
    "damaged journal of a year",
    "checkpoint that unpacks to gigabytes",
    "journal removed, replaced or overwritten while running",
    "journal restored from a backup",
    "nobody sends for an hour",
)
COMMITS_OF_A_YEAR = 30_000_000  # row number of a checkpoint that version 0.1 wrote every second
MAX_START_S, MAX_COMMITS = 30.0, 65
ROWS = 60
ATTACK = ((8, ROWS, "zone-01/RM_TEMP"),)


def try_strangers(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    figures: list[Figure] = []
    for name, trial in ((YEAR, _year), (BOMB, _bomb), (GONE, _gone), (BACKUP, _backup), (IDLE, _idle)):
        progress(name)
        figures += trial(folder / name.partition(",")[0], effort)
    return figures


def _filled(folder: Path, rows: int = ROWS) -> Path:
    with Journal(folder / JOURNAL) as journal:
        toy_monitor(journal, 1).step(toy_building(1, ROWS, ATTACK).batch(0, rows))
    return folder / JOURNAL


def _year(folder: Path, effort: Effort) -> list[Figure]:
    path = _filled(folder)
    with closing(sqlite3.connect(path)) as stranger, stranger:
        (last,) = stranger.execute("SELECT max(number) FROM events").fetchone()
        body = '{"node":"zone-01/RM_TEMP","state":"A","version":3}'
        rows = [(last + 1 + at, SITE, STEP_MS * at, "alarm.cleared", None, body) for at in range(effort.journal_events)]
        signed = ((*row, checksum(row[0], row[1], row[2], row[3], body)) for row in rows)
        stranger.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", signed)
        stranger.execute("UPDATE checkpoints SET rowid = ?", (COMMITS_OF_A_YEAR,))
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'events_by_kind'"
        (page,) = stranger.execute(query).fetchone()
    _overwrite(path, [page])
    began = time.monotonic()
    with Journal(path) as journal:
        took_s, damage = time.monotonic() - began, journal.take_damage() or {}
        state = journal.reader.checkpoint(SITE)
    events = last + effort.journal_events
    return [
        expect_at_most(
            YEAR, f"start with {events:,} events and row number {COMMITS_OF_A_YEAR:,}", took_s, MAX_START_S, " s"
        ),
        expect_all(YEAR, "events kept", int(damage.get("events", 0)), events),
        expect_all(YEAR, "checkpoints kept", int(state is not None), 1),
    ]


def _bomb(folder: Path, effort: Effort) -> list[Figure]:
    path, packer = _filled(folder), zlib.compressobj(9)
    bomb = b"".join(packer.compress(b" " * 10_000_000) for _ in range(effort.bomb_mb // 10)) + packer.flush()
    failed = 0
    for column in ("state", "desk", "summary"):
        with closing(sqlite3.connect(path)) as stranger, stranger:
            stranger.execute(f"UPDATE checkpoints SET {column} = ?", (bomb,))
        try:
            with Journal(path) as journal:
                toy_monitor(journal, 1).step(toy_building(1, ROWS, ATTACK).batch(ROWS - 1, ROWS))
        except Exception:
            failed += 1
    what = f"starts that fail with {effort.bomb_mb:,} MB in {len(bomb) // 1000:,} kB"
    return [expect_none(BOMB, what, failed, "3")]


def _gone(folder: Path, effort: Effort) -> list[Figure]:
    """Do something to the files between two rows, and count what the file that the path names holds in the end."""

    def remove(path: Path) -> None:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)

    def replace(path: Path) -> None:
        path.with_name("other").write_bytes(b"another file")
        path.with_name("other").rename(path)

    def overwrite(path: Path) -> None:
        with closing(sqlite3.connect(path)) as stranger:
            stranger.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            query = "SELECT rootpage FROM sqlite_master WHERE name IN ('checkpoints', 'events_by_kind')"
            pages = [page for (page,) in stranger.execute(query)]
        _overwrite(path, pages)

    figures, telemetry = [], toy_building(1, ROWS, ATTACK)
    for name, harm in (("removed", remove), ("replaced", replace), ("overwritten", overwrite)):
        path = folder / name / JOURNAL
        with Journal(path) as journal:
            monitor = toy_monitor(journal, 1)
            for row in range(ROWS):
                if row == ROWS // 2:
                    harm(path)
                monitor.step(telemetry.batch(row, row + 1))
        with Reader(path) as reader:
            rows, kinds = reader.rows(SITE), [event.kind for event in reader.events_after(0, 10**6)]
        figures += [
            expect_all(GONE, f"{name}: rows in the file that the path names", 0 if rows is None else len(rows), ROWS),
            expect_all(GONE, f"{name}: reports (journal.damaged)", kinds.count("journal.damaged"), 1),
            expect_all(GONE, f"{name}: attacks announced", kinds.count("incident.annunciated"), 1),
        ]
    return figures


def _backup(folder: Path, effort: Effort) -> list[Figure]:
    path, telemetry = _filled(folder, 20), toy_building(1, ROWS, [(22, 40, "zone-01/FCU_DAT")])
    shutil.copy(path, folder / "backup")
    keys: list[list[str]] = []
    for end in (60, 45):
        with Journal(path) as journal:
            known = journal.reader.last_event_number()
            toy_monitor(journal, 1).step(telemetry.batch(20, end))
            journal.write([Commit(site=SITE, time_ms=0)])
            keys.append([event.key for event in journal.events_after(known, 10**6)])
        shutil.copy(folder / "backup", path)
    different = len({*keys[0], *keys[1]})
    return [
        expect_all(BACKUP, "keys that differ, of events written before and after", different, sum(map(len, keys))),
        expect_none(BACKUP, "keys given to two events", len(set(keys[0]) & set(keys[1]))),
    ]


class _CountingJournal(Journal):
    """Counts its commits."""

    commits = 0

    def write(self, commits: Sequence[Commit]) -> None:
        self.commits += 1
        super().write(commits)


def _idle(folder: Path, effort: Effort) -> list[Figure]:
    with _CountingJournal(folder / JOURNAL) as journal:
        monitor = toy_monitor(journal, 1)
        telemetry = toy_building(1, 10)
        monitor.step(telemetry.batch(0, 10))
        before, now_ms = journal.commits, int(telemetry.times_ms[-1])
        for second in range(3_600):
            monitor.step(ReadingBatch.empty(SITE, now_ms + 1000 * second))
        commits = journal.commits - before
    return [expect_at_most(IDLE, "commits", commits, MAX_COMMITS)]


def _overwrite(path: Path, pages: Sequence[int]) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * 4096)
            file.write(b"\xa5" * 4096)
