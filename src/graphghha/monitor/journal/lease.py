"""The right to write a journal, held by one process at a time; files and folders that only their owner may use."""

import logging
import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from graphghha.errors import ConflictError, JournalError

log = logging.getLogger(__name__)
RETRY_S = 0.2
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
_OTHERS = 0o077


class JournalBusyError(ConflictError):
    """Another process writes this journal."""


class Lease:
    """An exclusive lock on a file beside the journal, held as long as the process lives."""

    def __init__(self, journal: Path, wait_s: float = 0.0) -> None:
        """Take the lease, or raise `JournalBusyError` if it is not free within `wait_s`."""
        self._journal = journal
        self.path = journal.with_name(journal.name + ".lock")
        self._connection = self._awaited(wait_s)
        self._stat = os.stat(self.path)

    def close(self) -> None:
        """Let another process write the journal."""
        self._connection.close()

    def renew(self) -> None:
        """Take the lease again if its file was removed or replaced: somebody else could hold the new one."""
        if is_same_file(self.path, self._stat):
            return
        log.error("%s was removed or replaced while the monitor runs; taking the lease again", self.path)
        connection = self._take()
        self._connection.close()
        self._connection, self._stat = connection, os.stat(self.path)

    def _awaited(self, wait_s: float) -> sqlite3.Connection:
        """Return the lease as soon as it is free: after a restart the previous process may still be stopping."""
        until, is_logged = time.monotonic() + wait_s, False
        while True:
            try:
                return self._take()
            except JournalBusyError:
                if time.monotonic() >= until:
                    raise
            if not is_logged:
                log.warning("%s: another process writes this journal; waiting up to %g s", self._journal, wait_s)
                is_logged = True
            time.sleep(RETRY_S)

    def _take(self) -> sqlite3.Connection:
        try:
            make_private_folder(self.path.parent)
            make_private_file(self.path)
            lease = sqlite3.connect(self.path, isolation_level=None, timeout=0, check_same_thread=False)
        except (OSError, sqlite3.Error) as exc:
            raise JournalError(f"{self._journal}: the journal cannot be opened: {exc}") from exc
        try:
            lease.execute("PRAGMA locking_mode = EXCLUSIVE")
            lease.execute("PRAGMA journal_mode = MEMORY")  # nothing is written, so that a full disk does not matter
            lease.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as exc:
            lease.close()
            if "locked" in str(exc):
                raise JournalBusyError(
                    f"{self._journal}: another monitor writes this journal; stop it or use another state folder"
                ) from exc
            raise JournalError(f"{self._journal}: the journal cannot be opened: {exc}") from exc
        with suppress(OSError):  # a file of an earlier version may be open to everybody, who could then hold a lock
            self.path.chmod(PRIVATE_FILE)
        return lease


def is_same_file(path: Path, known: os.stat_result) -> bool:
    """Return whether a path still names the file it named before."""
    try:
        return os.path.samestat(os.stat(path), known)
    except FileNotFoundError:
        return False


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner may open; one that exists stays as it is."""
    folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file that only its owner may open; one that exists stays as it is."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))


def warn_if_open_to_others(path: Path) -> None:
    """Log a warning if other users may read or write a file or its folder."""
    for each in (path.parent, path):
        if (mode := each.stat().st_mode & _OTHERS) & 0o022:
            log.warning("%s may be written by other users (mode %03o); give it to one account alone", each, mode)
    if not path.parent.stat().st_mode & 0o005 or not path.stat().st_mode & 0o004:
        return
    log.warning("%s may be read by everybody on this machine; chmod 0600 it, or its folder 0700", path)
