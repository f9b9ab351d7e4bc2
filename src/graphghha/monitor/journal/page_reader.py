"""What a page asks of a journal: lists of incidents, events in both directions, one signal or score over time.

Every user of it opens one of their own, so that nobody waits for another's lock.
"""

import json
import sqlite3
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import StoredEvent
from graphghha.errors import JournalError
from graphghha.monitor.journal.codec import unpack, unpack_rows, unpack_scores, unpack_times
from graphghha.monitor.journal.compaction import zone_parts
from graphghha.monitor.journal.incident_list import IncidentFilter, count_query, page_query, span_query
from graphghha.monitor.journal.reader import EVENT, Reader
from graphghha.monitor.journal.schema import OF_PEOPLE, TARGET

CACHE_KB = 4_000  # of each reader; more does not make long lists any faster
Times = NDArray[np.int64]
Cursor = tuple[str, int]  # time and number of the last incident of a page


class PageReader(Reader):
    """A reader with the queries of a page."""

    def _connect(self, *, is_alone: bool) -> sqlite3.Connection:
        connection = super()._connect(is_alone=is_alone)
        connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        return connection

    def about(self, site: str) -> tuple[str, dict[str, Any]] | None:
        """Return hash and content of what a site consists of; None if an older monitor registered it."""
        digest = self.sites().get(site, {}).get("about")
        rows = self._all("SELECT body FROM abouts WHERE hash = ?", digest) if digest else []
        return (str(digest), json.loads(rows[0][0])) if rows else None

    def list_incidents(
        self, wanted: IncidentFilter, *, after: Cursor | None = None, limit: int = 50
    ) -> tuple[list[dict[str, Any]], Cursor | None]:
        """Return a page of incidents, newest first, and the cursor of the next page, None after the last."""
        query, arguments = page_query(wanted, after, limit + 1)
        rows = self._all(query, *arguments)
        bodies = [json.loads(body) for body, *_ in rows[:limit]]
        return bodies, (str(rows[limit - 1][1]), int(rows[limit - 1][2])) if len(rows) > limit else None

    def list_and_count(
        self, wanted: IncidentFilter, *, after: Cursor | None = None, limit: int = 50
    ) -> tuple[list[dict[str, Any]], Cursor | None, int]:
        """Return a page of incidents, the cursor of the next page, and how many there are on all pages."""
        bodies, following = self.list_incidents(wanted, after=after, limit=limit)
        is_all = after is None and following is None
        return bodies, following, len(bodies) if is_all else self.count_incidents(wanted)

    def count_incidents(self, wanted: IncidentFilter) -> int:
        """Return how many incidents there are."""
        query, arguments = count_query(wanted)
        return int(self._all(query, *arguments)[0][0])

    def span_of_incidents(self, wanted: IncidentFilter) -> tuple[str | None, str | None]:
        """Return the times of the oldest and the newest incident; None if there is none."""
        query, arguments = span_query(wanted)
        oldest, newest = self._all(query, *arguments)[0]
        return oldest, newest

    def events_of_people(self, before: int | None, limit: int) -> list[StoredEvent]:
        """Return what people did and what was refused before a number, newest first."""
        query = f"SELECT {EVENT} FROM events WHERE number < ? AND {OF_PEOPLE} ORDER BY number DESC LIMIT ?"
        return self._events(query, 2**62 if before is None else before, limit)

    def notes_about(self, keys: list[str]) -> dict[str, StoredEvent]:
        """Return the newest command with a comment for each of these incidents."""
        wanted = f"+kind = 'operator.command' AND {TARGET} IN ({','.join('?' * len(keys))})"
        query = f"SELECT {EVENT} FROM events WHERE kind GLOB 'operator.*' AND {wanted} ORDER BY number"
        events = self._events(query, *keys) if keys else []
        return {str(event.body.get("target")): event for event in events}

    def last_commit(self, site: str) -> tuple[int, int]:
        """Return the time of the newest row and of the newest scores of a site, 0 before the first."""
        rows = self._all("SELECT time_ms FROM checkpoints WHERE site = ?", site)
        scores = self._all("SELECT max(last_ms) FROM scores WHERE site = ?", site)
        return int(rows[0][0]) if rows else 0, int(scores[0][0] or 0)

    def newest_scores(self, site: str) -> tuple[int, NDArray[np.uint8]] | None:
        """Return time and scores [s] of the newest row."""
        query = "SELECT count, data FROM scores WHERE site = ? ORDER BY first_ms DESC LIMIT 1"
        for count, data in self._all(query, site):
            times, scores = unpack_scores(data, count)
            return int(times[-1]), scores[-1]
        return None

    def scores(self, site: str, from_ms: int, to_ms: int) -> tuple[Times, NDArray[np.uint8]]:
        """Return the scores [r s] of a span, in time order; rows of another graph are left out."""
        query = (
            "SELECT count, data FROM scores WHERE site = ? AND last_ms >= ? AND first_ms <= ? ORDER BY first_ms DESC"
        )
        blocks = [unpack_scores(data, count) for count, data in self._all(query, site, from_ms, to_ms)]
        blocks = [block for block in blocks if block[1].shape[1] == blocks[0][1].shape[1]][::-1]
        if not blocks:
            return np.empty(0, np.int64), np.empty((0, 0), np.uint8)
        times = np.concatenate([times for times, _ in blocks])
        scores = np.concatenate([scores for _, scores in blocks])
        wanted = (times >= from_ms) & (times <= to_ms)
        return times[wanted], scores[wanted]

    def zone_rows(
        self, site: str, points: list[str], zone: str, from_ms: int, to_ms: int
    ) -> tuple[Times, NDArray[np.float32]]:
        """Return the readings [r n] of one zone; `points` are all points of the site, in the order of columns."""
        parts = zone_parts(points)
        names = [points[part.start].rpartition("/")[0] for part in parts]
        if zone not in names:
            return np.empty(0, np.int64), np.empty((0, 0), np.float32)
        number = names.index(zone)
        part = parts[number]
        query = (
            "SELECT parts, times, data FROM hours WHERE site = ? AND part = ? AND last_ms >= ? AND first_ms <= ? "
            "ORDER BY first_ms"
        )
        times, values = list[Times](), list[NDArray[np.float32]]()
        for count, packed, data in self._all(query, site, number, from_ms, to_ms):
            moments = unpack_times(packed)
            block = unpack_rows(data, len(moments))
            if count == len(parts) and block.shape[1] == part.stop - part.start:
                times.append(moments)
                values.append(block)
        query = (
            "SELECT first_ms, last_ms, count, data FROM rows WHERE site = ? AND last_ms >= ? AND first_ms <= ? "
            "ORDER BY first_ms"
        )
        for first_ms, last_ms, count, data in self._all(query, site, from_ms, to_ms):
            block = unpack_rows(data, count)
            if block.shape[1] == len(points):
                times.append(np.linspace(first_ms, last_ms, count).round().astype(np.int64))
                values.append(block[:, part])
        if not times:
            return np.empty(0, np.int64), np.empty((0, part.stop - part.start), np.float32)
        moments, readings = np.concatenate(times), np.concatenate(values)
        wanted = (moments >= from_ms) & (moments <= to_ms)
        return moments[wanted], readings[wanted]

    def board(self, site: str) -> dict[str, Any]:
        """Return the alarm board of a site as of its last commit."""
        rows = self._all("SELECT desk FROM checkpoints WHERE site = ?", site)
        board = unpack(rows[0][0]) if rows else {}
        if not isinstance(board, dict):
            raise JournalError(f"{self.path}: the alarms of site {site!r} are not such as a monitor writes")
        return board

    def suspended_by(self, site: str) -> dict[str, str]:
        """Return who put alarms aside, by node."""
        kinds = ("alarm.shelved", "alarm.suppressed", "alarm.out-of-service")
        newest = self.events_before(None, 1000, kinds)
        return {str(e.body.get("node")): str(e.body.get("by", "")) for e in reversed(newest) if e.site == site}

    def refusals(self, key: str) -> list[StoredEvent]:
        """Return the refused commands for an incident."""
        where = f"kind GLOB 'operator.*' AND +kind = 'operator.refused' AND {TARGET} = ?"
        return self._events(f"SELECT {EVENT} FROM events WHERE {where} ORDER BY number", key)
