"""Events: when and where a case acts, the checks of a run, and the attacks that carry the events out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from graphghha._util.suggest import did_you_mean
from graphghha.errors import ConfigError, NotFoundError
from graphghha.plants.base import SUSTAINED, CaseSpec
from graphghha.plants.fcu.attacks.catalog import REPLAY, ROWS, CatalogRow, replay_row
from graphghha.plants.fcu.attacks.effects import Attack, Span, find_replays, held_values
from graphghha.plants.fcu.attacks.generic import MECHANISMS, PREFIX, generic_row
from graphghha.plants.fcu.attacks.hooks import Day, DayHooks

ONE_DAY = timedelta(days=1)
# far enough from the ends of the calendar for the spin-up days before a run and the end of an event after it
FIRST_DAY, LAST_DAY = datetime(1900, 1, 1), datetime(2200, 1, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One case on one zone from its onset on; without a duration it lasts to the end of the run."""

    case: str
    zone: int  # 0-based
    start: datetime
    duration: timedelta | None = None
    ramp: timedelta = timedelta(0)
    on: tuple[str, ...] = ()  # the sensors of a `Replay`

    def __post_init__(self) -> None:
        if self.on and self.case != REPLAY:
            raise ConfigError(f"case {self.case}: on= chooses the sensors of a {REPLAY} only; this case has its own")
        _ = self.row, self.spec  # both raise: on unknown names and on impossible times

    @classmethod
    def from_spec(cls, spec: CaseSpec, zones: Sequence[str]) -> "Event":
        """Return the event that a specification describes in a building with these zone names."""
        return plan(
            spec.name, _zone_number(spec, zones), spec.start, duration=spec.duration, ramp=spec.ramp, on=spec.on
        )

    @property
    def row(self) -> CatalogRow:
        return replay_row(self.on) if self.case == REPLAY else case_row(self.case)

    @property
    def end(self) -> datetime | None:
        return None if self.duration is None else self.start + self.duration

    def span(self, day: Day) -> Span | None:
        """Return the part of this event that is on a day, or None."""
        minutes = day.minutes(self.start, self.end)
        if minutes.start >= minutes.stop:
            return None
        offset = (day.start - self.start).total_seconds() / 60.0
        elapsed = np.arange(minutes.start, minutes.stop) + offset
        ramp_min = self.ramp.total_seconds() / 60.0
        strength = np.minimum((elapsed + 1.0) / ramp_min, 1.0) if ramp_min > 0 else np.ones(len(elapsed))
        return Span(day, minutes, elapsed, strength)

    def overlaps(self, begin: datetime, end: datetime | None) -> bool:
        """Return whether this event acts at some time in [begin, end)."""
        return (self.end is None or self.end > begin) and (end is None or self.start < end)

    @property
    def spec(self) -> CaseSpec:
        """This event as a specification, without the duration and ramp that are the case's own."""
        duration = SUSTAINED if self.duration is None else self.duration
        return CaseSpec(
            name=self.case,
            zone=str(self.zone + 1),
            start=self.start,
            duration=None if self.duration == self.row.duration else duration,
            ramp=None if self.ramp == self.row.ramp else self.ramp,
            on=self.on,
        )

    def __str__(self) -> str:
        return str(self.spec)


class ScheduledAttack:
    """The attack of one event, which edits the hooks of its days and, for a replay, records a day before.

    `events` are those of the run: a replay does not record a day on which one of them acts.
    """

    def __init__(self, event: Event, events: Sequence[Event] = ()) -> None:
        self.event = event
        self._others = [other for other in events if other.zone == event.zone]
        self.attack: Attack = event.row.build()
        self._replays = find_replays(self.attack)
        for replay in self._replays:
            replay.zone = event.zone

    def apply(self, hooks: DayHooks, day: Day) -> None:
        if (span := self.event.span(day)) is not None:
            self.attack.edit(hooks.zone(self.event.zone), span)

    def observe(self, day: Day, telemetry: NDArray[np.float64]) -> None:
        if self._replays and can_record(self.event, day.start, self._others):
            for replay in self._replays:
                replay.observe(day, telemetry)


def schedule_attacks(events: Sequence[Event]) -> list[ScheduledAttack]:
    """Return the attacks of the events of a run."""
    return [ScheduledAttack(event, events) for event in events]


