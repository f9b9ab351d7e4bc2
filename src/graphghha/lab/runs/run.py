"""Runs: one simulated building over some days, and random schedules of attacks on it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from graphghha.plants import CaseSpec, LabelledDay, Plant, load_testbed
from graphghha.windows import HISTORY_S, Span

DAY_MIN = 24 * 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What to simulate: one building over some days, and the attacks on it. A normal run has no attacks."""

    seed: int
    start: datetime
    days: int
    zones: int
    cases: tuple[CaseSpec, ...] = ()
    nominal: bool = False  # True: every zone is the reference unit
    condition: str = "reference"  # a building of the plant's testbed by name, or the seed of a random one
    observe: str = "bms"  # how its telemetry is reported

    @property
    def building(self) -> str:
        """The name of the building. Runs with the same seed share weather, zones and noise on all dates."""
        return f"seed {self.seed}"

    @property
    def source(self) -> str:
        """The name of this run's data for the leak check."""
        return f"{self.building}, {self.zones} zones, from {self.start:%Y-%m-%d}"

    def span(self, plant: Plant) -> Span:
        """Return all rows of this run, for the leak check."""
        return Span(self.source, 0, self.days * plant.steps_per_day)

    def simulate(self, plant: Plant) -> Iterator[LabelledDay]:
        """Simulate the run day by day, with labels."""
        return load_testbed(plant.name).run(
            zones=self.zones,
            days=self.days,
            start=self.start,
            seed=self.seed,
            cases=self.cases,
            nominal=self.nominal,
            building=self.condition,
            observe=self.observe,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """How often and for how long zones are attacked. Most attacks end within a day; some last for days."""

    mean_gap_days: float = 3.0
    shortest_min: int = 180
    longest_min: int = DAY_MIN
    lasting_share: float = 0.15  # share of attacks that last for days
    lasting_min: tuple[int, int] = (2 * DAY_MIN, 5 * DAY_MIN)
    rest_min: int = 720  # shortest pause between two attacks on one zone
    ramp_share: float = 0.0  # share of attacks that grow slowly; some never reach full strength


RAMP_OF_DURATION = (0.2, 2.5)


def attacked_run(run: Run, cases: Sequence[str], schedule: Schedule, *, warm_up_s: int = HISTORY_S) -> Run:
    """Return the run with attacks drawn from its seed; the first days, which fill the longest window, have none."""
    rng = np.random.default_rng([run.seed, 1])
    end = run.start + timedelta(days=run.days)
    specs = []
    for zone in range(run.zones):
        at = run.start + timedelta(seconds=warm_up_s)
        while True:
            at += timedelta(minutes=schedule.rest_min + int(rng.exponential(schedule.mean_gap_days * DAY_MIN)))
            is_lasting = rng.random() < schedule.lasting_share
            span = schedule.lasting_min if is_lasting else (schedule.shortest_min, schedule.longest_min)
            minutes = int(rng.integers(*span))
            if at + timedelta(minutes=minutes) > end:
                break
            case = cases[int(rng.integers(len(cases)))]
            duration = timedelta(minutes=minutes)
            spec = CaseSpec(name=case, zone=str(zone + 1), start=at, duration=duration)
            if schedule.ramp_share and rng.random() < schedule.ramp_share:
                ramp_min = int(minutes * rng.uniform(*RAMP_OF_DURATION))
                spec = replace(spec, ramp=timedelta(minutes=ramp_min))
            specs.append(spec)
            at += duration
    return replace(run, cases=tuple(specs))
