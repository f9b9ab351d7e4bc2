"""Times as milliseconds since 1970 UTC: written in ISO 8601 with a final Z, read in the forms that devices use."""

import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST = 40  # characters of a time
_SECONDS_BELOW = 1e11  # smaller numbers are seconds, others ms: this is 1973 in ms and 5138 in s
_MILLISECOND = timedelta(milliseconds=1)
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # the former also counts while the machine sleeps
_STEADY_BASE_NS = time.time_ns() - time.clock_gettime_ns(_STEADY)


def steady_ms() -> int:
    """Return the present time by the clock at the start of the process: setting the clock does not move it."""
    return (_STEADY_BASE_NS + time.clock_gettime_ns(_STEADY)) // 1_000_000


def iso(time_ms: int) -> str:
    """Return the time to the second, such as `2018-07-02T09:00:00Z`."""
    return _text(time_ms, "seconds")


def iso_ms(time_ms: int) -> str:
    """Return the time to the millisecond, such as `2018-07-02T09:00:00.000Z`."""
    return _text(time_ms, "milliseconds")


def _text(time_ms: int, precision: str) -> str:
    return (EPOCH + timedelta(milliseconds=time_ms)).isoformat(timespec=precision).replace("+00:00", "Z")


def parse_time_ms(value: object) -> int | None:
    """Read ISO 8601 (in UTC unless it names a zone) or a number since 1970; return None for anything else."""
    if isinstance(value, str):
        return _parse_text(value) if len(value) <= _LONGEST else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return round(value * 1000 if abs(value) < _SECONDS_BELOW else value)
    except (ValueError, OverflowError):  # not finite
        return None


@lru_cache(maxsize=4096)  # many readings share a time
def _parse_text(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
        return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        return None
