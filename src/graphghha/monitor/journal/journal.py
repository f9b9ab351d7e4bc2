"""The journal: events, rows and checkpoints in one SQLite file, written by one monitor, read by many.

A commit writes what happened and where it left things in one transaction: after a crash both are there or neither is,
and a reading that comes again finds its work done.
"""

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import Command, Fact
from graphghha.errors import ConflictError, GraphGHHAError, JournalError
from graphghha.monitor.journal.codec import pack, pack_rows
from graphghha.monitor.journal.header import is_right, repair_header
from graphghha.monitor.journal.reader import Reader
from graphghha.monitor.journal.salvage import finish_salvage, salvage
from graphghha.monitor.journal.schema import checksum, connect, is_sound, migrate, refuse_newer
from graphghha.monitor.sinks import Event

log = logging.getLogger(__name__)
DAY_MS = 86_400_000
LOOK_EVERY_S = 0.2
REVIEW_COMMITS = 500  # between two looks at what retention may drop


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """Rows go before events. What a restart needs always stays."""

    days: float = 90.0
    most_mb: float = 1024.0
    keep_rows_ms: int = 4 * DAY_MS


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """What one site has to say."""

    site: str
    time_ms: int
    facts: Sequence[Fact] = ()
    times_ms: Sequence[int] = ()
    rows: Sequence[NDArray[np.float32]] = ()
    state: Mapping[str, Any] | None = None  # None leaves it as it is
    desk: Mapping[str, Any] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)
    answers: Sequence[tuple[int, str, str]] = ()  # command, state, answer


class JournalBusyError(ConflictError):
    """A monitor runs on this journal."""


