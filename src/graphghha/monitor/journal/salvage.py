"""A damaged journal: what can still be read goes into a fresh one, the damaged file is set aside."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from graphghha.monitor.journal.schema import checksum, connect, migrate

MISSES = 2_000  # numbers in a row without a readable event: the end, when the file cannot say where it is
LOST = "journal.lost"  # stands in the place of an event that cannot be read, so that numbers have no gaps


def salvage(path: Path) -> dict[str, Any]:
    """Replace the file by what is readable of it; returns what was found, for the journal itself."""
    fresh_path = path.with_name(path.name + ".salvaging")
    for leftover in _files(fresh_path):
        leftover.unlink(missing_ok=True)
    found: dict[str, Any] = {"events": 0, "lost": 0, "rows": 0, "checkpoints": 0}
    with closing(connect(fresh_path, is_writer=True)) as fresh:
        migrate(fresh)
        with suppress(sqlite3.DatabaseError), closing(connect(path)) as damaged:
            fresh.execute("BEGIN")
            found |= _events(damaged, fresh)
            for table, what in (("rows", "rows"), ("checkpoints", "checkpoints"), ("sites", "sites")):
                found[what] = _copy(damaged, fresh, table)
        if fresh.in_transaction:
            fresh.execute("COMMIT")
        fresh.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    fresh_path.rename(_salvaged(path))  # from here on it stands for the damaged file, even if we are killed
    return found | {"file": _exchange(path)}


def finish_salvage(path: Path) -> dict[str, Any] | None:
    """What a salvage that was killed had left to do; None when there is none."""
    return {"file": _exchange(path), "note": "the salvage was interrupted"} if _salvaged(path).exists() else None


def _exchange(path: Path) -> str:
    """Set the damaged file aside and put what was salvaged in its place; the name of the damaged one."""
    aside = _aside(path)
    for suffix in ("-wal", "-shm", ""):
        old = path.with_name(path.name + suffix)
        if old.exists():
            old.rename(aside.with_name(aside.name + suffix))
    _salvaged(path).rename(path)
    return aside.name


def _salvaged(path: Path) -> Path:
    return path.with_name(path.name + ".salvaged")


def _events(damaged: sqlite3.Connection, fresh: sqlite3.Connection) -> dict[str, int]:
    columns = "number, site, time_ms, kind, body, checksum, incident"
    kept, lost, missing, number = 0, 0, 0, _first(damaged)
    last = _last(damaged)
    while (number <= last) if last else missing < MISSES:
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


def _copy(damaged: sqlite3.Connection, fresh: sqlite3.Connection, table: str) -> int:
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
