"""What a journal keeps, and dropping the rest."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from graphghha.monitor.journal import commands
from graphghha.monitor.journal.schema import size_bytes

DAY_MS = 86_400_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """How much is kept. Rows are dropped before events; what a restart needs is never dropped."""

    days: float = 90.0
    most_mb: float = 1024.0
    keep_rows_ms: int = 4 * DAY_MS
    score_days: float = 35.0


def drop_old(connection: sqlite3.Connection, keep: Retention, sites: Iterable[str]) -> None:
    """Drop what is older or more than the retention allows; `sites` are those that are monitored now."""
    days_ms, most = int(keep.days * DAY_MS), keep.most_mb * 1e6
    for table in ("rows", "hours"):
        _drop_blocks(connection, table, max(days_ms, keep.keep_rows_ms))
    _drop_blocks(connection, "scores", int(keep.score_days * DAY_MS))
    _drop_events(connection, days_ms, sites)
    if size_bytes(connection) > most:
        for table in ("rows", "hours", "scores"):
            _drop_blocks(connection, table, keep.keep_rows_ms)
    if size_bytes(connection) > most:
        connection.execute("DELETE FROM events WHERE number < (SELECT (min(number) + max(number) + 1) / 2 FROM events)")
    connection.execute("DELETE FROM incidents WHERE number < (SELECT min(number) FROM events)")
    oldest = "SELECT max(first) FROM eras WHERE first <= (SELECT min(number) FROM events)"
    connection.execute(f"DELETE FROM eras WHERE first < ({oldest})")
    commands.drop_answered(connection)


def _site_time(table: str) -> str:
    """Return the query for the time of a row's own site, since a replay of old data may run beside a live site."""
    return f"SELECT time_ms FROM checkpoints WHERE checkpoints.site = {table}.site"


def _drop_blocks(connection: sqlite3.Connection, table: str, keep_ms: int) -> None:
    connection.execute(f"DELETE FROM {table} WHERE last_ms < ({_site_time(table)}) - ?", (keep_ms,))


def _drop_events(connection: sqlite3.Connection, keep_ms: int, sites: Iterable[str]) -> None:
    """Drop a contiguous range of the oldest events, but never the last one: numbering continues from it."""
    # a site that is no longer monitored ages by the newest clock instead of its own
    watched = f"{_site_time('events')} AND checkpoints.site IN (SELECT value FROM json_each(?))"
    now = f"coalesce(({watched}), (SELECT max(time_ms) FROM checkpoints), 0)"
    young = f"SELECT min(number) FROM events WHERE time_ms >= {now} - ?"
    first_kept = f"coalesce(({young}), (SELECT max(number) FROM events))"
    connection.execute(f"DELETE FROM events WHERE number < {first_kept}", (json.dumps(sorted(sites)), keep_ms))
