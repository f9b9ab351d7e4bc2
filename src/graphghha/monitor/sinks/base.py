"""What every sink is told, and what it must do.

The journal is the spool: a sink follows it with a cursor of its own, so nothing is produced twice, nothing is lost
while a sink is down, and a dead sink costs the scoring nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

# Events that no journal holds: how a monitor is, and what a sink will never see.
MONITOR = "monitor"  # their site, so no site of a plant may bear this name
HEARTBEAT, DROPPED = "monitor.heartbeat", "monitor.events_dropped"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the journal. `number` grows by one without gaps; (site, number) is the idempotency key."""

    number: int
    site: str
    time_ms: int  # plant time
    kind: str  # "incident.annunciated", "incident.closed", "alarm.raised", "source.lost", ...
    body: Mapping[str, Any]  # JSON; an incident as in the public contract

    @property
    def key(self) -> str:
        return f"{self.site}:{self.number}"


class EventLog(Protocol):
    """The journal, as far as a sink sees it. Safe to call from a sink's thread."""

    def events_after(self, number: int, limit: int) -> list[Event]:
        """Events in order, those after `number` first."""

    def first_event_number(self) -> int:
        """The oldest event that retention has kept (1 when none was dropped)."""


class Sink(Protocol):
    """Delivers or raises `OSError`: whoever drives it tries again with back-off."""

    name: str

    def deliver(self, events: Sequence[Event]) -> None: ...

    def close(self) -> None: ...
