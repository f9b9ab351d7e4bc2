"""A damaged journal: its header is repaired, or what is still readable is copied into a new file."""

import json
import os
import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphghha.monitor.journal.lease import is_same_file
from graphghha.monitor.journal.schema import APPLICATION_ID, FILL_INCIDENTS, VERSION, checksum, connect, migrate

if TYPE_CHECKING:
    from graphghha.monitor.journal.reader import Reader

MOST_FAILURES = 100_000  # reads of one table that may fail; then what has not been found is given up
MOST_STAND_INS = 100_000
HIGHEST_ROWID = 2**63 - 1
UNKNOWN = "unknown"  # instead of a count that cannot be known
LOST = "journal.lost"  # replaces an event that cannot be read, so that the numbers have no gaps
# The first hundred bytes of the file, by the offsets of SQLite's file format. A bit flipped there would hide everything
# behind it, but most of them are the same in every journal, so they can be restored.
HEADER_BYTES, PAGE_BYTES = 100, 4096
MOST_WRONG_BYTES = 4  # a file that differs more is not a journal and is left alone
_PAGES, _VERSION, _APPLICATION = slice(28, 32), slice(60, 64), slice(68, 72)
_CONSTANT = (
    (0, b"SQLite format 3\x00" + PAGE_BYTES.to_bytes(2, "big") + bytes((2, 2, 0, 64, 32, 32))),
    (44, (4).to_bytes(4, "big")),  # schema format
    (56, (1).to_bytes(4, "big")),  # UTF-8
    (64, (1).to_bytes(4, "big")),  # incremental vacuum
    (72, bytes(20)),
)


def is_header_intact(path: Path) -> bool:
    """Return whether the constant part of the header is right; True while a write-ahead log may still replace it."""
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and wal.stat().st_size:
        return True
    with path.open("rb") as file:
        header = file.read(HEADER_BYTES)
    return all(header[offset : offset + len(content)] == content for offset, content in _CONSTANT)


def repair_header(path: Path) -> int:
    """Restore the known bytes of the header; return how many were wrong, or 0 if it is beyond repair."""
    with path.open("r+b") as file:
        before = file.read(HEADER_BYTES)
        if len(before) < HEADER_BYTES:
            return 0
        header = bytearray(before)
        for offset, content in _CONSTANT:
            header[offset : offset + len(content)] = content
        header[_PAGES] = (path.stat().st_size // PAGE_BYTES).to_bytes(4, "big")
        _reconcile_versions(header)
        wrong = sum(a != b for a, b in zip(before, header, strict=True))
        if not 0 < wrong <= MOST_WRONG_BYTES:
            return 0
        file.seek(0)
        file.write(header)
    return wrong


def salvage(path: Path) -> dict[str, Any]:
    """Replace the file by what is readable of it, keep the damaged one, and return what was saved."""
    fresh_path = path.with_name(path.name + ".salvaging")
    for leftover in _files(fresh_path):
        leftover.unlink(missing_ok=True)
    saved: dict[str, Any] = {"events": 0, "lost": UNKNOWN, "rows": 0, "checkpoints": 0}
    with closing(connect(fresh_path, is_writer=True)) as fresh:
        migrate(fresh)
        with suppress(sqlite3.DatabaseError, UnicodeError), closing(connect(path)) as damaged:
            damaged.execute("SELECT count(*) FROM sqlite_master").fetchone()  # without the schema nothing can be read
            fresh.execute("BEGIN")
            saved |= _copy_events(damaged, fresh)
            for table in ("rows", "hours", "scores", "checkpoints", "sites", "abouts", "eras"):
                saved[table] = _copy_table(damaged, fresh, table)
        if fresh.in_transaction:
            fresh.execute(FILL_INCIDENTS)
            fresh.execute("COMMIT")
        fresh.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    fresh_path.rename(_salvaged(path))  # from here on it replaces the damaged file, even if this process is killed
    return saved | {"file": _exchange(path)}


def put_back(path: Path, open_file: sqlite3.Connection, known: os.stat_result, reader: "Reader") -> dict[str, Any]:
    """Write a file again that lost its name but is still open, and close it; another file in its place is set aside."""
    fresh_path = path.with_name(path.name + ".restoring")
    for leftover in _files(fresh_path):
        leftover.unlink(missing_ok=True)
    with closing(connect(fresh_path, is_writer=True)) as fresh:
        open_file.backup(fresh)
        fresh.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    note = {}
    with reader.suspended():
        if path.exists() and not is_same_file(path, known):
            aside = _aside(path, "replaced")
            path.rename(aside)
            note = {"file": aside.name}
        open_file.close()
        for leftover in _files(path)[1:]:
            leftover.unlink(missing_ok=True)
        fresh_path.rename(path)
        _sync_folder(path.parent)
    return note


def finish_salvage(path: Path) -> dict[str, Any] | None:
    """Complete a salvage that was interrupted; return a note about it, or None if there is none."""
    return {"file": _exchange(path), "note": "the salvage was interrupted"} if _salvaged(path).exists() else None


def unreported_damage(path: Path, connection: sqlite3.Connection) -> dict[str, Any] | None:
    """Return a note about a damaged file that was set aside by a process that ended before it could report it."""
    asides = {
        each.name for each in path.parent.glob(f"{path.name}.damaged-*") if each.name[-4:] not in ("-wal", "-shm")
    }
    if not asides:
        return None
    reports = connection.execute("SELECT body FROM events WHERE kind = 'journal.damaged'").fetchall()
    left = sorted(name for name in asides if not any(f'"{name}"' in str(body) for (body,) in reports))
    note = "a damaged file was set aside by a process that ended before it could report it"
    return {"file": left[-1], "lost": UNKNOWN, "note": note} if left else None


def _exchange(path: Path) -> str:
    """Rename the damaged file, put the salvaged one in its place, and return the damaged one's new name."""
    aside = _aside(path)
    for suffix in ("-wal", "-shm", ""):
        old = path.with_name(path.name + suffix)
        if old.exists():
            old.rename(aside.with_name(aside.name + suffix))
    _salvaged(path).rename(path)
    return aside.name


def _salvaged(path: Path) -> Path:
    return path.with_name(path.name + ".salvaged")


def _copy_events(damaged: sqlite3.Connection, fresh: sqlite3.Connection) -> dict[str, Any]:
    """Copy the events whose checksum is right, and put a stand-in for each one that is lost between them."""
    columns = "number, site, time_ms, kind, body, checksum, incident"
    insert, kept = f"INSERT INTO events ({columns}) VALUES (?,?,?,?,?,?,?)", 0
    for _, *event in _readable(damaged, "events", columns):
        with suppress(sqlite3.Error, UnicodeError, TypeError):
            if checksum(*event[:5]) == event[5]:
                fresh.execute(insert, event)
                kept += 1
    if not kept and _one(damaged, "SELECT count(*) FROM events") != (0,):
        return {"events": 0, "lost": UNKNOWN}
    return {"events": kept, "lost": _fill_gaps(fresh, insert) + _lost_at_the_ends(damaged, fresh)}


def _fill_gaps(fresh: sqlite3.Connection, insert: str) -> int:
    before = "SELECT number, time_ms, lag(number) OVER (ORDER BY number) AS before FROM events"
    gaps = fresh.execute(f"SELECT before + 1, number, time_ms FROM ({before}) WHERE number > before + 1").fetchall()
    lost, body = int(sum(end - first for first, end, _ in gaps)), json.dumps({})
    if lost <= MOST_STAND_INS:  # otherwise sinks report the gap
        for first, end, time_ms in gaps:
            for number in range(first, end):
                stand_in = (number, "", time_ms, LOST, body, checksum(number, "", time_ms, LOST, body), None)
                fresh.execute(insert, stand_in)
    return lost


def _lost_at_the_ends(damaged: sqlite3.Connection, fresh: sqlite3.Connection) -> int:
    """Return how many events before the first and after the last one saved the damaged file still counts."""
    ends = "SELECT min(number), max(number) FROM events"
    there, saved = _one(damaged, ends), _one(fresh, ends)
    if there is None or saved is None or None in (*there, *saved):
        return 0
    return int(max(0, saved[0] - there[0]) + max(0, there[1] - saved[1]))


def _copy_table(damaged: sqlite3.Connection, fresh: sqlite3.Connection, table: str) -> int:
    kept = 0
    for _, *row in _readable(damaged, table, "*"):
        with suppress(sqlite3.Error, UnicodeError):
            fresh.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)
            kept += 1
    return kept