class Journal:
    """The one writer. A second one on the same file is refused, after `wait_s` for the first to end."""

    def __init__(self, path: Path, retention: Retention | None = None, *, wait_s: float = 0.0) -> None:
        self.path, self._retention = path, retention or Retention()
        self._lease = _awaited_lease(path, wait_s)
        self.damage: dict[str, Any] | None = None  # what was found at the start
        self._connection: sqlite3.Connection | None = None
        self._commits = 0
        self._sites: set[str] = set()  # written by this process
        try:
            self._open()
            self.reader = Reader(path)
        except (sqlite3.Error, OSError) as exc:
            self._lease.close()
            raise JournalError(f"{path}: the journal cannot be opened: {exc}") from exc
        except GraphGHHAError:
            self._lease.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.reader.close()
        self._drop_connection()
        self._lease.close()

    def events_after(self, number: int, limit: int) -> list[Event]:
        return self.reader.events_after(number, limit)

    def first_event_number(self) -> int:
        return self.reader.first_event_number()

    def register(self, site: str, body: Mapping[str, Any]) -> None:
        """Say what a site is, for readers who do not have its model."""
        self._transact(
            lambda c: c.execute("INSERT OR REPLACE INTO sites VALUES (?, ?)", (site, json.dumps(dict(body))))
        )

    def write(self, entries: Sequence[Entry]) -> None:
        """All entries or none; on return they are on the disk."""

        def write(connection: sqlite3.Connection) -> None:
            for entry in entries:
                _write(connection, entry)

        self._transact(write)
        self._commits += 1
        self._sites.update(entry.site for entry in entries)
        if self._commits % REVIEW_COMMITS == 0:
            self.review()

    def pending_commands(self) -> list[tuple[int, str, str]]:
        """What operators asked for and nobody has answered: id, site, command as JSON."""
        query = "SELECT id, site, body FROM commands WHERE state = 'pending' ORDER BY id"
        try:
            return self._connected().execute(query).fetchall()
        except (sqlite3.Error, JournalError):
            return []  # they wait as the disk does

    def review(self) -> None:
        """Drop what is older than wished or more than fits."""
        keep, most = self._retention, self._retention.most_mb * 1e6

        def drop(connection: sqlite3.Connection) -> None:
            # every site has a clock of its own: beside a live one there may be a replay of years ago
            own = "SELECT time_ms FROM checkpoints WHERE checkpoints.site = {}.site"
            old_rows = f"DELETE FROM rows WHERE last_ms < ({own.format('rows')}) - ?"
            days_ms = int(keep.days * DAY_MS)
            connection.execute(old_rows, (max(days_ms, keep.keep_rows_ms),))
            # whole numbers from the old end, and never the last: numbering goes on from it
            # a site nobody watches any more does not age by its own clock
            watched = f"{own.format('events')} AND checkpoints.site IN (SELECT value FROM json_each(?))"
            now = f"coalesce(({watched}), (SELECT max(time_ms) FROM checkpoints), 0)"
            young = f"SELECT min(number) FROM events WHERE time_ms >= {now} - ?"
            first_kept = f"coalesce(({young}), (SELECT max(number) FROM events))"
            sites = json.dumps(sorted(self._sites))
            connection.execute(f"DELETE FROM events WHERE number < {first_kept}", (sites, days_ms))
            if _size(connection) > most:
                connection.execute(old_rows, (keep.keep_rows_ms,))
            if _size(connection) > most:
                connection.execute(
                    "DELETE FROM events WHERE number < (SELECT (min(number) + max(number) + 1) / 2 FROM events)"
                )

        self._transact(drop)
        self._connected().execute("PRAGMA incremental_vacuum").fetchall()

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.damage = finish_salvage(self.path)
        if self.path.exists() and self.path.stat().st_size and not self._is_sound():
            self.damage = self._repaired()
        migrate(self._connected())

    def _is_sound(self) -> bool:
        with closing(connect(self.path)) as connection:
            refuse_newer(connection, self.path)
            return is_right(self.path) and is_sound(connection)

    def _repaired(self) -> dict[str, Any]:
        """A header that can be put right saves all; else what is readable is saved."""
        wrong = repair_header(self.path)
        return {"header_bytes": wrong, "lost": 0} if wrong and self._is_sound() else salvage(self.path)

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connect(self.path, is_writer=True)
        return self._connection

    def _drop_connection(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _transact(self, work: Callable[[sqlite3.Connection], object]) -> None:
        try:
            connection = self._connected()
            connection.execute("BEGIN IMMEDIATE")
            work(connection)
            connection.execute("COMMIT")
        except BaseException as exc:
            # closing rolls back, and after an I/O error a handle is not to be trusted: the next try opens the file anew
            self._drop_connection()
            if isinstance(exc, (sqlite3.Error, OSError)):
                raise JournalError(f"{self.path}: {exc}") from exc
            raise


def submit(path: Path, site: str, command: Command) -> int:
    """Leave a command for the monitor that runs on this journal; returns its number."""
    try:
        connection = connect(path, is_writer=True)
        try:
            cursor = connection.execute(
                "INSERT INTO commands (site, body) VALUES (?, ?)", (site, json.dumps(command.to_dict()))
            )
            return int(cursor.lastrowid or 0)
        finally:
            connection.close()
    except sqlite3.Error as exc:
        raise JournalError(f"{path}: {exc}") from exc


def _awaited_lease(path: Path, wait_s: float) -> sqlite3.Connection:
    """Whoever is restarted may find its predecessor still stopping."""
    until, is_told = time.monotonic() + wait_s, False
    while True:
        try:
            return _lease(path)
        except JournalBusyError:
            if time.monotonic() >= until:
                raise
        if not is_told:
            log.warning("%s: another monitor writes this journal; waiting up to %g s for its end", path, wait_s)
            is_told = True
        time.sleep(LOOK_EVERY_S)


def _lease(path: Path) -> sqlite3.Connection:
    """Held as long as the process lives, on any operating system: an exclusive lock on a file of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lease = sqlite3.connect(
        path.with_name(path.name + ".lock"), isolation_level=None, timeout=0, check_same_thread=False
    )
    try:
        lease.execute("PRAGMA locking_mode = EXCLUSIVE")
        lease.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as exc:
        lease.close()
        if "locked" in str(exc):
            raise JournalBusyError(f"{path}: another monitor writes this journal") from exc
        raise JournalError(f"{path}: the journal cannot be opened: {exc}") from exc
    return lease


def _size(connection: sqlite3.Connection) -> int:
    (pages,), (free,), (size,) = (
        connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _json(body: Any) -> str:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:  # what is no number is null
        return _json(json.loads(json.dumps(body), parse_constant=lambda _: None))


def _write(connection: sqlite3.Connection, entry: Entry) -> None:
    (last,) = connection.execute("SELECT coalesce(max(number), 0) FROM events").fetchone()
    for number, fact in enumerate(entry.facts, start=last + 1):
        body = _json(fact.body)
        event = (number, entry.site, fact.time_ms, fact.kind)
        incident = fact.body.get("id") if fact.kind.startswith("incident.") else None
        connection.execute(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", (*event, incident, body, checksum(*event, body))
        )
    if entry.times_ms:
        values = np.concatenate(entry.rows)
        first, last_ms = entry.times_ms[0], entry.times_ms[-1]
        row = (entry.site, first, last_ms, len(values), pack_rows(values))
        connection.execute("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)", row)
    if entry.state is not None:
        connection.execute(
            "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?)",
            (entry.site, entry.time_ms, pack(entry.state), pack(entry.desk), pack(entry.summary)),
        )
    elif entry.desk:
        connection.execute("UPDATE checkpoints SET desk = ? WHERE site = ?", (pack(entry.desk), entry.site))
    connection.executemany(
        "UPDATE commands SET state = ?, answer = ? WHERE id = ?",
        [(state, answer, number) for number, state, answer in entry.answers],
    )
