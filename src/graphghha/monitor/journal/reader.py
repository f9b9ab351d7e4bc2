"""Read-only access to a journal, also while a monitor writes it. Safe to use from any thread."""

import json
import sqlite3
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import StoredEvent
from graphghha.errors import JournalError, NotFoundError
from graphghha.monitor.journal.codec import unpack, unpack_rows, unpack_times
from graphghha.monitor.journal.schema import LOCK_WAIT_S, TARGET, VERSION, connect
from graphghha.windows import Rows

# a body that is not JSON would end a query with an error, so this is checked first
OPEN = (
    "CASE WHEN json_valid(body) THEN (json_extract(body, '$.closed') IS NULL OR "
    "json_extract(body, '$.state') <> 'normal') ELSE 0 END"
)
TIME = "CASE WHEN json_valid(body) THEN json_extract(body, '$.time') END"
EVENT = "number, site, time_ms, kind, body"
# every kind that occurs, by one step in the index for each
ALL_KINDS = (
    "WITH RECURSIVE all_kinds (kind) AS (SELECT min(kind) FROM events UNION ALL SELECT "
    "(SELECT min(kind) FROM events WHERE kind > all_kinds.kind) FROM all_kinds WHERE kind IS NOT NULL) "
    "SELECT kind FROM all_kinds"
)
LATEST_MS = 253_402_300_799_999  # the end of the year 9999, after which no time can be written
ALONE_WAIT_S = 1.0  # for other readers, beside whom the file is read otherwise
UNREADABLE = "unreadable"  # the key of a body that stands for one that cannot be parsed


