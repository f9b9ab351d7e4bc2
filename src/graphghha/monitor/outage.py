"""When a source that cannot be reached is reported: after some seconds, then at growing intervals."""

from dataclasses import dataclass

FIRST_S = 4.0  # a connection that is made within this time was never away
AGAIN_S, GROWTH, LONGEST_S = 60.0, 6.0, 86_400.0


@dataclass(slots=True)
class Outage:
    """Follows whether one source is connected. Times are seconds of a clock that cannot be set."""

    since: float | None = None  # when it was first seen without a connection
    reported: int = 0  # times
    _next: float = 0.0

    def look(self, is_connected: bool, now: float) -> str | None:
        """Return "lost" if the source is to be reported now, "found" once it is back after a report, else None."""
        if is_connected:
            was_reported, self.since, self.reported = self.reported, None, 0
            return "found" if was_reported else None
        if self.since is None:
            self.since, self._next = now, now + FIRST_S
        if now < self._next:
            return None
        self._next = now + min(AGAIN_S * GROWTH**self.reported, LONGEST_S)
        self.reported += 1
        return "lost"
