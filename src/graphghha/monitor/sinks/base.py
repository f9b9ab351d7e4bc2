"""The contract of a sink.

The journal is the queue: every sink follows it with a cursor of its own. So no event is lost while a sink is down, and
the scoring does not wait for it.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from graphghha.alarms import StoredEvent

# Events that are not in the journal: the monitor's own condition, and what a sink will never receive.
MONITOR = "monitor"  # the site of these events, so no site of a plant may have this name
HEARTBEAT, DROPPED = "monitor.heartbeat", "monitor.events_dropped"


class EventLog(Protocol):
    """The journal as far as a sink uses it. Safe to call from a sink's thread."""

    def events_after(self, number: int, limit: int) -> list[StoredEvent]:
        """Return events in order, starting after `number`."""

    def unwritten_after(self, number: int) -> list[StoredEvent]:
        """Return events of priority that are not in the journal yet, by numbers of their own, after `number`."""

    def first_event_number(self) -> int:
        """Return the number of the oldest event that retention has kept, 1 if none was dropped."""


class Sink(Protocol):
    """Delivers events, or raises `OSError` so that its follower tries again later."""

    name: str

    def deliver(self, events: Sequence[StoredEvent]) -> None:
        """Deliver all events in order; return only once the receiver has them."""

    def close(self) -> None:
        """Release connections and files; may be called more than once."""


@runtime_checkable
class Unconfirmed(Protocol):
    """What a sink may offer in addition, if its receivers do not say what they have read."""

    @property
    def first_unread(self) -> int | None:
        """Return the number of the oldest event of the journal that was sent and may not have been read."""
