"""The journal's tables, their version, and the migration of older files."""

import errno
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

from graphghha.errors import JournalError
from graphghha.monitor.journal.lease import make_private_file

LOCK_WAIT_S = 10.0
APPLICATION_ID = 0x67684840  # the version is added to it, as a second copy

# errors that say nothing about the content of the file
NOT_THE_FILE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM)

# the newest body of every incident in columns that can be filtered; a body that is not JSON is left out
FILL_INCIDENTS = """
    INSERT OR REPLACE INTO incidents
    SELECT incident, site, json_extract(body, '$.zone'), json_extract(body, '$.root'), json_extract(body, '$.state'),
        json_extract(body, '$.priority'), json_extract(body, '$.time'), json_extract(body, '$.annunciated'),
        json_extract(body, '$.closed'), json_extract(body, '$.disposition.is'),
        json_extract(body, '$.closed') IS NULL OR json_extract(body, '$.state') <> 'normal',
        json_extract(body, '$.text'), number
    FROM events WHERE json_valid(body) AND kind GLOB 'incident.*'
        AND number IN (SELECT max(number) FROM events WHERE incident IS NOT NULL GROUP BY incident);
"""

# what an operator's command is about; a body that is not JSON would end a query with an error
TARGET = "CASE WHEN json_valid(body) THEN json_extract(body, '$.target') END"
# literally as in the index of it, which SQLite takes for queries with the same words only
OF_PEOPLE = "(kind GLOB 'operator.*' OR kind GLOB 'access.*' OR kind GLOB 'stop.*' OR kind GLOB 'studio.*')"

# one script per version, which migrates a file from the version before
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
    """
    ALTER TABLE commands ADD COLUMN sent_ms INTEGER NOT NULL DEFAULT 0;
    DROP INDEX commands_by_state;
    CREATE INDEX commands_by_state ON commands (state) WHERE state IN ('pending', 'taken');
    CREATE TABLE eras (first INTEGER PRIMARY KEY, identity TEXT NOT NULL);
    """,
    f"""
    CREATE TABLE scores (
        site TEXT NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, count INTEGER NOT NULL,
        data BLOB NOT NULL, PRIMARY KEY (site, first_ms)
    );
    CREATE TABLE hours (
        site TEXT NOT NULL, part INTEGER NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL,
        parts INTEGER NOT NULL, times BLOB NOT NULL, data BLOB NOT NULL, PRIMARY KEY (site, part, first_ms)
    );
    CREATE TABLE abouts (hash TEXT PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE incidents (
        id TEXT PRIMARY KEY, site TEXT NOT NULL, zone TEXT, root TEXT, state TEXT, priority TEXT, time TEXT,
        announced TEXT, closed TEXT, disposition TEXT, is_open INTEGER NOT NULL, text TEXT, number INTEGER NOT NULL
    );
    CREATE INDEX incidents_by_site
        ON incidents (site, time, number, zone, state, priority, is_open, disposition, root);
    CREATE INDEX incidents_by_zone
        ON incidents (site, zone, time, number, state, priority, is_open, disposition, root);
    CREATE INDEX incidents_open ON incidents (site, time, number, zone, state, priority, disposition, root, is_open)
        WHERE is_open;
    CREATE INDEX incidents_by_number ON incidents (number);
    CREATE INDEX events_of_people ON events (number) WHERE kind GLOB 'operator.*' OR kind GLOB 'access.*';
    {FILL_INCIDENTS}
    """,
    # partial, so that a query by anything else does not take them: a query has to say that the column is not null
    """
    CREATE INDEX incidents_by_state
        ON incidents (site, state, time, number, zone, priority, is_open, disposition, root) WHERE state IS NOT NULL;
    CREATE INDEX incidents_by_text
        ON incidents (site, time, number, zone, state, priority, is_open, disposition, root, text)
        WHERE text IS NOT NULL;
    """,
    # by kind and number, since newest events of a kind are asked for; the commands for an incident without the others
    f"""
    DROP INDEX events_by_kind;
    CREATE INDEX events_by_kind ON events (kind);
    CREATE INDEX events_by_target ON events ({TARGET}) WHERE kind GLOB 'operator.*';
    DROP INDEX events_of_people;
    CREATE INDEX events_of_people ON events (number) WHERE {OF_PEOPLE};
    """,
)
VERSION = len(MIGRATIONS)


