"""Events: what happened at a site, before and after the journal has numbered it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. `kind` is `subject.what`, for example `alarm.raised`; the body is plain JSON."""

    time_ms: int  # plant time
    kind: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One event of the journal. `number` grows by one without gaps; site, number and era are the idempotency key."""

    number: int
    site: str
    time_ms: int  # plant time
    kind: str  # "incident.annunciated", "incident.closed", "alarm.raised", "source.lost", ...
    body: Mapping[str, Any]  # JSON; an incident as in the public contract
    era: str = field(default="", compare=False)  # of the process that wrote it: a restored backup begins another

    @property
    def key(self) -> str:
        """Return the idempotency key as text, `site:number:era`; events of version 0.1 have no era."""
        return f"{self.site}:{self.number}:{self.era}" if self.era else f"{self.site}:{self.number}"
