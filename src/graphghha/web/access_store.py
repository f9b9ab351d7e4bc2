"""People, tokens and sessions in a file of their own. Secrets are stored as hashes only."""

import hashlib
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphghha.errors import BusyError, ConfigError, ConflictError, EngineError, JournalError, NotFoundError
from graphghha.monitor.journal.lease import is_same_file, make_private_file, make_private_folder
from graphghha.web.roles import ROLES

DAY_MS = 86_400_000
ONCE_MS = 600_000  # how long the token of a printed address works
LEAST_PASSWORD = 12
MOST_SESSIONS = 1_000
MOST_HASHING, HASHING_S = 4, 5.0  # passwords at once, since each takes 64 MB; how long further ones wait
LOCAL = "local"
_TABLES = """
CREATE TABLE IF NOT EXISTS people (
    name TEXT PRIMARY KEY, role TEXT NOT NULL, sites TEXT, hash TEXT NOT NULL, created_ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, sites TEXT, hash TEXT NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL, used_ms INTEGER
);
CREATE TABLE IF NOT EXISTS sessions (
    hash TEXT PRIMARY KEY, id TEXT NOT NULL, person TEXT NOT NULL, role TEXT NOT NULL, sites TEXT,
    kind TEXT NOT NULL, expires_ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS once (hash TEXT PRIMARY KEY, expires_ms INTEGER NOT NULL);
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """Who asks."""

    person: str
    role: str
    kind: str  # login | token | local
    id: str  # of the token or session; not a secret
    sites: tuple[str, ...] | None = None  # None: all
    expires_ms: int | None = None

    def may_see(self, site: str) -> bool:
        return self.sites is None or site in self.sites


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenInfo:
    """A token without its secret."""

    id: str
    name: str
    role: str
    sites: tuple[str, ...] | None
    created_ms: int
    expires_ms: int
    used_ms: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonInfo:
    """A person without the password."""

    name: str
    role: str
    sites: tuple[str, ...] | None
    created_ms: int


class AccessStore:
    """The file of people, tokens and sessions. May be used from any thread."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._hashing = threading.BoundedSemaphore(MOST_HASHING)
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            make_private_folder(self._path.parent)
            make_private_file(self._path)
            connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=5.0)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_TABLES)
            self._file = os.stat(self._path)
        except (OSError, sqlite3.Error) as exc:
            raise JournalError(f"{self._path}: the file of people and tokens cannot be opened: {exc}") from exc
        return connection

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def has_people(self) -> bool:
        """Return whether anybody can log in."""
        return bool(self._all("SELECT 1 FROM people LIMIT 1"))

    def add_person(self, name: str, password: str, role: str, sites: Sequence[str] | None = None) -> PersonInfo:
        """Add a person, or replace password, role and sites; their sessions end."""
        _check_role(role)
        if not name or len(name) > 64:
            raise ConfigError("a name has 1 to 64 characters")
        if len(password) < LEAST_PASSWORD:
            raise ConfigError(f"a password has at least {LEAST_PASSWORD} characters")
        if name == LOCAL:
            raise ConfigError(f"{LOCAL!r} is the person of a printed address; choose another name")
        admins = [person.name for person in self.people() if person.role == "admin"]
        if admins == [name] and role != "admin":
            raise ConflictError(f"{name!r} is the last admin; add another one first")
        now_ms = _now_ms()
        self._all(
            "INSERT INTO people VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET role = excluded.role, "
            "sites = excluded.sites, hash = excluded.hash",
            *(name, role, _packed(sites), _hasher().hash(password), now_ms),
        )
        self._all("DELETE FROM sessions WHERE person = ?", name)
        return next(person for person in self.people() if person.name == name)

    def remove_person(self, name: str) -> None:
        """Remove a person and end their sessions; the last admin stays."""
        people = {person.name: person for person in self.people()}
        if name not in people:
            raise NotFoundError(f"there is no person {name!r}")
        others = [person for person in people.values() if person.name != name]
        if others and people[name].role == "admin" and not any(person.role == "admin" for person in others):
            raise ConflictError(f"{name!r} is the last admin; add another one first")
        self._all("DELETE FROM people WHERE name = ?", name)
        self._all("DELETE FROM sessions WHERE person = ?", name)

    def people(self) -> list[PersonInfo]:
        """Return everybody who may log in."""
        rows = self._all("SELECT name, role, sites, created_ms FROM people ORDER BY name")
        return [PersonInfo(name=a, role=b, sites=_unpacked(c), created_ms=d) for a, b, c, d in rows]

    def check_password(self, name: str, password: str) -> PersonInfo | None:
        """Return the person if the password is right. An unknown name takes as long as a wrong password."""
        rows = self._all("SELECT hash FROM people WHERE name = ?", name)
        stored = rows[0][0] if rows else _DECOY
        if not self._hashing.acquire(timeout=HASHING_S):
            raise BusyError("many people log in at this moment; try again", retry_after_s=int(HASHING_S))
        try:
            is_right = _verify(stored, password)
        finally:
            self._hashing.release()
        if not is_right or not rows:
            return None
        return next((person for person in self.people() if person.name == name), None)

    def begin_session(self, person: str, role: str, sites: Sequence[str] | None, kind: str, hours: float) -> str:
        """Return the secret of a new session."""
        secret, now_ms = secrets.token_urlsafe(32), _now_ms()
        self._all("DELETE FROM sessions WHERE expires_ms < ?", now_ms)
        oldest = "SELECT hash FROM sessions ORDER BY expires_ms DESC LIMIT -1 OFFSET ?"
        self._all(f"DELETE FROM sessions WHERE hash IN ({oldest})", MOST_SESSIONS)
        values = (_hash(secret), secrets.token_hex(4), person, role, _packed(sites), kind, now_ms + int(hours * 3.6e6))
        self._all("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)", *values)
        return secret

    def end_session(self, secret: str) -> None:
        self._all("DELETE FROM sessions WHERE hash = ?", _hash(secret))

    def session(self, secret: str) -> Identity | None:
        """Return who holds the secret of a session; None if it has ended."""
        columns = "person, role, sites, kind, id, expires_ms"
        for person, role, sites, kind, number, expires_ms in self._all(
            f"SELECT {columns} FROM sessions WHERE hash = ? AND expires_ms > ?", _hash(secret), _now_ms()
        ):
            return Identity(
                person=person, role=role, kind=kind, id=number, sites=_unpacked(sites), expires_ms=expires_ms
            )
        return None

    def add_token(self, name: str, role: str, sites: Sequence[str] | None, days: int) -> tuple[TokenInfo, str]:
        """Return a new token and its secret."""
        _check_role(role)
        secret, number, now_ms = f"gghha_{secrets.token_urlsafe(32)}", secrets.token_hex(4), _now_ms()
        values = (number, name, role, _packed(sites), _hash(secret), now_ms, now_ms + days * DAY_MS, None)
        self._all("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values)
        return next(token for token in self.tokens() if token.id == number), secret

    def remove_token(self, number: str) -> None:
        if not self._all("SELECT 1 FROM tokens WHERE id = ?", number):
            raise NotFoundError(f"there is no token {number!r}")
        self._all("DELETE FROM tokens WHERE id = ?", number)

    def tokens(self) -> list[TokenInfo]:
        """Return all tokens, expired ones too."""
        rows = self._all(
            "SELECT id, name, role, sites, created_ms, expires_ms, used_ms FROM tokens ORDER BY created_ms"
        )
        return [
            TokenInfo(id=a, name=b, role=c, sites=_unpacked(d), created_ms=e, expires_ms=f, used_ms=g)
            for a, b, c, d, e, f, g in rows
        ]

    def token(self, secret: str) -> Identity | None:
        """Return who holds the secret of a token; None if there is none or it has expired."""
        now_ms = _now_ms()
        query = "SELECT id, name, role, sites, expires_ms, used_ms FROM tokens WHERE hash = ? AND expires_ms > ?"
        for number, name, role, sites, expires_ms, used_ms in self._all(query, _hash(secret), now_ms):
            if now_ms - (used_ms or 0) > 60_000:
                with suppress(JournalError):  # a full disk keeps nobody out
                    self._all("UPDATE tokens SET used_ms = ? WHERE id = ?", now_ms, number)
            return Identity(
                person=name, role=role, kind="token", id=number, sites=_unpacked(sites), expires_ms=expires_ms
            )
        return None

    def make_once(self, *, is_further: bool = False) -> str:
        """Return a token that works once, for a printed address; earlier ones end, unless this is a further one."""
        secret = secrets.token_urlsafe(24)
        if not is_further:
            self._all("DELETE FROM once")
        self._all("INSERT INTO once VALUES (?, ?)", _hash(secret), _now_ms() + ONCE_MS)
        return secret

    def use_once(self, secret: str) -> bool:
        """Return whether a one-time token is right; from then on it is not."""
        query = "DELETE FROM once WHERE hash = ? AND expires_ms > ?"
        with self._connected() as connection:
            return connection.execute(query, (_hash(secret), _now_ms())).rowcount > 0

    def _all(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        with self._connected() as connection:
            return connection.execute(query, arguments).fetchall()

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection; a file that was removed or put back from a copy is opened again."""
        with self._lock:
            try:
                if not is_same_file(self._path, self._file):
                    self._connection.close()
                    self._connection = self._open()
                yield self._connection
            except (OSError, sqlite3.Error) as exc:
                raise JournalError(f"{self._path}: the file of people and tokens cannot be used: {exc}") from exc


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise ConfigError(f"role {role!r} must be one of {', '.join(ROLES)}")


def _hasher() -> Any:
    try:
        from argon2 import PasswordHasher
    except ImportError as exc:
        raise EngineError("passwords need argon2-cffi; run: pip install 'graphghha[serve]'") from exc
    return PasswordHasher()


def _verify(stored: str, password: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    with suppress(VerificationError, InvalidHashError):
        return bool(_hasher().verify(stored, password))
    return False


# the hash of a password that nobody knows, with the hasher's present cost
_DECOY = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$R1YyHwfcYpXv4Y0h5dJqv6b0c3m0sZ1m9jz0mJf6zLk"


def _hash(secret: str) -> str:
    """Return the hash of a random secret of 192 bits or more, which needs no salt and no slow function."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _packed(sites: Sequence[str] | None) -> str | None:
    return None if sites is None else json.dumps(list(sites))


def _unpacked(sites: str | None) -> tuple[str, ...] | None:
    return None if sites is None else tuple(json.loads(sites))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
