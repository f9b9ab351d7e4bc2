"""Planned stops of a site: while one lasts, incidents of its zones are recorded and not announced. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from graphghha._util.text import encodable
from graphghha._util.times import iso
from graphghha.alarms.events import Event
from graphghha.errors import ConfigError, ConflictError, NotFoundError

MINUTE_MS = 60_000
MOST_MINUTES = 7 * 1440
MOST_STOPS = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """One planned stop. Times are plant time; `zones` None means the whole site."""

    version: int
    since_ms: int
    until_ms: int
    reason: str
    by: str
    zones: tuple[str, ...] | None = None

    def body(self) -> dict[str, Any]:
        """Return the stop as an event's body."""
        zones = None if self.zones is None else list(self.zones)
        times = {"since": iso(self.since_ms), "until": iso(self.until_ms)}
        return {"stop": self.version, **times, "reason": self.reason, "by": self.by, "zones": zones}


@dataclass(slots=True)
class PlannedStops:
    """The planned stops of one site that have begun and not ended."""

    current: list[Stop] = field(default_factory=list)
    last: int = 0  # version of the newest stop ever begun

    def covers(self, zone: str | None) -> bool:
        """Return whether incidents of this zone are not announced now."""
        return any(stop.zones is None or zone in stop.zones for stop in self.current)

    def begin(self, now_ms: int, minutes: int, reason: str, by: str, zones: Iterable[str] | None) -> Event:
        """Begin a stop and return its event; raise an error with the reason if it cannot be."""
        if type(minutes) is not int or not 1 <= minutes <= MOST_MINUTES:
            raise ConfigError(f"stop: {minutes!r} minutes must be 1 to {MOST_MINUTES}")
        if not isinstance(reason, str) or not reason.strip():
            raise ConfigError("stop: give a reason; it is recorded for the next shift")
        if len(self.current) >= MOST_STOPS:
            raise ConflictError(f"stop: {MOST_STOPS} planned stops are open; end some first")
        chosen = None if zones is None else tuple(encodable(str(zone)) for zone in zones)
        stop = Stop(
            version=self.last + 1,
            since_ms=now_ms,
            until_ms=now_ms + minutes * MINUTE_MS,
            reason=encodable(reason[:2000]),
            by=encodable(by[:100]),
            zones=chosen,
        )
        self.current, self.last = [*self.current, stop], stop.version
        return Event(now_ms, "stop.began", stop.body())

    def end(self, now_ms: int, version: int, by: str) -> Event:
        """End a stop before its time."""
        for stop in self.current:
            if stop.version == version:
                self.current = [other for other in self.current if other is not stop]
                return Event(now_ms, "stop.ended", stop.body() | {"by": by, "ended": iso(now_ms)})
        raise NotFoundError(f"there is no planned stop {version}; it may have ended")

    def expire(self, now_ms: int) -> list[Event]:
        """End the stops whose time is up."""
        over = [stop for stop in self.current if now_ms >= stop.until_ms]
        self.current = [stop for stop in self.current if now_ms < stop.until_ms]
        return [Event(now_ms, "stop.ended", stop.body() | {"by": "time", "ended": iso(now_ms)}) for stop in over]

    def to_list(self) -> list[Any]:
        """Return the stops as they are kept in a checkpoint: the newest version, then each stop."""
        return [self.last, *(asdict(stop) for stop in self.current)]

    @classmethod
    def from_list(cls, data: Iterable[Any]) -> Self:
        """Return the stops that `to_list` wrote."""
        last, *stops = list(data) or [0]
        return cls([_stop(stop) for stop in stops], last)


def _stop(data: Mapping[str, Any]) -> Stop:
    return Stop(**{**data, "zones": None if data["zones"] is None else tuple(data["zones"])})
