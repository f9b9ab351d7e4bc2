"""Things that happened, as they go into a journal."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Fact:
    """`kind` is `subject.what`; the body is plain JSON."""

    time_ms: int  # plant time
    kind: str
    body: dict[str, Any]


def iso(time_ms: int) -> str:
    """Plant time as people and machines read it, in UTC."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
