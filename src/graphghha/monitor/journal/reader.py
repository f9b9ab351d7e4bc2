"""The journal as others see it: read-only, while the monitor writes. Safe to use from any thread."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import numpy as np

from graphghha.errors import JournalError, NotFoundError
from graphghha.monitor.journal.codec import unpack, unpack_rows
from graphghha.monitor.journal.schema import VERSION, connect
from graphghha.monitor.sinks import Event
from graphghha.windows import Rows

OPEN = "(json_extract(body, '$.closed') IS NULL OR json_extract(body, '$.state') <> 'normal')"


class Reader:
    """Events, incidents, rows and summaries of a journal file."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise NotFoundError(f"no journal at {path}")
        self.path, self._lock = path, threading.Lock()
        try:
            self._connection = connect(path)
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.Error as exc:
            raise JournalError(f"{path}: cannot be read as a journal: {exc}") from exc
        if not 0 < version <= VERSION:
            raise JournalError(f"{path}: journal version {version}, this graphghha reads up to {VERSION}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def events_after(self, number: int, limit: int, *, kind: str | None = None) -> list[Event]:
        """Events in order, those after `number` first; `kind` may end in `*`."""
        columns = "number, site, time_ms, kind, body"
        where, arguments = ("AND kind GLOB ?", [kind]) if kind else ("", [])
        query = f"SELECT {columns} FROM events WHERE number > ? {where} ORDER BY number LIMIT ?"
        return [_event(row) for row in self._all(query, number, *arguments, limit)]

    def site_events(self, site: str) -> list[Event]:
        """All of a site's alarms and incidents, in order."""
        columns, where = "number, site, time_ms, kind, body", "kind GLOB 'alarm.*' OR kind GLOB 'incident.*'"
        query = f"SELECT {columns} FROM events WHERE site = ? AND ({where}) ORDER BY number"
        return [_event(row) for row in self._each(query, site)]

    def first_event_number(self) -> int:
        return int(self._all("SELECT coalesce(min(number), 1) FROM events")[0][0])

    def last_event_number(self) -> int:
        return int(self._all("SELECT coalesce(max(number), 0) FROM events")[0][0])

    def sites(self) -> dict[str, dict[str, Any]]:
        """What is watched: plant, nodes, zones, step."""
        return {site: json.loads(body) for site, body in self._all("SELECT site, body FROM sites ORDER BY site")}

    def incidents(self, *, site: str | None = None, is_open: bool = False, limit: int = 1000) -> list[dict[str, Any]]:
        """The newest state of every incident, newest first."""
        newest = "SELECT max(number) FROM events WHERE incident IS NOT NULL GROUP BY incident"
        where = ["kind GLOB 'incident.*'"] + (["site = ?"] if site else []) + ([OPEN] if is_open else [])
        query = (
            f"SELECT body FROM events WHERE number IN ({newest}) AND {' AND '.join(where)} ORDER BY "
            "json_extract(body, '$.time') DESC, number DESC LIMIT ?"
        )
        return [json.loads(body) for (body,) in self._all(query, *([site] if site else []), limit)]

    def incident(self, key: str) -> dict[str, Any] | None:
        """The newest state of one incident."""
        rows = self._all("SELECT body FROM events WHERE incident = ? ORDER BY number DESC LIMIT 1", key)
        return json.loads(rows[0][0]) if rows else None

    def incident_events(self, key: str) -> list[Event]:
        """The story of one incident, with what operators asked of it by its name."""
        columns = "number, site, time_ms, kind, body"
        where = "incident = ? OR (kind = 'operator.command' AND json_extract(body, '$.target') = ?)"
        found = self._all(f"SELECT {columns} FROM events WHERE {where} ORDER BY number", key, key)
        return [_event(row) for row in found]

    def summary(self, site: str) -> dict[str, Any]:
        """How the site stood at its last commit."""
        rows = self._all("SELECT summary FROM checkpoints WHERE site = ?", site)
        return dict(unpack(rows[0][0])) if rows else {}

    def checkpoint(self, site: str) -> tuple[Any, Any] | None:
        """State and desk as of the last commit."""
        rows = self._all("SELECT state, desk FROM checkpoints WHERE site = ?", site)
        return (unpack(rows[0][0]), unpack(rows[0][1])) if rows else None

    def rows(self, site: str, *, newest: int | None = None, from_ms: int = -(2**62), to_ms: int = 2**62) -> Rows | None:
        """Closed rows in time order; None when there are none."""
        query = (
            "SELECT first_ms, last_ms, count, data FROM rows WHERE site = ? AND last_ms >= ? AND first_ms <= ? "
            "ORDER BY first_ms DESC"
        )
        blocks, have = [], 0
        for first_ms, last_ms, count, data in self._each(query, site, from_ms, to_ms):
            if newest is not None and have >= newest:
                break  # months may lie before
            blocks.append((np.linspace(first_ms, last_ms, count).round().astype(np.int64), unpack_rows(data, count)))
            have += count
        if not blocks:
            return None
        times = np.concatenate([times for times, _ in reversed(blocks)])
        values = np.concatenate([values for _, values in reversed(blocks)])
        wanted = (times >= from_ms) & (times <= to_ms)
        if newest is not None:
            wanted[: max(0, len(times) - newest)] = False
        times, values = times[wanted], values[wanted]
        return Rows(times, values, np.isfinite(values), np.isfinite(values).any(axis=1))

    def answer(self, command: int) -> tuple[str, str]:
        """State and answer of an operator's command."""
        state, answer = self._all("SELECT state, answer FROM commands WHERE id = ?", command)[0]
        return state, answer

    def _all(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        return list(self._each(query, *arguments))

    def _each(self, query: str, *arguments: Any) -> Iterator[tuple[Any, ...]]:
        """One by one, for answers that may be larger than memory; others wait meanwhile."""
        try:
            with self._lock, closing(self._connection.execute(query, arguments)) as cursor:
                yield from cursor
        except sqlite3.Error as exc:
            raise JournalError(f"{self.path}: {exc}") from exc


def _event(row: tuple[Any, ...]) -> Event:
    number, site, time_ms, kind, body = row
    return Event(number, site, time_ms, kind, json.loads(body))
