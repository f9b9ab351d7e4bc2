"""The journal's tables, their version, and how older ones are brought up to date."""

import sqlite3
import zlib
from pathlib import Path

from graphghha.errors import JournalError

APPLICATION_ID = 0x67684840  # plus the version: a second witness of it

# one entry per version: what leads from the version before it to this one
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE events (
        number INTEGER PRIMARY KEY, site TEXT NOT NULL, time_ms INTEGER NOT NULL, kind TEXT NOT NULL,
        incident TEXT, body TEXT NOT NULL, checksum INTEGER NOT NULL
    );
    CREATE INDEX events_by_incident ON events (incident, number) WHERE incident IS NOT NULL;
    CREATE INDEX events_by_kind ON events (kind, time_ms);
    CREATE TABLE rows (
        site TEXT NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, count INTEGER NOT NULL,
        data BLOB NOT NULL, PRIMARY KEY (site, first_ms)
    );
    CREATE TABLE checkpoints (
        site TEXT PRIMARY KEY, time_ms INTEGER NOT NULL, state BLOB, desk BLOB NOT NULL, summary BLOB NOT NULL
    );
    CREATE TABLE sites (site TEXT PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE commands (
        id INTEGER PRIMARY KEY AUTOINCREMENT, site TEXT NOT NULL, body TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT 'pending', answer TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX commands_by_state ON commands (state) WHERE state = 'pending';
    """,
)
VERSION = len(MIGRATIONS)


def connect(path: Path, *, is_writer: bool = False) -> sqlite3.Connection:
    """A connection that waits for others, and whose transactions are written out by hand."""
    mode = "rwc" if is_writer else "ro"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False, timeout=10.0
    )
    if is_writer:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    return connection


def versions(connection: sqlite3.Connection) -> tuple[int, int]:
    """The journal's version, twice: they are equal unless a bit has flipped. Zero is a file without tables."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return version, application - APPLICATION_ID if application else 0


def refuse_newer(connection: sqlite3.Connection, path: Path) -> None:
    """A journal from the future is left alone; one that cannot even agree with itself is damaged, not newer."""
    try:
        version, other = versions(connection)
    except sqlite3.DatabaseError:
        return
    if version == other > VERSION:
        raise JournalError(
            f"{path}: written by a newer graphghha (journal version {version}, this one knows {VERSION})"
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to this version."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        witnesses = f"PRAGMA user_version = {number};PRAGMA application_id = {APPLICATION_ID + number}"
        connection.executescript(f"BEGIN IMMEDIATE;{script};{witnesses};COMMIT;")


def checksum(number: int, site: str, time_ms: int, kind: str, body: str) -> int:
    """Of one event: a flipped bit in a text is otherwise still a text."""
    return zlib.crc32(f"{number}\x00{site}\x00{time_ms}\x00{kind}\x00{body}".encode())


def is_sound(connection: sqlite3.Connection) -> bool:
    """Pages, indices, and every event by its checksum."""
    try:
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            return False
        version, other = versions(connection)
        if version != other:
            return False
        if version == 0:
            return True
        columns = "number, site, time_ms, kind, body, checksum"
        return all(checksum(*event) == found for *event, found in connection.execute(f"SELECT {columns} FROM events"))
    except (sqlite3.DatabaseError, UnicodeError):
        return False
