"""A damaged journal: its header is repaired, or what is still readable is copied into a new file."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from graphghha.monitor.journal.schema import APPLICATION_ID, VERSION, checksum, connect, migrate

MOST_MISSES = 2_000  # numbers in a row without a readable event that mean the end, if the file does not state it
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
    saved: dict[str, Any] = {"events": 0, "lost": 0, "rows": 0, "checkpoints": 0}
    with closing(connect(fresh_path, is_writer=True)) as fresh:
        migrate(fresh)
        with suppress(sqlite3.DatabaseError), closing(connect(path)) as damaged:
            fresh.execute("BEGIN")
            saved |= _copy_events(damaged, fresh)
            for table, what in (("rows", "rows"), ("checkpoints", "checkpoints"), ("sites", "sites")):
                saved[what] = _copy_table(damaged, fresh, table)
        if fresh.in_transaction:
            fresh.execute("COMMIT")
        fresh.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    fresh_path.rename(_salvaged(path))  # from here on it replaces the damaged file, even if this process is killed
    return saved | {"file": _exchange(path)}


def finish_salvage(path: Path) -> dict[str, Any] | None:
    """Complete a salvage that was interrupted; return a note about it, or None if there is none."""
    return {"file": _exchange(path), "note": "the salvage was interrupted"} if _salvaged(path).exists() else None


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


def _copy_events(damaged: sqlite3.Connection, fresh: sqlite3.Connection) -> dict[str, int]:
    columns = "number, site, time_ms, kind, body, checksum, incident"
    kept, lost, missing, number = 0, 0, 0, _first(damaged)
    last = _last(damaged)
    while (number <= last) if last else missing < MOST_MISSES:
        event = _one(damaged, f"SELECT {columns} FROM events WHERE number = ?", number)
        if event is not None and checksum(*event[:5]) == event[5]:
            for gap in range(number - missing, number):
                body = json.dumps({})
                stand_in = (gap, "", event[2], LOST, body, checksum(gap, "", event[2], LOST, body), None)
                fresh.execute(f"INSERT INTO events ({columns}) VALUES (?,?,?,?,?,?,?)", stand_in)
            fresh.execute(f"INSERT INTO events ({columns}) VALUES (?,?,?,?,?,?,?)", event)
            kept, lost, missing = kept + 1, lost + missing, 0
        else:
            missing += 1
        number += 1
    return {"events": kept, "lost": lost}


def _copy_table(damaged: sqlite3.Connection, fresh: sqlite3.Connection, table: str) -> int:
    kept = 0
    for row in _readable(damaged, table):
        with suppress(sqlite3.DatabaseError):
            fresh.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)
            kept += 1
    return kept


def _readable(damaged: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    top = _one(damaged, f"SELECT max(rowid) FROM {table}")
    for rowid in range(1, (top[0] or 0) + 1 if top else 1):
        if (row := _one(damaged, f"SELECT * FROM {table} WHERE rowid = ?", rowid)) is not None:
            yield row


def _one(connection: sqlite3.Connection, query: str, *arguments: Any) -> tuple[Any, ...] | None:
    try:
        row: tuple[Any, ...] | None = connection.execute(query, arguments).fetchone()
        return row
    except (sqlite3.DatabaseError, UnicodeError):
        return None


def _first(connection: sqlite3.Connection) -> int:
    row = _one(connection, "SELECT min(number) FROM events")
    return (row[0] or 1) if row else 1


def _last(connection: sqlite3.Connection) -> int | None:
    row = _one(connection, "SELECT max(number) FROM events")
    return row[0] if row else None


def _aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return aside


def _files(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm")]


def _reconcile_versions(header: bytearray) -> None:
    """Set both copies of the version to the one that is possible."""
    copies = int.from_bytes(header[_VERSION], "big"), int.from_bytes(header[_APPLICATION], "big") - APPLICATION_ID
    version = next((each for each in copies if 0 < each <= VERSION), None)
    if version is not None:
        header[_VERSION] = version.to_bytes(4, "big")
        header[_APPLICATION] = (APPLICATION_ID + version).to_bytes(4, "big")