def connect(
    path: Path,
    *,
    is_writer: bool = False,
    is_alone: bool = False,
    may_create: bool = True,
    wait_s: float = LOCK_WAIT_S,
) -> sqlite3.Connection:
    """Return a connection that waits for locks and leaves transactions to the caller.

    A writer creates a file that is missing, unless it may not: who leaves a command does not make a journal. A file
    that a writer creates may be opened by its owner alone. A reader that is alone keeps everybody else out, and
    needs no file of shared memory, which a full disk has no room for.
    """
    mode = "rwc" if is_writer and may_create else "rw" if is_writer or is_alone else "ro"
    if is_writer and may_create:
        make_private_file(path)
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=wait_s,
    )
    try:
        if is_alone:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA query_only = ON")
        if is_writer:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()  # an open handle would keep a reader out that must be alone
        raise
    return connection


def versions(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return both copies of the journal's version, equal unless a bit has flipped; zero means a file without tables."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return version, application - APPLICATION_ID if application else 0


def refuse_newer(connection: sqlite3.Connection, path: Path) -> None:
    """Raise if a newer graphghha wrote this journal; a file whose two versions differ is damaged instead."""
    try:
        version, other = versions(connection)
    except (sqlite3.DatabaseError, UnicodeError):  # a message of SQLite may quote damaged bytes
        return
    if version == other > VERSION:
        raise JournalError(
            f"{path} was written by a newer graphghha (journal version {version}, this one reads up to {VERSION}); "
            "upgrade graphghha"
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to the present version."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        both = f"PRAGMA user_version = {number};PRAGMA application_id = {APPLICATION_ID + number}"
        connection.executescript(f"BEGIN IMMEDIATE;{script};{both};COMMIT;")


def checksum(number: int, site: str, time_ms: int, kind: str, body: str) -> int:
    """Return the checksum of one event: without it a flipped bit in a text would go unnoticed."""
    return zlib.crc32(f"{number}\x00{site}\x00{time_ms}\x00{kind}\x00{body}".encode())


def _has_its_columns(connection: sqlite3.Connection, version: int) -> bool:
    """Return whether every table has its columns: a flipped bit in a definition leaves all pages in order."""
    query = "SELECT name, type, pk FROM pragma_table_info(?)"
    with closing(sqlite3.connect(":memory:")) as model:
        for script in MIGRATIONS[:version]:
            model.executescript(script)
        tables = model.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return all(
            connection.execute(query, each).fetchall() == model.execute(query, each).fetchall() for each in tables
        )


def is_sound(connection: sqlite3.Connection) -> bool:
    """Return whether pages, indices and the checksums of all events are right."""
    try:
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            return False
        version, other = versions(connection)
        if version != other:
            return False
        if version == 0:
            return True
        (newer,) = connection.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('eras', 'hours')").fetchone()
        if newer != min(version, 3) - 1:  # versions 2 and 3 each brought one of these tables
            return False
        if not _has_its_columns(connection, version):
            return False
        columns = "number, site, time_ms, kind, body, checksum"
        return all(checksum(*event) == stored for *event, stored in connection.execute(f"SELECT {columns} FROM events"))
    except (sqlite3.DatabaseError, UnicodeError) as exc:
        if getattr(exc, "sqlite_errorcode", 0) & 0xFF in NOT_THE_FILE:
            raise
        return False


def may_pass(exc: Exception) -> bool:
    """Return whether an error is one of the disk or of another process, and may be over later."""
    if isinstance(exc, OSError):
        return exc.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE)
    return getattr(exc, "sqlite_errorcode", 0) & 0xFF in (*NOT_THE_FILE, sqlite3.SQLITE_IOERR)


def size_bytes(connection: sqlite3.Connection) -> int:
    """Return how much of the file is in use."""
    (pages,), (free,), (size,) = (
        connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
