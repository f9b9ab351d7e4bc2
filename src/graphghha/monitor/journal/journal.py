"""The journal: events, rows and checkpoints in one SQLite file, written by one monitor and read by many.

A commit writes the events and the state they lead to in one transaction. After a crash both are there or neither is, so
a reading that is delivered again changes nothing.
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

from graphghha.alarms import Command, Event, StoredEvent
from graphghha.errors import ConflictError, GraphGHHAError, JournalError
from graphghha.monitor.journal.codec import pack, pack_rows
from graphghha.monitor.journal.reader import Reader
from graphghha.monitor.journal.repair import finish_salvage, is_header_intact, repair_header, salvage
from graphghha.monitor.journal.schema import checksum, connect, is_sound, migrate, refuse_newer

log = logging.getLogger(__name__)
DAY_MS = 86_400_000
LEASE_RETRY_S = 0.2
TRIM_EVERY_COMMITS = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """How much is kept. Rows are dropped before events; what a restart needs is never dropped."""

    days: float = 90.0
    most_mb: float = 1024.0
    keep_rows_ms: int = 4 * DAY_MS


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """What is written for one site in one transaction."""

    site: str
    time_ms: int
    events: Sequence[Event] = ()
    times_ms: Sequence[int] = ()
    rows: Sequence[NDArray[np.float32]] = ()
    state: Mapping[str, Any] | None = None  # None keeps the stored state
    board: Mapping[str, Any] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)
    answers: Sequence[tuple[int, str, str]] = ()  # to commands: id, state, message


class JournalBusyError(ConflictError):
    """Another process writes this journal."""


class Journal:
    """The only writer of a journal file. A second one is refused after waiting `wait_s` for the first to end."""

    def __init__(self, path: Path, retention: Retention | None = None, *, wait_s: float = 0.0) -> None:
        self.path, self._retention = path, retention or Retention()
        self._lease = _awaited_lease(path, wait_s)
        self.damage: dict[str, Any] | None = None  # what was repaired when the journal was opened
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
        """Close the file and release the lock, so that another process can write it."""
        self.reader.close()
        self._drop_connection()
        self._lease.close()

    def events_after(self, number: int, limit: int) -> list[StoredEvent]:
        """Return events in order, starting after `number`."""
        return self.reader.events_after(number, limit)

    def first_event_number(self) -> int:
        """Return the number of the oldest event kept."""
        return self.reader.first_event_number()

    def register(self, site: str, body: Mapping[str, Any]) -> None:
        """Store what a site consists of, for readers who do not have its model."""
        self._transact(
            lambda c: c.execute("INSERT OR REPLACE INTO sites VALUES (?, ?)", (site, json.dumps(dict(body))))
        )

    def write(self, commits: Sequence[Commit]) -> None:
        """Write all commits or none; on return they are on the disk."""

        def write(connection: sqlite3.Connection) -> None:
            for commit in commits:
                _write(connection, commit)

        self._transact(write)
        self._commits += 1
        self._sites.update(commit.site for commit in commits)
        if self._commits % TRIM_EVERY_COMMITS == 0:
            self.trim()

    def pending_commands(self) -> list[tuple[int, str, str]]:
        """Return the operators' commands that have no answer yet: id, site, command as JSON."""
        query = "SELECT id, site, body FROM commands WHERE state = 'pending' ORDER BY id"
        try:
            return self._connected().execute(query).fetchall()
        except (sqlite3.Error, JournalError):
            return []  # the commands wait until the disk works again

    def trim(self) -> None:
        """Drop what is older or more than the retention allows."""
        keep, most = self._retention, self._retention.most_mb * 1e6

        def drop(connection: sqlite3.Connection) -> None:
            # every site has its own clock: beside a live site there may be a replay of data from years ago
            own = "SELECT time_ms FROM checkpoints WHERE checkpoints.site = {}.site"
            old_rows = f"DELETE FROM rows WHERE last_ms < ({own.format('rows')}) - ?"
            days_ms = int(keep.days * DAY_MS)
            connection.execute(old_rows, (max(days_ms, keep.keep_rows_ms),))
            # drop a contiguous range of the oldest events, but never the last one: numbering continues from it
            # a site that is no longer monitored ages by the newest clock instead of its own
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
            return is_header_intact(self.path) and is_sound(connection)

    def _repaired(self) -> dict[str, Any]:
        """Repair the header if that is all that is damaged; otherwise salvage what is readable."""
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
            # closing rolls back; after an I/O error a handle cannot be trusted, so the next attempt reopens the file
            self._drop_connection()
            if isinstance(exc, (sqlite3.Error, OSError)):
                raise JournalError(f"{self.path}: {exc}") from exc
            raise


def submit_command(path: Path, site: str, command: Command) -> int:
    """Leave a command for the monitor that runs on this journal and return the command's number."""
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
    """Return the lease as soon as it is free: after a restart the previous process may still be stopping."""
    until, is_logged = time.monotonic() + wait_s, False
    while True:
        try:
            return _lease(path)
        except JournalBusyError:
            if time.monotonic() >= until:
                raise
        if not is_logged:
            log.warning("%s: another monitor writes this journal; waiting up to %g s for it to end", path, wait_s)
            is_logged = True
        time.sleep(LEASE_RETRY_S)


def _lease(path: Path) -> sqlite3.Connection:
    """Return an exclusive lock on a file of its own, held as long as the process lives, on any operating system."""
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
            raise JournalBusyError(
                f"{path}: another monitor writes this journal; stop it or use another state folder"
            ) from exc
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
    except ValueError:  # JSON has no NaN: write null instead
        return _json(json.loads(json.dumps(body), parse_constant=lambda _: None))


def _write(connection: sqlite3.Connection, commit: Commit) -> None:
    (last,) = connection.execute("SELECT coalesce(max(number), 0) FROM events").fetchone()
    for number, event in enumerate(commit.events, start=last + 1):
        body = _json(event.body)
        row = (number, commit.site, event.time_ms, event.kind)
        incident = event.body.get("id") if event.kind.startswith("incident.") else None
        connection.execute(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, incident, body, checksum(*row, body))
        )
    if commit.times_ms:
        values = np.concatenate(commit.rows)
        block = (commit.site, commit.times_ms[0], commit.times_ms[-1], len(values), pack_rows(values))
        connection.execute("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)", block)
    if commit.state is not None:
        connection.execute(
            "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?)",
            (commit.site, commit.time_ms, pack(commit.state), pack(commit.board), pack(commit.summary)),
        )
    elif commit.board:
        connection.execute("UPDATE checkpoints SET desk = ? WHERE site = ?", (pack(commit.board), commit.site))
    connection.executemany(
        "UPDATE commands SET state = ?, answer = ? WHERE id = ?",
        [(state, answer, number) for number, state, answer in commit.answers],
    )
