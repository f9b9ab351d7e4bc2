"""Operators' commands in the journal: left by a command line, taken, answered, or withdrawn before they were taken.

pending -> taken -> done | refused, or pending -> withdrawn. A command that is withdrawn is never carried out. One that
is taken is carried out, if need be after a restart, as long as it has not expired.
"""

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from graphghha.alarms import Command
from graphghha.errors import ConfigError, ConflictError, JournalError
from graphghha.monitor.journal.schema import connect

PENDING, TAKEN, DONE, REFUSED, WITHDRAWN = "pending", "taken", "done", "refused", "withdrawn"
OPEN = "state IN ('pending', 'taken')"  # written out, because the index is made for these words
MOST_BODY = 20_000  # characters; a command of our own is far shorter
MOST_AT_ONCE = 1_000
EXPIRES_MS = 60_000  # nobody waits for the answer any more
ANSWERED_KEPT = 1_000
NOTE = "note"  # an order that states what has happened, so that it is never too late for it

Pending = tuple[int, str, str, int]  # id, site, command as JSON, when it was sent


def submit_command(path: Path, site: str, command: Command) -> int:
    """Leave a command for the monitor that runs on this journal and return the command's number."""
    return submit_body(path, site, command.to_dict())


def submit_body(path: Path, site: str, body: Mapping[str, Any]) -> int:
    """Leave a command or an order, as JSON, and return its number."""
    return submit_bodies(path, [(site, body)])[0]


def submit_bodies(path: Path, requests: Sequence[tuple[str, Mapping[str, Any]]]) -> list[int]:
    """Leave commands or orders, each for a site, all or none of them, and return their numbers."""
    query, numbers = "INSERT INTO commands (site, body, sent_ms) VALUES (?, ?, ?)", list[int]()
    try:
        with closing(connect(path, is_writer=True, may_create=False)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            for site, body in requests:
                cursor = connection.execute(query, (site, json.dumps(dict(body)), _now_ms()))
                numbers.append(int(cursor.lastrowid or 0))
            connection.execute("COMMIT")
    except sqlite3.Error as exc:
        raise JournalError(f"{path}: {exc}") from exc
    return numbers


def withdraw_command(path: Path, number: int) -> bool:
    """Take a command back; return False if it is too late, because the monitor has taken or answered it."""
    try:
        with closing(connect(path, is_writer=True, may_create=False)) as connection:
            query = "UPDATE commands SET state = ? WHERE id = ? AND state = ?"
            return connection.execute(query, (WITHDRAWN, number, PENDING)).rowcount > 0
    except sqlite3.Error as exc:
        raise JournalError(f"{path}: {exc}") from exc


def read_pending(connection: sqlite3.Connection) -> list[Pending]:
    """Return commands without an answer, oldest first. Any process that may write the file may have written them."""
    query = (
        "SELECT id, CAST(site AS BLOB), CAST(substr(body, 1, ?) AS BLOB), sent_ms FROM commands "
        f"WHERE {OPEN} ORDER BY id LIMIT ?"
    )
    rows = connection.execute(query, (MOST_BODY + 1, MOST_AT_ONCE)).fetchall()
    return [
        (number, _text(site), _text(body), sent if isinstance(sent, int) else 0) for number, site, body, sent in rows
    ]


def take(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Mark commands as taken, so that nobody withdraws them while they are carried out."""
    query = "UPDATE commands SET state = ? WHERE id = ? AND state = ?"
    connection.executemany(query, [(TAKEN, number, PENDING) for number in numbers])


def answer(connection: sqlite3.Connection, answers: Sequence[tuple[int, str, str]]) -> None:
    """Store state and message of the answers, by the numbers of their commands."""
    query = "UPDATE commands SET state = ?, answer = ? WHERE id = ?"
    connection.executemany(query, [(state, message, number) for number, state, message in answers])


def drop_answered(connection: sqlite3.Connection) -> None:
    """Drop all but the newest answered commands; what operators did stays in the events."""
    query = f"DELETE FROM commands WHERE NOT ({OPEN}) AND id <= (SELECT max(id) FROM commands) - ?"
    connection.execute(query, (ANSWERED_KEPT,))


def parse_command(text: str, sent_ms: int) -> Command:
    """Return a command that `submit_command` stored; raise an error with the reason why it is refused."""
    return Command.from_dict(parse_body(text, sent_ms))


def parse_body(text: str, sent_ms: int) -> dict[str, Any]:
    """Return what `submit_body` stored; raise an error with the reason why it is refused."""
    if len(text) > MOST_BODY:
        raise ConfigError(f"command: longer than {MOST_BODY} characters")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ConfigError(f"command: not JSON: {type(exc).__name__}") from exc
    if not isinstance(data, dict):
        raise ConfigError("command: not a JSON object")
    if (age_ms := _now_ms() - sent_ms) > EXPIRES_MS and data.get("order") != NOTE:
        raise ConflictError(f"the command is {age_ms // 1000} s old and nobody waits for it; give it again")
    return data


def _text(data: object) -> str:
    return data.decode(errors="replace") if isinstance(data, bytes) else ""


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
