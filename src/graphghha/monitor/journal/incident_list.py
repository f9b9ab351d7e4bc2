"""The table of incidents: the newest state of each in columns, so that long lists are filtered and paged quickly."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class IncidentFilter:
    """Which incidents are wanted. None means all."""

    sites: Sequence[str] | None = None
    zone: str | None = None
    root: str | None = None
    roots: Sequence[tuple[str, str]] | None = None  # site and role
    states: Sequence[str] = ()
    priorities: Sequence[str] = ()
    is_open: bool | None = None
    is_judged: bool | None = None
    disposition: str | None = None
    from_time: str | None = None  # texts as in incidents: they sort by time
    to_time: str | None = None
    words: str = ""

    def where(self) -> tuple[str, list[Any]]:
        """Return the condition and its arguments."""
        terms, arguments = ["1"], list[Any]()
        for column, values in (("site", self.sites), ("state", self.states), ("priority", self.priorities)):
            if values or (column == "site" and values is not None):
                terms.append(f"{column} IN ({','.join('?' * len(values))})")
                arguments += values
        for term, value in (
            ("zone = ?", self.zone),
            ("root = ?", self.root),
            ("disposition = ?", self.disposition),
            ("time >= ?", self.from_time),
            ("time <= ?", self.to_time),
        ):
            if value is not None:
                terms.append(term)
                arguments.append(value)
        if self.roots is not None:
            terms.append(f"(site, root) IN (VALUES {','.join(['(?, ?)'] * len(self.roots))})" if self.roots else "0")
            arguments += [each for pair in self.roots for each in pair]
        if self.is_open is not None:
            terms.append("is_open" if self.is_open else "NOT is_open")
        if self.is_judged is not None:
            terms.append(f"disposition IS {'NOT ' if self.is_judged else ''}NULL")
        if self.states:
            terms.append("state IS NOT NULL")  # true of each of them; lets SQLite use the index by state
        if words := self.words.split():
            terms.append("text IS NOT NULL")
        for word in words:
            terms.append("text LIKE ? ESCAPE '\\'")
            arguments.append(f"%{_escaped(word)}%")
        return " AND ".join(terms), arguments


def page_query(wanted: IncidentFilter, after: tuple[str, int] | None, limit: int) -> tuple[str, list[Any]]:
    """Return the query for a page of bodies, newest first; `after` are time and number of the last one before it.

    The page is found in an index that holds all wanted columns; only its bodies are looked up.
    """
    where, arguments = wanted.where()
    if after is not None:
        where += " AND (time, number) < (?, ?)"
        arguments += after
    page = f"SELECT time, number FROM incidents WHERE {where} ORDER BY time DESC, number DESC LIMIT ?"
    query = (
        f"SELECT events.body, page.time, page.number FROM ({page}) AS page JOIN events ON events.number = page.number "
        "ORDER BY page.time DESC, page.number DESC"
    )
    return query, [*arguments, limit]


def count_query(wanted: IncidentFilter) -> tuple[str, list[Any]]:
    """Return the query for the number of incidents."""
    where, arguments = wanted.where()
    return f"SELECT count(*) FROM incidents WHERE {where}", arguments


def span_query(wanted: IncidentFilter) -> tuple[str, list[Any]]:
    """Return the query for the times of the oldest and the newest incident."""
    where, arguments = wanted.where()
    return f"SELECT min(time), max(time) FROM incidents WHERE {where}", arguments


def note_incident(connection: sqlite3.Connection, number: int, site: str, body: Mapping[str, Any]) -> None:
    """Store the newest state of an incident."""
    columns = ("zone", "root", "state", "priority", "time", "annunciated", "closed")
    disposition = (body.get("disposition") or {}).get("is")
    is_open = body.get("closed") is None or body.get("state") != "normal"
    values = (body["id"], site, *(body.get(name) for name in columns), disposition, is_open, body.get("text"), number)
    connection.execute("INSERT OR REPLACE INTO incidents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
