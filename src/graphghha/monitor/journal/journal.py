"""The journal: events, rows and checkpoints in one SQLite file, written by one monitor and read by many.

A commit writes the events and the state they lead to in one transaction. After a crash both are there or neither is, so
a reading that is delivered again changes nothing.
"""

import hashlib
import json
import logging
import os
import secrets
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha._util.text import encodable
from graphghha.alarms import Event, StoredEvent
from graphghha.errors import GraphGHHAError, JournalError
from graphghha.monitor.journal import commands
from graphghha.monitor.journal.codec import pack, pack_rows, pack_scores
from graphghha.monitor.journal.compaction import Compaction
from graphghha.monitor.journal.incident_list import note_incident
from graphghha.monitor.journal.lease import JournalBusyError, Lease, is_same_file, warn_if_open_to_others
from graphghha.monitor.journal.reader import Reader
from graphghha.monitor.journal.repair import (
    UNKNOWN,
    finish_salvage,
    is_header_intact,
    put_back,
    repair_header,
    salvage,
    unreported_damage,
)
from graphghha.monitor.journal.retention import Retention, drop_old
from graphghha.monitor.journal.schema import (
    LOCK_WAIT_S,
    checksum,
    connect,
    is_sound,
    may_pass,
    migrate,
    refuse_newer,
)
from graphghha.monitor.journal.unwritten import UnwrittenEvents

log = logging.getLogger(__name__)
TRIM_EVERY_COMMITS = 500
COMMIT_WAIT_MS = 1_000  # for another process that holds the lock of the file
_MALFORMED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """What is written for one site in one transaction."""

    site: str
    time_ms: int
    events: Sequence[Event] = ()
    times_ms: Sequence[int] = ()
    rows: Sequence[NDArray[np.float32]] = ()
    scores: Sequence[NDArray[np.uint8]] = ()  # blocks of the same rows; see `quantize`
    state: Mapping[str, Any] | None = None  # None keeps the stored state
    board: Mapping[str, Any] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)
    answers: Sequence[tuple[int, str, str]] = ()  # to commands: id, state, message


