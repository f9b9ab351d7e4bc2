"""Times as people and devices write them, as milliseconds since 1970 UTC."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST_MS = 631_152_000_000  # 1990: no reading of a living plant is older
LATEST_MS = 7_258_118_400_000  # 2200
_LONGEST = 40  # characters
_SECONDS_BELOW = 1e11  # numbers below are seconds, above milliseconds: 1973 in the one, the year 5138 in the other
_MILLISECOND = timedelta(milliseconds=1)


def parse_time_ms(value: object) -> int | None:
    """ISO 8601 (UTC where no zone is named) or a number since 1970; None for anything else."""
    if isinstance(value, str):
        return _of_text(value) if len(value) <= _LONGEST else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return round(value * 1000 if abs(value) < _SECONDS_BELOW else value)
    except (ValueError, OverflowError):  # not finite
        return None


@lru_cache(maxsize=4096)  # many readings share a time
def _of_text(text: str) -> int | None:
    try:
        time = datetime.fromisoformat(text)
        return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        return None


def iso(time_ms: int) -> str:
    """A time for people and JSON."""
    return (EPOCH + timedelta(milliseconds=time_ms)).isoformat(timespec="seconds").replace("+00:00", "Z")
