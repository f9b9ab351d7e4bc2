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
        if self.is_open is not None:
            terms.append("is_open" if self.is_open else "NOT is_open")
        if self.is_judged is not None:
            terms.append(f"disposition IS {'NOT ' if self.is_judged else ''}NULL")
        for word in self.words.split():
            terms.append("text LIKE ? ESCAPE '\\'")
            arguments.append(f"%{_escaped(word)}%")
        return " AND ".join(terms), arguments


def page_query(wanted: IncidentFilter, after: tuple[str, int] | None, limit: int) -> tuple[str, list[Any]]:
    """Return the query for a page of bodies, newest first; `after` are time and number of the last one before it."""
    where, arguments = wanted.where()
    if after is not None:
        where += " AND (time, incidents.number) < (?, ?)"
        arguments += after
    query = (
        "SELECT events.body, incidents.time, incidents.number FROM incidents JOIN events USING (number) "
        f"WHERE {_qualified(where)} ORDER BY incidents.time DESC, incidents.number DESC LIMIT ?"
    )
    return query, [*arguments, limit]


def count_query(wanted: IncidentFilter) -> tuple[str, list[Any]]:
    """Return the query for the number of incidents."""
    where, arguments = wanted.where()
    return f"SELECT count(*) FROM incidents WHERE {where}", arguments


def note_incident(connection: sqlite3.Connection, number: int, site: str, body: Mapping[str, Any]) -> None:
    """Store the newest state of an incident."""
    columns = ("zone", "root", "state", "priority", "time", "annunciated", "closed")
    disposition = (body.get("disposition") or {}).get("is")
    is_open = body.get("closed") is None or body.get("state") != "normal"
    values = (body["id"], site, *(body.get(name) for name in columns), disposition, is_open, body.get("text"), number)
    connection.execute("INSERT OR REPLACE INTO incidents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)


def _qualified(where: str) -> str:
    """Return the condition for a query that joins events, which have a site of their own."""
    return where.replace("site IN", "incidents.site IN")


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
