"""The position of a sink in the journal, kept across crashes."""

import json
import logging
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from graphghha._util.files import atomic_write
from graphghha.alarms import StoredEvent
from graphghha.monitor.sinks.base import EventLog

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Position:
    """The last event that a sink has taken. Key and time show whether the journal is still the same one."""

    number: int
    key: str
    time_ms: int
    unread: int | None = field(default=None, compare=False)  # the oldest event that the receiver may not have read

    @classmethod
    def from_event(cls, event: StoredEvent) -> "Position":
        """Return the position after an event."""
        return cls(event.number, event.key, event.time_ms)


class Cursor:
    """A position in a small file; after a crash the file holds either the old position or the new one."""

    def __init__(self, path: Path | None) -> None:
        """Without a path the position is kept in memory only."""
        self.path = path
        self.position = self._read()

    def move(self, position: Position) -> None:
        """Set the position in memory, then in the file; if that fails, a restart delivers some events again."""
        self.position = position
        if self.path is not None:
            atomic_write(self.path, json.dumps(asdict(position)))

    def _read(self) -> Position | None:
        if self.path is None or not self.path.exists():
            return None
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            position = Position(int(stored["number"]), str(stored["key"]), int(stored["time_ms"]))
            unread = stored.get("unread")
            return position if unread is None else replace(position, unread=int(unread))
        except (OSError, ValueError, KeyError, TypeError) as exc:
            log.warning("%s cannot be read (%s); delivery starts at the oldest event kept", self.path, exc)
            return None


def start_number(cursor: Cursor, journal: EventLog) -> int:
    """Return the event to continue after: the cursor's, or the journal's beginning if it is another journal.

    What the receiver may not have read is delivered again.
    """
    position, before_all = cursor.position, journal.first_event_number() - 1
    if position is None:
        return before_all
    if position.number <= before_all:
        return position.number  # retention dropped the events in between; the follower reports that
    events = journal.events_after(position.number - 1, 1)
    if events and Position.from_event(events[0]) == position:
        again = position.number if position.unread is None else position.unread - 1
        return max(before_all, min(again, position.number))
    log.warning("%s belongs to another journal; delivery starts at the oldest event kept", cursor.path)
    return before_all