def can_record(event: Event, midnight: datetime, events: Sequence[Event]) -> bool:
    """Return whether a replay may record a day: it ends before the onset, and no event acts on the zone."""
    end = midnight + ONE_DAY
    return end <= event.start and not any(
        other.zone == event.zone and other.overlaps(midnight, end) for other in events
    )


def case_row(name: str) -> CatalogRow:
    """Return the row of a case, listed or generic, or raise an error that suggests the nearest name."""
    if name.startswith(PREFIX):
        return generic_row(name)
    if name not in ROWS and name in MECHANISMS:
        raise NotFoundError(
            f"no case is named {name!r}; as a generic attack it needs a seed: write {PREFIX}{name}:SEED, such as "
            f"{PREFIX}{name}:7, or take one of those that `graphghha cases` lists"
        )
    if name not in ROWS:
        hint = did_you_mean(name, (*ROWS, REPLAY)) or ";"
        raise NotFoundError(f"no case is named {name!r}{hint} `graphghha cases` lists all {len(ROWS)}")
    return ROWS[name]


def plan(
    case: str,
    zone: int,
    start: datetime,
    *,
    duration: timedelta | None = None,
    ramp: timedelta | None = None,
    on: tuple[str, ...] = (),
) -> Event:
    """Return an event with the case's own duration and ramp where none is given; zones count from 0."""
    event = Event(case=case, zone=zone, start=start, on=on)
    lasts = event.row.duration if duration is None else duration
    return replace(event, duration=None if lasts == SUSTAINED else lasts, ramp=event.row.ramp if ramp is None else ramp)


def check_run(start: datetime, days: int, seed: int) -> None:
    """Refuse a run with an impossible start, length or seed."""
    if days < 1:
        raise ConfigError(f"simulate: {days} days; simulate at least one")
    if seed < 0:
        raise ConfigError(f"simulate: seed {seed} is negative; use 0, 1, 2, ..")
    if not FIRST_DAY <= start < LAST_DAY or days > (LAST_DAY - start).days:
        raise ConfigError(
            f"simulate: {days} days from {start.date()} do not lie between {FIRST_DAY.date()} and {LAST_DAY.date()}"
        )


def check_events(events: Sequence[Event], start: datetime, end: datetime, num_zones: int) -> None:
    """Refuse events outside the run, replays without a clean day to record, and events that contradict each other."""
    by_zone: dict[int, list[Event]] = {}
    for event in events:
        by_zone.setdefault(event.zone, []).append(event)
        if not 0 <= event.zone < num_zones:
            raise NotFoundError(f"case {event}: the building has zones 1 to {num_zones}")
        if not start <= event.start < end:
            raise ConfigError(f"case {event}: starts outside the run, {start:%Y-%m-%dT%H:%M} to {end:%Y-%m-%dT%H:%M}")
    for zone_events in by_zone.values():
        for event in zone_events:
            midnights = [start + timedelta(days=number) for number in range((event.start - start).days)]
            if find_replays(event.row.build()) and not any(can_record(event, each, zone_events) for each in midnights):
                raise ConfigError(
                    f"case {event}: a replay needs a clean day first, a whole day of the run before its onset without "
                    "an attack in its zone; start it later"
                )
        _check_holds(zone_events)


def _check_holds(events: Sequence[Event]) -> None:
    """Refuse two attacks that hold one hook or reading of a zone at two values at the same time."""
    holds = [held_values(event.row.build()) for event in events]
    for (event, own), (other, others) in combinations(zip(events, holds, strict=True), 2):
        contradictions = [name for name in own.keys() & others.keys() if own[name] != others[name]]
        if contradictions and event.overlaps(other.start, other.end):
            raise ConfigError(
                f"cases {event} and {other}: both hold {min(contradictions)} at once; let one end before the other"
            )


def _zone_number(spec: CaseSpec, zones: Sequence[str]) -> int:
    """Return the position of a zone that is given by its name, or by its number counted from 1."""
    if spec.zone in zones:
        return list(zones).index(spec.zone)
    if spec.zone.isdecimal() and len(spec.zone) < 10 and 1 <= int(spec.zone) <= len(zones):
        return int(spec.zone) - 1
    raise NotFoundError(f"case {spec}: no zone {spec.zone!r}; use {zones[0]} to {zones[-1]}, or 1 to {len(zones)}")
