"""Times as text: milliseconds since 1970 in UTC, written in ISO 8601 with a final Z."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def iso(time_ms: int) -> str:
    """Return the time to the second, such as `2018-07-02T09:00:00Z`."""
    return _text(time_ms, "seconds")


def iso_ms(time_ms: int) -> str:
    """Return the time to the millisecond, such as `2018-07-02T09:00:00.000Z`."""
    return _text(time_ms, "milliseconds")


def _text(time_ms: int, precision: str) -> str:
    return (EPOCH + timedelta(milliseconds=time_ms)).isoformat(timespec=precision).replace("+00:00", "Z")
