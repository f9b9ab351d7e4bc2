"""Ground truth per node and minute, by simulating an attack-free twin of the same seed beside the attacked building.

A minute is *observable* when, in the mean of the last 30 minutes, some signal of the zone differs from the twin by more
than three times its noise. It is *recovering* when the attack is over, no other acts, and the zone is still observable.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from graphghha.plants.fcu.attacks.hooks import MINUTES, Day
from graphghha.plants.fcu.attacks.schedule import Event
from graphghha.plants.fcu.physics.building import Building, DayChunk
from graphghha.plants.fcu.signals import NOISE, NUM_SIGNALS, SOURCE_SCALE
from graphghha.plants.fcu.topology import TEMPLATE

WINDOW_MIN = 30
NOISE_TIMES = 3.0
# The data set keeps two decimals of its own units. What differs by less than that rounding cannot be seen in it, so
# the rounding is the noise of a signal without noise (commands, setpoints, modes).
ROUNDING_NOISE: NDArray[np.float64] = 0.01 / np.sqrt(12.0) * SOURCE_SCALE
VISIBLE: NDArray[np.float64] = NOISE_TIMES * np.maximum(NOISE, ROUNDING_NOISE)

Bools = NDArray[np.bool_]
Zones = Mapping[int, NDArray[np.float64]]  # zone -> [minutes, signals]


@dataclass(frozen=True, slots=True)
class LabelRows:
    """The label rows of one day, attacked or recovering, sorted by time, zone and node."""

    times: NDArray[np.datetime64]
    zones: NDArray[np.int64]  # zone number
    nodes: NDArray[np.int64]  # index into the template
    events: NDArray[np.int64]  # index into the events of the run
    active: Bools
    observable: Bools
    recovering: Bools

    def __len__(self) -> int:
        return len(self.times)


@dataclass(slots=True)
class EventTally:
    """How many minutes one event was active, observable and recovering."""

    active_min: int = 0
    observable_min: int = 0
    recovering_min: int = 0
    first_observable: np.datetime64 | None = None


@dataclass(slots=True)
class Labeller:
    """Turns the telemetry of a day and of its twin into label rows, and keeps the last half hour for the next day."""

    events: Sequence[Event]
    visible: NDArray[np.float64] = field(default_factory=lambda: VISIBLE)  # [signals] or [zones, signals]
    tallies: list[EventTally] = field(init=False)
    _takeovers: list[datetime | None] = field(init=False)  # when another event of the zone begins to act
    _tails: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tallies = [EventTally() for _ in self.events]
        by_zone: dict[int, list[Event]] = {}
        for event in self.events:
            by_zone.setdefault(event.zone, []).append(event)
        self._takeovers = [_takeover(event, by_zone[event.zone]) for event in self.events]

    def label(self, day: Day, attacked: NDArray[np.float64], clean: NDArray[np.float64] | Zones) -> LabelRows:
        """Return the label rows of a day from its attacked and its clean telemetry, both [zones, minutes, signals].

        Of the clean one, the attacked zones are enough.
        """
        times, tomorrow = day.times, day.start + timedelta(days=1)
        begun = [number for number, event in enumerate(self.events) if event.start < tomorrow]
        zones = {self.events[number].zone for number in begun}
        seen = {zone: self.observable_minutes(zone, attacked[zone] - clean[zone]) for zone in zones}
        parts = [np.empty((6, 0), np.int64)]
        for number in begun:
            event, until = self.events[number], self._takeovers[number]
            if until is not None and until <= day.start:
                continue
            observable = seen[event.zone]
            active, after = np.zeros(MINUTES, np.bool_), np.zeros(MINUTES, np.bool_)
            active[day.minutes(event.start, event.end)] = True
            if event.end is not None:
                after[day.minutes(event.end, until)] = True
            recovering = after & observable
            self._count(number, times, active, observable, recovering)
            minutes = np.flatnonzero(active | recovering)
            for name in event.row.info.targets:
                same = np.ones_like(minutes)
                keys = (minutes, event.zone * same, TEMPLATE.index(name) * same, number * same)
                parts.append(np.stack([*keys, active[minutes], observable[minutes]]))
        rows = np.concatenate(parts, axis=1)
        rows = rows[:, np.lexsort(rows[3::-1])]
        is_active, is_observable = rows[4].astype(np.bool_), rows[5].astype(np.bool_)
        return LabelRows(times[rows[0]], rows[1], rows[2], rows[3], is_active, is_observable, ~is_active)

    def observable_minutes(self, zone: int, difference: NDArray[np.float64]) -> Bools:
        """Return the observable minutes of a day; `difference` [minutes, signals] is attacked minus clean."""
        tail = self._tails.get(zone, np.zeros((WINDOW_MIN - 1, NUM_SIGNALS)))
        longer = np.concatenate([tail, difference])
        self._tails[zone] = longer[-(WINDOW_MIN - 1) :]
        # shifted sums: a missing reading affects its own half hour only, unlike in a running sum
        total: NDArray[np.float64] = longer[:MINUTES].copy()
        for shift in range(1, WINDOW_MIN):
            total += longer[shift : shift + MINUTES]
        limits = self.visible if self.visible.ndim == 1 else self.visible[zone]
        observable: Bools = np.any(np.abs(total / WINDOW_MIN) > limits, axis=1)
        return observable

    def _count(self, number: int, times: NDArray[np.datetime64], active: Bools, observable: Bools, late: Bools) -> None:
        tally = self.tallies[number]
        both = active & observable
        tally.active_min += int(active.sum())
        tally.observable_min += int(both.sum())
        tally.recovering_min += int(late.sum())
        if tally.first_observable is None and both.any():
            tally.first_observable = times[int(np.argmax(both))]


def visible_differences(building: Building) -> NDArray[np.float64]:
    """Return the difference [zones, signals] that a reader of this building's telemetry can see in half an hour.

    A noisy sensor, a coarse resolution and a dead band hide small differences; a point the site lacks hides all.
    """
    spread = np.maximum(ROUNDING_NOISE, building.design.reporting.uncertainty())
    return NOISE_TIMES * np.stack([np.maximum(sensors.sigmas, spread) for sensors in building.sensors])


def _takeover(event: Event, beside: Sequence[Event]) -> datetime | None:
    """Return when another event of the zone first acts after the end of this one, or None if none does."""
    end = event.end
    if end is None:
        return None
    return min((max(other.start, end) for other in beside if other.overlaps(end, None)), default=None)


def labelled_days(building: Building, labeller: Labeller, count: int) -> Iterator[tuple[DayChunk, LabelRows | None]]:
    """Simulate an attacked building day by day, and its twin from the day of the first onset, with their labels."""
    first = min((event.start for event in labeller.events), default=None)
    attacked = sorted({event.zone for event in labeller.events})
    twin: Building | None = None
    for _ in range(count):
        day_end = building.start + timedelta(days=building.next_day + 1)
        if twin is None and first is not None and first < day_end:
            twin = building.twin()
        # a day of a large building is large: never hold two of them in memory
        clean = None if twin is None else _only(attacked, twin.step().telemetry)
        chunk = building.step()
        yield chunk, None if clean is None else labeller.label(chunk.day, chunk.telemetry, clean)
        del chunk


def _only(zones: Sequence[int], telemetry: NDArray[np.float64]) -> Zones:
    return {zone: telemetry[zone].copy() for zone in zones}