class Reader:
    """Events, incidents, rows and summaries of a journal file."""

    def __init__(self, path: Path, *, is_alone: bool = False) -> None:
        """A reader that `is_alone` opens the file for every single query, until `share` is called."""
        self.path, self._lock, self._is_alone, self.version = path, threading.Lock(), is_alone, VERSION
        self._connection: sqlite3.Connection | None = None if is_alone else self._open()

    def _open(self) -> sqlite3.Connection:
        if not self.path.is_file():
            raise NotFoundError(f"there is no journal at {self.path}; a monitor writes it into its state folder")
        try:
            connection, version = self._first_look()
        except (sqlite3.Error, UnicodeError) as exc:  # a message of SQLite may quote damaged bytes
            raise JournalError(f"{self.path} cannot be read as a journal: {exc}") from exc
        self.version = version
        if not 0 < version <= VERSION:
            connection.close()
            raise JournalError(
                f"{self.path} is a journal of version {version}; this graphghha reads versions 1 to {VERSION}"
            )
        return connection

    def _first_look(self) -> tuple[sqlite3.Connection, int]:
        """Return a connection and the version of the file; read it beside others if they do not leave it alone."""
        for is_alone in (True, False) if self._is_alone else (False,):
            connection = self._connect(is_alone=is_alone)
            try:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                return connection, int(version)
            except sqlite3.OperationalError as exc:
                connection.close()
                if not is_alone or exc.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
        raise AssertionError("unreachable")

    def share(self) -> None:
        """Read as others do from now on, because the journal has been opened for writing."""
        with self._lock:
            self._is_alone = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Keep the file closed while the writer exchanges it; other threads wait, and then read the new one."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            try:
                yield
            finally:
                self._connection = self._connect(is_alone=self._is_alone)

    def _connect(self, *, is_alone: bool) -> sqlite3.Connection:
        connection = connect(self.path, is_alone=is_alone, wait_s=ALONE_WAIT_S if is_alone else LOCK_WAIT_S)
        connection.text_factory = lambda data: data.decode(errors="replace")
        return connection

    def events_after(self, number: int, limit: int, kinds: Sequence[str] = ()) -> list[StoredEvent]:
        """Return events in order, starting after `number`; `kinds` may end in `*`."""
        return self._page_of_events(kinds, "number > ?", number, "number", limit)

    def events_before(self, number: int | None, limit: int, kinds: Sequence[str] = ()) -> list[StoredEvent]:
        """Return events before a number, newest first; `kinds` may end in `*`."""
        return self._page_of_events(kinds, "number < ?", 2**62 if number is None else number, "number DESC", limit)

    def _page_of_events(
        self, kinds: Sequence[str], where: str, number: int, order: str, limit: int
    ) -> list[StoredEvent]:
        """Return so many events; those of some kinds are found in the index without a look at the others."""
        if not kinds:
            query = f"SELECT {EVENT} FROM events WHERE {where} ORDER BY {order} LIMIT ?"
            return self._events(query, number, limit)
        patterns = " OR ".join(["kind GLOB ?"] * len(kinds))
        occurring = [kind for (kind,) in self._all(f"{ALL_KINDS} WHERE {patterns}", *kinds)]
        if not occurring:
            return []
        of_kind = f"SELECT * FROM (SELECT number FROM events WHERE kind = ? AND {where} ORDER BY {order} LIMIT ?)"
        found = " UNION ALL ".join([of_kind] * len(occurring)) + f" ORDER BY {order} LIMIT ?"
        arguments = [argument for kind in occurring for argument in (kind, number, limit)]
        query = f"SELECT {EVENT} FROM events WHERE number IN ({found}) ORDER BY {order}"
        return self._events(query, *arguments, limit)

    def site_events(self, site: str) -> list[StoredEvent]:
        """Return all alarm and incident events of a site, in order."""
        where = "kind GLOB 'alarm.*' OR kind GLOB 'incident.*'"
        query = f"SELECT {EVENT} FROM events WHERE site = ? AND ({where}) ORDER BY number"
        return self._events(query, site)

    def events_of_kinds(self, kinds: Sequence[str], site: str | None = None) -> list[StoredEvent]:
        """Return all events of these kinds, in order."""
        where = f"kind IN ({', '.join('?' * len(kinds))})" + (" AND site = ?" if site else "")
        query = f"SELECT {EVENT} FROM events WHERE {where} ORDER BY number"
        return self._events(query, *kinds, *([site] if site else []))

    def first_event_number(self) -> int:
        """Return the number of the oldest event kept, 1 if there is none."""
        return int(self._all("SELECT coalesce(min(number), 1) FROM events")[0][0])

    def last_event_number(self) -> int:
        """Return the number of the newest event, 0 if there is none."""
        return int(self._all("SELECT coalesce(max(number), 0) FROM events")[0][0])

    def sites(self) -> dict[str, dict[str, Any]]:
        """Return the monitored sites with their plant, nodes, zones and time step."""
        sites = {site: _body(body) for site, body in self._all("SELECT site, body FROM sites ORDER BY site")}
        return {site: body for site, body in sites.items() if isinstance(body.get("nodes"), list)}

    def incidents(self, *, site: str | None = None, is_open: bool = False, limit: int = 1000) -> list[dict[str, Any]]:
        """Return every incident in its newest version, newest incident first."""
        newest = "SELECT max(number) FROM events WHERE incident IS NOT NULL GROUP BY incident"
        where = ["kind GLOB 'incident.*'"] + (["site = ?"] if site else []) + ([OPEN] if is_open else [])
        query = (
            f"SELECT body FROM events WHERE number IN ({newest}) AND {' AND '.join(where)} ORDER BY "
            f"{TIME} DESC, number DESC LIMIT ?"
        )
        bodies = (_body(body) for (body,) in self._all(query, *([site] if site else []), limit))
        return [body for body in bodies if isinstance(body.get("id"), str)]

    def incident(self, key: str) -> dict[str, Any] | None:
        """Return one incident in its newest version."""
        rows = self._all("SELECT body FROM events WHERE incident = ? ORDER BY number DESC LIMIT 1", key)
        body = _body(rows[0][0]) if rows else {UNREADABLE: True}
        return None if UNREADABLE in body else body

    def incident_events(self, key: str) -> list[StoredEvent]:
        """Return the events of one incident, with the commands that operators gave for it."""
        of_command = f"kind GLOB 'operator.*' AND +kind = 'operator.command' AND {TARGET} = ?"
        numbers = f"SELECT number FROM events WHERE incident = ? UNION SELECT number FROM events WHERE {of_command}"
        return self._events(f"SELECT {EVENT} FROM events WHERE number IN ({numbers}) ORDER BY number", key, key)

    def summary(self, site: str) -> dict[str, Any]:
        """Return the status of the site at its last commit."""
        rows = self._all("SELECT summary FROM checkpoints WHERE site = ?", site)
        summary = unpack(rows[0][0]) if rows else {}
        if not isinstance(summary, dict) or not isinstance(summary.get("time_ms", 0), int):
            raise JournalError(f"{self.path}: the summary of site {site!r} is not one that a monitor writes")
        return summary

    def checkpoint(self, site: str) -> tuple[Any, Any] | None:
        """Return the state of the site and of its alarm board as of the last commit."""
        rows = self._all("SELECT state, desk FROM checkpoints WHERE site = ?", site)
        return (unpack(rows[0][0]), unpack(rows[0][1])) if rows else None

    def rows(self, site: str, *, newest: int | None = None, from_ms: int = -(2**62), to_ms: int = 2**62) -> Rows | None:
        """Return closed rows in time order; None if there are none."""
        query = (
            "SELECT first_ms, last_ms, count, data FROM rows WHERE site = ? AND last_ms >= ? AND first_ms <= ? "
            "ORDER BY first_ms DESC"
        )
        blocks, have = list[tuple[NDArray[np.int64], NDArray[np.float32]]](), 0
        for first_ms, last_ms, count, data in self._each(query, site, from_ms, to_ms):
            if newest is not None and have >= newest:
                break  # there may be months of older rows
            block = unpack_rows(data, count)  # its length proves the count
            if not (isinstance(first_ms, int) and isinstance(last_ms, int)):
                raise JournalError(f"{self.path}: the times of packed rows are damaged")
            blocks.append((np.linspace(first_ms, last_ms, count).round().astype(np.int64), block))
            have += count
        for times, block in self._hours(site, from_ms, to_ms):
            if newest is not None and have >= newest:
                break
            blocks.append((times, block))
            have += len(times)
        if not blocks:
            return None
        if blocks[-1][1].shape[1] != blocks[0][1].shape[1]:  # the site had other points then
            blocks = [each for each in blocks if each[1].shape[1] == blocks[0][1].shape[1]]
        times = np.concatenate([times for times, _ in reversed(blocks)])
        values = np.concatenate([values for _, values in reversed(blocks)])
        wanted = (times >= from_ms) & (times <= to_ms)
        if newest is not None:
            wanted[: max(0, len(times) - newest)] = False
        times, values = times[wanted], values[wanted]
        return Rows(times, values, np.isfinite(values), np.isfinite(values).any(axis=1))

    def row_times(self, site: str) -> tuple[int, int] | None:
        """Return the times of the oldest and the newest row; None if there are none."""
        tables = ("rows", "hours") if self.version >= 3 else ("rows",)
        found = [
            self._all(f"SELECT min(first_ms), max(last_ms) FROM {each} WHERE site = ?", site)[0] for each in tables
        ]
        known = [(first, last) for first, last in found if isinstance(first, int) and isinstance(last, int)]
        return (min(first for first, _ in known), max(last for _, last in known)) if known else None

    def _hours(self, site: str, from_ms: int, to_ms: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Yield packed hours, newest first, with all their parts side by side."""
        if self.version < 3:
            return
        query = (
            "SELECT first_ms, parts, times, data FROM hours WHERE site = ? AND last_ms >= ? AND first_ms <= ? "
            "ORDER BY first_ms DESC, part"
        )
        waiting: list[NDArray[np.float32]] = []
        waiting_ms = None
        for first_ms, parts, times, data in self._each(query, site, from_ms, to_ms):
            if first_ms != waiting_ms:
                waiting, waiting_ms = [], first_ms
            moments = unpack_times(times)
            waiting.append(unpack_rows(data, len(moments)))
            if len(waiting) == parts:
                yield moments, np.concatenate(waiting, axis=1)

    def answer(self, command: int) -> tuple[str, str]:
        """Return state and message of the answer to an operator's command."""
        rows = self._all("SELECT state, answer FROM commands WHERE id = ?", command)
        if not rows:
            raise JournalError(f"{self.path}: command {command} is gone: the journal was damaged and salvaged")
        return str(rows[0][0]), str(rows[0][1])

    def _events(self, query: str, *arguments: Any) -> list[StoredEvent]:
        rows = self._all(query, *arguments)
        eras = self._eras() if rows else []
        firsts = [first for first, _ in eras]
        events = []
        for number, site, time_ms, kind, body in rows:
            at = bisect_right(firsts, number)
            era = str(eras[at - 1][1]) if at else ""
            time_ms = time_ms if isinstance(time_ms, int) and abs(time_ms) <= LATEST_MS else 0
            events.append(StoredEvent(number, str(site), time_ms, str(kind), _body(body), era))
        return events

    def _eras(self) -> list[tuple[int, str]]:
        """Return the identities that events carry in their keys, each with the first number it holds for."""
        try:
            rows = self._all("SELECT first, identity FROM eras ORDER BY 1")
            return [(first, identity) for first, identity in rows if isinstance(first, int)]
        except JournalError:  # a journal of the first version, which no monitor has opened since
            return []

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        if self._is_alone:
            with closing(self._open()) as connection:
                yield connection
            return
        if self._connection is None:
            self._connection = self._open()
        yield self._connection

    def _all(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        return list(self._each(query, *arguments))

    def _each(self, query: str, *arguments: Any) -> Iterator[tuple[Any, ...]]:
        """Yield rows one by one, because they may not fit into memory; other threads wait in the meantime."""
        try:
            with self._lock, self._opened() as connection, closing(connection.execute(query, arguments)) as cursor:
                yield from cursor
        except (sqlite3.Error, UnicodeError) as exc:
            raise JournalError(f"{self.path}: {exc}") from exc


def _body(text: Any) -> dict[str, Any]:
    """Return the body of an event; one that cannot be parsed is replaced, so that the others can be read."""
    try:
        body = json.loads(text)
    except (ValueError, TypeError, RecursionError) as exc:
        return {UNREADABLE: type(exc).__name__}
    return body if isinstance(body, dict) else {UNREADABLE: type(body).__name__}