def _readable(damaged: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[Any, ...]]:
    """Yield every row that can be read, with its rowid: whole ranges at once, and around a damaged page by halves."""
    query = f"SELECT rowid, {columns} FROM {table} WHERE rowid BETWEEN ? AND ? ORDER BY rowid"
    top = _one(damaged, f"SELECT max(rowid) FROM {table}")
    ranges, failures = deque([(1, top[0] or 0 if top else HIGHEST_ROWID)]), 0
    while ranges and failures < MOST_FAILURES:
        low, high = ranges.popleft()
        try:
            with closing(damaged.execute(query, (low, high))) as cursor:
                for row in cursor:
                    low = row[0] + 1
                    yield row
        except (sqlite3.Error, UnicodeError) as exc:
            if "no such table" in str(exc):
                return
            failures += 1
            if low < high:
                middle = low + (high - low) // 2
                ranges += [(low, middle), (middle + 1, high)]


def _one(connection: sqlite3.Connection, query: str, *arguments: Any) -> tuple[Any, ...] | None:
    try:
        row: tuple[Any, ...] | None = connection.execute(query, arguments).fetchone()
        return row
    except (sqlite3.DatabaseError, UnicodeError):
        return None


def _sync_folder(folder: Path) -> None:
    """Make a new name survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _aside(path: Path, why: str = "damaged") -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.{why}-{number}")).exists():
        number += 1
    return aside


def _files(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm")]


def _reconcile_versions(header: bytearray) -> None:
    """Set both copies of the version to the one that is possible; of two, to the higher: `is_sound` sees the tables."""
    copies = int.from_bytes(header[_VERSION], "big"), int.from_bytes(header[_APPLICATION], "big") - APPLICATION_ID
    version = max((each for each in copies if 0 < each <= VERSION), default=None)
    if version is not None:
        header[_VERSION] = version.to_bytes(4, "big")
        header[_APPLICATION] = (APPLICATION_ID + version).to_bytes(4, "big")
