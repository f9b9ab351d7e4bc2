"""Random schedules of attacks, and which cases training never sees."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from graphghha.plants import LabelledDay, Plant, load_testbed
from graphghha.windows.features import HISTORY_ROWS
from graphghha.windows.split import held_out_severities


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One simulated building: what to simulate, and the attacks in it (none: a normal run)."""

    seed: int
    start: datetime
    days: int
    zones: int
    cases: tuple[str, ...] = ()
    nominal: bool = False  # all zones the reference unit

    @property
    def source(self) -> str:
        """What decides the bytes of this run, for the leak check."""
        return f"seed {self.seed}, {self.zones} zones, from {self.start:%Y-%m-%d}"

    def simulate(self, plant: Plant) -> Iterator[LabelledDay]:
        """Day by day, with the truth."""
        return load_testbed(plant.name).run(
            zones=self.zones,
            days=self.days,
            start=self.start,
            seed=self.seed,
            cases=self.cases,
            nominal=self.nominal,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """How often and how long zones are attacked. Most attacks end within a day, some last."""

    mean_gap_days: float = 3.0
    shortest_min: int = 180
    longest_min: int = 1440
    lasting_share: float = 0.15
    lasting_min: tuple[int, int] = (2 * 1440, 5 * 1440)
    rest_min: int = 720  # least pause between two attacks on one zone


def attacked_run(run: Run, cases: Sequence[str], schedule: Schedule) -> Run:
    """The run with attacks drawn from its seed. The first days stay clean: the longest window must fill."""
    rng = np.random.default_rng([run.seed, 1])
    end = run.start + timedelta(days=run.days)
    specs = []
    for zone in range(run.zones):
        at = run.start + timedelta(minutes=HISTORY_ROWS)
        while True:
            at += timedelta(minutes=schedule.rest_min + int(rng.exponential(schedule.mean_gap_days * 1440)))
            lasts = rng.random() < schedule.lasting_share
            span = schedule.lasting_min if lasts else (schedule.shortest_min, schedule.longest_min)
            minutes = int(rng.integers(*span))
            if at + timedelta(minutes=minutes) > end:
                break
            case = cases[int(rng.integers(len(cases)))]
            specs.append(f"{case}@{zone + 1},start={at:%Y-%m-%dT%H:%M},for={minutes}m")
            at += timedelta(minutes=minutes)
    return replace(run, cases=tuple(specs))


@dataclass(frozen=True, slots=True)
class CaseSplit:
    """Cases for training; severities held out of it (their siblings are seen); whole cases held out."""

    seen: tuple[str, ...]
    unseen_severities: tuple[str, ...]
    unseen_cases: tuple[str, ...]


# Held out whole: one of each kind of unpleasantness, none of them with a sibling in training.
WHOLE_CASES_SHARE = 0.08


def split_cases(plant: Plant, seed: int = 0) -> CaseSplit:
    """One severity of every attack that comes in several, and a few whole attacks that come in one."""
    severities = held_out_severities(plant.cases, seed)
    single = sorted(
        name
        for name, case in plant.cases.items()
        if sum(other.family == case.family and other.targets == case.targets for other in plant.cases.values()) == 1
    )
    count = max(1, round(WHOLE_CASES_SHARE * len(plant.cases)))
    rng = np.random.default_rng([seed, 2])
    whole = tuple(sorted(rng.permutation(single)[:count].tolist()))
    held = {*severities, *whole}
    return CaseSplit(tuple(name for name in plant.cases if name not in held), severities, whole)