class Journal:
    """The only writer of a journal file. A second one is refused after waiting `wait_s` for the first to end."""

    def __init__(
        self, path: Path, retention: Retention | None = None, *, wait_s: float = 0.0, is_patient: bool = False
    ) -> None:
        """With `is_patient` a disk that takes no writes is not an error: `problem` names it, each write tries again."""
        self.path, self._retention = path, retention or Retention()
        self.problem = ""
        self.unwritten = UnwrittenEvents()
        self._unregistered: dict[str, tuple[str, str, str]] = {}  # what sites consist of, hash and text of the rest
        self._wait_s = LOCK_WAIT_S
        self._lease = Lease(path, wait_s)
        self.damage: dict[str, Any] | None = None  # what was repaired and has not been reported yet
        self._connection: sqlite3.Connection | None = None
        self._files: dict[str, os.stat_result] = {}  # of the file and its log, by suffix, as this process opened them
        self._is_malformed = False
        self._era: str | None = None  # begins with the first event that this process writes
        self._last = 0  # number of the newest event that this process knows of
        self._commits = 0
        self._sites: set[str] = set()  # written by this process
        self._compaction = Compaction()
        try:
            self._open()
            self.reader = Reader(path)
        except (sqlite3.Error, OSError) as exc:
            self._drop_connection()
            if is_patient and may_pass(exc):
                self.problem = f"{path}: the journal cannot be opened: {exc}"
                self.reader = Reader(path, is_alone=True)
                return
            self._lease.close()
            raise JournalError(f"{path}: the journal cannot be opened: {exc}") from exc
        except GraphGHHAError:
            self._drop_connection()
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

    def take_damage(self) -> dict[str, Any] | None:
        """Return once what was repaired."""
        damage, self.damage = self.damage, None
        return damage

    def events_after(self, number: int, limit: int) -> list[StoredEvent]:
        """Return events in order, starting after `number`."""
        return self.reader.events_after(number, limit)

    def unwritten_after(self, number: int) -> list[StoredEvent]:
        """Return the events of priority that are not in the journal yet, by numbers of their own."""
        return self.unwritten.after(number)

    def first_event_number(self) -> int:
        """Return the number of the oldest event kept."""
        return self.reader.first_event_number()

    def register(self, site: str, body: Mapping[str, Any], about: Mapping[str, Any] | None = None) -> None:
        """Store what a site consists of, for readers who do not have its model; `about` is kept once by its hash.

        If the journal could not be opened, that is done with the first write.
        """
        text = json.dumps(dict(about or {}), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12] if about else ""
        self._compaction.set_points(site, [str(point) for point in body.get("points", ())])
        whole = {**body, "about": digest} if about else dict(body)
        self._unregistered[site] = json.dumps(whole), digest, text
        if not self.problem:
            self._transact(self._register)
            self._unregistered.clear()

    def _register(self, connection: sqlite3.Connection) -> None:
        for site, (body, digest, about) in self._unregistered.items():
            if digest:
                connection.execute("INSERT OR REPLACE INTO abouts VALUES (?, ?)", (digest, about))
            connection.execute("INSERT OR REPLACE INTO sites VALUES (?, ?)", (site, body))

    def write(self, commits: Sequence[Commit]) -> None:
        """Write all commits or none; on return they are on the disk, in the file that the path names."""
        has_events = any(commit.events for commit in commits)
        era = self._era or secrets.token_hex(4)
        last = self._last

        def write(connection: sqlite3.Connection) -> None:
            nonlocal last
            (stored,) = connection.execute("SELECT coalesce(max(number), 0) FROM events").fetchone()
            last = max(last, stored)  # sinks have read what is lost from the file since, so its numbers stay taken
            if has_events and self._era is None:
                connection.execute("INSERT OR REPLACE INTO eras VALUES (?, ?)", (last + 1, era))
            self._register(connection)
            for commit in commits:
                _write(connection, commit, last)
                last += len(commit.events)

        self._transact(write)
        self._unregistered.clear()
        self._last = last
        if has_events:
            self._era = era
        self._commits += 1
        self._sites.update(commit.site for commit in commits)
        self._compact(commits)
        if self._commits % TRIM_EVERY_COMMITS == 0:
            try:
                self.trim()
            except JournalError as exc:  # the commits are written, so they must not be written again
                log.warning("%s: nothing was dropped this time: %s", self.path, exc)

    def _compact(self, commits: Sequence[Commit]) -> None:
        """Pack the rows and scores of hours that are over, once an hour."""
        due = [commit.site for commit in commits if commit.times_ms and self._compaction.is_due(commit.site, commit)]
        if not due:
            return
        try:
            self._transact(lambda connection: self._compaction.run(connection, due))
        except JournalError as exc:  # the commits are written, so they must not be written again
            log.warning("%s: nothing was packed this time: %s", self.path, exc)

    def take_commands(self) -> list[commands.Pending]:
        """Return the operators' commands that have no answer yet; from now on nobody can withdraw them."""
        try:
            found = commands.read_pending(self._connected())
            if found:
                self._transact(lambda connection: commands.take(connection, [number for number, *_ in found]))
            return found
        except (sqlite3.Error, OSError, JournalError):
            return []  # the commands wait until the disk works again

    def trim(self) -> None:
        """Drop what is older or more than the retention allows."""
        self._transact(lambda connection: drop_old(connection, self._retention, self._sites))
        try:
            self._connected().execute("PRAGMA incremental_vacuum").fetchall()
        except (sqlite3.Error, OSError) as exc:
            raise JournalError(f"{self.path}: {exc}") from exc

    def _open(self) -> None:
        self.damage = finish_salvage(self.path)
        if self.path.exists() and self.path.stat().st_size and not self._is_sound():
            self.damage = self._repaired()
        connection = self._connected()
        migrate(connection)
        self.damage = self.damage or unreported_damage(self.path, connection)
        connection.execute(f"PRAGMA busy_timeout = {COMMIT_WAIT_MS}")  # a commit must not keep the loop waiting
        self._wait_s = COMMIT_WAIT_MS / 1000
        warn_if_open_to_others(self.path)

    def _is_sound(self) -> bool:
        with closing(connect(self.path)) as connection:
            refuse_newer(connection, self.path)
            return is_header_intact(self.path) and is_sound(connection)

    def _repaired(self) -> dict[str, Any]:
        """Repair the header if that is all that is damaged; otherwise salvage what is readable."""
        wrong = repair_header(self.path)
        return {"header_bytes": wrong, "lost": 0} if wrong and self._is_sound() else salvage(self.path)

    def _open_late(self) -> None:
        """Open a journal that could not be opened at the start."""
        problem, self.problem, self._wait_s = self.problem, "", COMMIT_WAIT_MS / 1000
        try:
            self._open()
        except BaseException:
            self.problem = problem
            raise
        self.reader.share()

    def _connected(self) -> sqlite3.Connection:
        """Return the connection, on a file that is sound and in its place."""
        if self.problem:
            self._open_late()
        if self._is_malformed:
            self._heal()
        if self._connection is None:
            known = self._files.get("")
            if known is not None and not is_same_file(self.path, known):
                note = "the file was removed or replaced while it could not be written"
                self.damage = {"note": note, "lost": UNKNOWN}
            connection = connect(self.path, is_writer=True, wait_s=self._wait_s)
            if known is not None:
                migrate(connection)
            self._connection = connection
            self._files = {"": os.stat(self.path)}
        return self._connection

    def _heal(self) -> None:
        """Set a file aside that turned out to be malformed while the monitor runs, and go on with what is readable."""
        log.error("%s is malformed; it is set aside, and what is readable of it moves into a new file", self.path)
        self._drop_connection()
        with self.reader.suspended():
            self.damage = self._repaired()
            with closing(connect(self.path, is_writer=True)) as connection:
                migrate(connection)
        self._is_malformed = False

    def _keep_in_place(self) -> None:
        """Put the file back if it was removed or replaced; it lives on as long as this process has it open."""
        if self._connection is None or all(is_same_file(self._named(each), at) for each, at in self._files.items()):
            return
        log.error("%s or its log was removed or replaced while the monitor runs; it is written again", self.path)
        aside = put_back(self.path, self._connection, self._files[""], self.reader)
        self._connection = None
        self._files = {"": os.stat(self.path)}
        self.damage = {"note": "the file was removed or replaced while the monitor ran, and written again", **aside}

    def _note_log(self, connection: sqlite3.Connection) -> None:
        """Remember the write-ahead log, which a first commit creates."""
        if "-wal" not in self._files and connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
            try:
                self._files["-wal"] = os.stat(self._named("-wal"))
            except FileNotFoundError:
                self._files["-wal"] = os.stat_result([0] * 10)  # it is gone already, which `_keep_in_place` notices

    def _named(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)

    def _drop_connection(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _transact(self, work: Callable[[sqlite3.Connection], object]) -> None:
        try:
            self._lease.renew()
            self._keep_in_place()
            connection = self._connected()
            connection.execute("BEGIN IMMEDIATE")
            work(connection)
            connection.execute("COMMIT")
            self._note_log(connection)
            self._keep_in_place()  # what was committed into a file without a name is on no disk
        except BaseException as exc:
            is_unreadable = isinstance(exc, UnicodeDecodeError)  # a message of SQLite that quotes damaged bytes
            if is_unreadable or getattr(exc, "sqlite_errorcode", 0) & 0xFF in _MALFORMED:
                self._is_malformed = True
            # closing rolls back; after an I/O error a handle cannot be trusted, so the next attempt reopens the file
            self._drop_connection()
            if is_unreadable or isinstance(exc, (sqlite3.Error, OSError, JournalBusyError)):
                raise JournalError(f"{self.path}: {exc}") from exc
            raise


def _json(body: Any) -> str:
    try:
        return encodable(json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    except ValueError:  # JSON has no NaN: write null instead
        return _json(json.loads(json.dumps(body), parse_constant=lambda _: None))


def _write(connection: sqlite3.Connection, commit: Commit, last: int) -> None:
    """Write a commit; its events are numbered after `last`."""
    for number, event in enumerate(commit.events, start=last + 1):
        body = _json(event.body)
        row = (number, commit.site, event.time_ms, event.kind)
        incident = event.body.get("id") if event.kind.startswith("incident.") else None
        connection.execute(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, incident, body, checksum(*row, body))
        )
        if isinstance(incident, str):
            note_incident(connection, number, commit.site, event.body)
    if commit.times_ms:
        values = np.concatenate(commit.rows)
        block = (commit.site, commit.times_ms[0], commit.times_ms[-1], len(values), pack_rows(values))
        connection.execute("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)", block)
        if commit.scores:
            scores = pack_scores(np.array(commit.times_ms), np.concatenate(commit.scores))
            connection.execute("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?)", (*block[:4], scores))
    if commit.state is not None:
        # an update keeps the row's number, which a replacement would raise with every commit
        connection.execute(
            "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?) ON CONFLICT (site) DO UPDATE SET "
            "time_ms = excluded.time_ms, state = excluded.state, desk = excluded.desk, summary = excluded.summary",
            (commit.site, commit.time_ms, pack(commit.state), pack(commit.board), pack(commit.summary)),
        )
    elif commit.board:
        connection.execute("UPDATE checkpoints SET desk = ? WHERE site = ?", (pack(commit.board), commit.site))
    commands.answer(connection, commit.answers)
