"""Logs of a service: JSON lines for machines, short lines on a terminal, without secrets in either."""

import json
import logging
import os
import re
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from queue import Full, Queue
from threading import Thread
from typing import IO, Literal

from graphghha._util.text import clean
from graphghha._util.times import iso_ms

Style = Literal["auto", "json", "text"]
MOST_WAITING = 10_000  # records
FLUSH_S = 1.0
LEVELS = ("debug", "info", "warning", "error")

_HIDDEN = "***"
_IN_ADDRESS = re.compile(r"(?<=://)([^/\s:@]*):([^/\s]*)@")
_NAMED = re.compile(r"""(?i)\b(password|passwd|secret|token|api_?key)(['"]?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&"']+)""")
_PLAIN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the text without known secrets, passwords in addresses, and values that are named like a secret."""
    for secret in secrets:
        text = text.replace(secret, _HIDDEN)
    text = _IN_ADDRESS.sub(rf"\1:{_HIDDEN}@", text)
    return _NAMED.sub(rf"\1\2{_HIDDEN}", text)


class JsonFormatter(logging.Formatter):
    """One JSON object per record: time, level, logger, message, the fields given as `extra`, and any traceback."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        fields: dict[str, object] = {
            "time": iso_ms(int(record.created * 1000)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields |= {name: value for name, value in record.__dict__.items() if name not in _PLAIN}
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return json.dumps({name: redact(str(value), self._secrets) for name, value in fields.items()})


class TextFormatter(logging.Formatter):
    """One short line per record, for a terminal."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", "%Y-%m-%d %H:%M:%S %Z")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line of text, followed by the traceback if it has one."""
        return clean(redact(super().format(record), self._secrets), keep_newlines=True)


class PatientHandler(logging.StreamHandler[IO[str]]):
    """Writes in a thread of its own, so that nobody waits for a stream that takes nothing, not even the end.

    While the stream is blocked, records are kept up to a bound; the rest is dropped and counted.
    """

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(stream)
        self._waiting: Queue[str] = Queue(MOST_WAITING)
        self._dropped = 0
        self._thread: Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Hand the record over to the thread."""
        try:
            line = self.format(record)
        except Exception:
            self.handleError(record)
            return
        if self._thread is None:
            self._thread = Thread(target=self._write, name="log", daemon=True)
            self._thread.start()
        try:
            self._waiting.put_nowait(line)
        except Full:
            self._dropped += 1

    def flush(self) -> None:
        """Wait until everything is written, but not for a stream that is blocked."""
        until = time.monotonic() + FLUSH_S
        while getattr(self, "_thread", None) and self._waiting.unfinished_tasks and time.monotonic() < until:
            time.sleep(0.01)

    def _write(self) -> None:
        while True:
            line = self._waiting.get()
            dropped, self._dropped = self._dropped, 0
            with suppress(OSError, ValueError):  # nobody reads the log any more
                if dropped:
                    _write_line(self.stream, f"{dropped} log records were dropped, because nobody took them")
                _write_line(self.stream, line)
            self._waiting.task_done()


def _write_line(stream: IO[str], line: str) -> None:
    """Write without Python's buffer: a blocked stream must not hold a lock that is needed to end the process."""
    data = f"{line}\n".encode(errors="replace")
    try:
        file = stream.fileno()
    except (OSError, AttributeError):  # not a file, as under a test runner
        stream.write(f"{line}\n")
        stream.flush()
        return
    while data:
        data = data[os.write(file, data) :]


def set_up_logs(
    level: str = "info", style: Style = "auto", *, secrets: Iterable[str] = (), stream: IO[str] | None = None
) -> None:
    """Send the package's logs to standard error; `auto` is text on a terminal and JSON elsewhere."""
    out = stream or sys.stderr
    # hiding short words would make the log unreadable and protect nothing
    hidden = tuple(secret for secret in secrets if len(secret) >= 4)
    is_text = style == "text" or (style == "auto" and out.isatty())
    handler = PatientHandler(out)
    handler.setFormatter(TextFormatter(hidden) if is_text else JsonFormatter(hidden))
    log = logging.getLogger("graphghha")
    log.handlers[:] = [handler]
    log.setLevel(level.upper())
    log.propagate = False
