"""How far a sink has come in the journal, kept across crashes."""

import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path

from graphghha.monitor.sinks.base import Event, EventLog

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Position:
    """The last event a sink has taken. Its key and time tell a journal that was replaced from the one we followed."""

    number: int
    key: str
    time_ms: int

    @classmethod
    def of(cls, event: Event) -> "Position":
        return cls(event.number, event.key, event.time_ms)


class Cursor:
    """A position in a small file that is replaced as a whole: after a crash it holds the old position or the new."""

    def __init__(self, path: Path | None) -> None:
        """Without a path the position lives as long as the process."""
        self.path = path
        self.position = self._read()

    def move(self, position: Position) -> None:
        """Remember, first in memory, then durably: an unwritable file costs redelivery after a restart, no more."""
        self.position = position
        if self.path is None:
            return
        fresh = self.path.with_name(self.path.name + ".new")
        with open(fresh, "w", encoding="utf-8") as file:
            json.dump({"number": position.number, "key": position.key, "time_ms": position.time_ms}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _read(self) -> Position | None:
        if self.path is None or not self.path.exists():
            return None
        try:
            held = json.loads(self.path.read_text(encoding="utf-8"))
            return Position(int(held["number"]), str(held["key"]), int(held["time_ms"]))
        except (OSError, ValueError, KeyError, TypeError) as exc:
            logger.warning("%s is not readable (%s): delivery starts at the oldest event kept", self.path, exc)
            return None


def start_number(cursor: Cursor, log: EventLog) -> int:
    """The event to continue after: where the cursor stands, or the journal's begin if that journal is gone."""
    position, before_all = cursor.position, log.first_event_number() - 1
    if position is None:
        return before_all
    if position.number <= before_all:
        return position.number  # what lies between was dropped by retention; the follower reports it
    held = log.events_after(position.number - 1, 1)
    if held and Position.of(held[0]) == position:
        return position.number
    logger.warning("%s belongs to another journal: delivery starts at the oldest event kept", cursor.path)
    return before_all
