"""Logs of a service: one JSON object per line for machines, short lines on a terminal, secrets in neither."""

import json
import logging
import re
import sys
import time
from collections.abc import Iterable
from typing import IO, Literal

Style = Literal["auto", "json", "text"]
LEVELS = ("debug", "info", "warning", "error")

_HIDDEN = "***"
_IN_ADDRESS = re.compile(r"(?<=://)([^/\s:@]*):([^/\s]*)@")
_NAMED = re.compile(r"""(?i)\b(password|passwd|secret|token|api_?key)(['"]?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&"']+)""")
_PLAIN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Without passwords: those we know, those in addresses, and whatever is named like one."""
    for secret in secrets:
        text = text.replace(secret, _HIDDEN)
    text = _IN_ADDRESS.sub(rf"\1:{_HIDDEN}@", text)
    return _NAMED.sub(rf"\1\2{_HIDDEN}", text)


class JsonFormatter(logging.Formatter):
    """Time, level, origin, message, the fields given as `extra`, and the traceback if any."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "time": f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields |= {name: value for name, value in record.__dict__.items() if name not in _PLAIN}
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        told = {name: redact(str(value), self._secrets) for name, value in fields.items()}
        return json.dumps(told)


class TextFormatter(logging.Formatter):
    """For people at a terminal."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record), self._secrets)


def set_up_logs(
    level: str = "info", style: Style = "auto", *, secrets: Iterable[str] = (), stream: IO[str] | None = None
) -> None:
    """Send the package's logs to standard error; `auto` is text on a terminal and JSON elsewhere."""
    out = stream or sys.stderr
    # short words would blacken half of the log without hiding anything
    hidden = tuple(secret for secret in secrets if len(secret) >= 4)
    is_text = style == "text" or (style == "auto" and out.isatty())
    handler = logging.StreamHandler(out)
    handler.setFormatter(TextFormatter(hidden) if is_text else JsonFormatter(hidden))
    logger = logging.getLogger("graphghha")
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
