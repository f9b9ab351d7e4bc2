"""Names come from the plant, and a plant may be hostile: text that is safe to put on one line of a log."""

import re
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Control characters break lines, direction marks reorder what a reader sees, lone surrogates cannot be encoded.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_UNSAFE_BUT_NEWLINES = re.compile(_UNSAFE.pattern.replace(r"\x00-\x1f", r"\x00-\x09\x0b\x0c\x0e-\x1f"))


def clean(text: object, limit: int, *, keep_newlines: bool = False) -> str:
    """At most `limit` characters without anything that acts on the reader; right-to-left letters stay."""
    shown = (_UNSAFE_BUT_NEWLINES if keep_newlines else _UNSAFE).sub("\ufffd", str(text))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def utc(time_ms: int) -> str:
    """RFC 3339 with milliseconds."""
    return (EPOCH + timedelta(milliseconds=time_ms)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_ms(text: object) -> int | None:
    """Milliseconds of an RFC 3339 time, None when it is none."""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
