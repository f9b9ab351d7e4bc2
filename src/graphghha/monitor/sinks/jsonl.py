"""Events as JSON lines in a file or on standard output."""

import json
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from graphghha.monitor.sinks.base import Event
from graphghha.monitor.sinks.text import utc

logger = logging.getLogger(__name__)

_TAIL = 1 << 16


def event_json(event: Event) -> str:
    """One line; ASCII only, so that no name can break it."""
    fields: dict[str, Any] = {
        "key": event.key,
        "number": event.number,
        "site": event.site,
        "time": utc(event.time_ms),
        "kind": event.kind,
        "body": dict(event.body),
    }
    return json.dumps(fields, allow_nan=False, separators=(",", ":"))


def _lines(events: Sequence[Event]) -> bytes:
    return "".join(event_json(event) + "\n" for event in events).encode("ascii")


class JsonLinesFile:
    """Appends; survives a crash in mid-line, a full disk and rotation under its feet."""

    def __init__(self, name: str, path: Path, *, sync: bool = True) -> None:
        self.name, self._path, self._sync = name, path, sync
        self._file: int | None = None

    def deliver(self, events: Sequence[Event]) -> None:
        data = _lines(events)
        file = self._opened()
        try:
            while data:
                data = data[os.write(file, data) :]
            if self._sync:
                os.fsync(file)
        except OSError:
            self.close()  # the next attempt opens again and cuts off the half that was written
            raise

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _opened(self) -> int:
        if self._file is not None and self._was_rotated(self._file):
            self.close()
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)
            self._heal(self._file)
        return self._file

    def _was_rotated(self, file: int) -> bool:
        try:
            named = os.stat(self._path)
        except FileNotFoundError:
            return True
        return not os.path.samestat(named, os.fstat(file))

    def _heal(self, file: int) -> None:
        """Cut off a last line without an end: its event was never counted as delivered and comes again."""
        size = end = os.fstat(file).st_size
        while end:
            begin = max(0, end - _TAIL)
            newline = os.pread(file, end - begin, begin).rfind(b"\n")
            if newline >= 0:
                end = begin + newline + 1
                break
            end = begin
        if end < size:
            logger.warning("%s: a torn last line of %d bytes was cut off", self._path, size - end)
            os.ftruncate(file, end)


class JsonLinesStdout:
    """For `--json`: when nobody reads any more, `on_closed` is called."""

    def __init__(self, name: str, on_closed: Callable[[], None]) -> None:
        self.name, self._on_closed = name, on_closed

    def deliver(self, events: Sequence[Event]) -> None:
        try:
            _print(_lines(events))
        except BrokenPipeError:
            self._on_closed()
            raise

    def close(self) -> None:
        pass


def _print(data: bytes) -> None:
    """Past Python's buffer: a reader that stands still must not hold a lock that the end of the process needs."""
    try:
        file = sys.stdout.fileno()
    except OSError:  # not a file, as under a test runner
        sys.stdout.write(data.decode("ascii"))
        return
    while data:
        data = data[os.write(file, data) :]
