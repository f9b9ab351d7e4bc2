"""Events as JSON lines in a file or on standard output."""

import json
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from graphghha._util.times import iso_ms
from graphghha.alarms import StoredEvent

log = logging.getLogger(__name__)

_TAIL_BYTES = 1 << 16


def event_json(event: StoredEvent) -> str:
    """Return the event as one line of ASCII, so that no name can break it."""
    fields: dict[str, Any] = {
        "key": event.key,
        "number": event.number,
        "site": event.site,
        "time": iso_ms(event.time_ms),
        "kind": event.kind,
        "body": dict(event.body),
    }
    return json.dumps(fields, allow_nan=False, separators=(",", ":"))


def _lines(events: Sequence[StoredEvent]) -> bytes:
    return "".join(event_json(event) + "\n" for event in events).encode("ascii")


class JsonLinesFile:
    """Appends to a file; copes with a crash in the middle of a line, a full disk and log rotation."""

    def __init__(self, name: str, path: Path, *, sync: bool = True) -> None:
        self.name, self._path, self._sync = name, path, sync
        self._file: int | None = None

    def deliver(self, events: Sequence[StoredEvent]) -> None:
        """Append the events; with `sync` they are on the disk on return."""
        data = _lines(events)
        file = self._opened()
        try:
            while data:
                data = data[os.write(file, data) :]
            if self._sync:
                os.fsync(file)
        except OSError:
            self.close()  # the next attempt opens the file again and removes the partial line
            raise

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _opened(self) -> int:
        if self._file is not None and self._was_rotated(self._file):
            self.close()
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)
            self._remove_partial_line(self._file)
        return self._file

    def _was_rotated(self, file: int) -> bool:
        try:
            named = os.stat(self._path)
        except FileNotFoundError:
            return True
        return not os.path.samestat(named, os.fstat(file))

    def _remove_partial_line(self, file: int) -> None:
        """Cut off an incomplete last line; its event was never counted as delivered and is written again."""
        size = end = os.fstat(file).st_size
        while end:
            begin = max(0, end - _TAIL_BYTES)
            newline = os.pread(file, end - begin, begin).rfind(b"\n")
            if newline >= 0:
                end = begin + newline + 1
                break
            end = begin
        if end < size:
            log.warning("%s: removed an incomplete last line of %d bytes", self._path, size - end)
            os.ftruncate(file, end)


class JsonLinesStdout:
    """Writes to standard output; calls `on_closed` when the reader has closed the pipe."""

    def __init__(self, name: str, on_closed: Callable[[], None]) -> None:
        self.name, self._on_closed = name, on_closed

    def deliver(self, events: Sequence[StoredEvent]) -> None:
        """Write the events."""
        try:
            _print(_lines(events))
        except BrokenPipeError:
            self._on_closed()
            raise

    def close(self) -> None:
        """Leave standard output open."""


def _print(data: bytes) -> None:
    """Write without Python's buffer: a stalled reader must not hold a lock that is needed to end the process."""
    try:
        file = sys.stdout.fileno()
    except OSError:  # not a file, as under a test runner
        sys.stdout.write(data.decode("ascii"))
        return
    while data:
        data = data[os.write(file, data) :]
