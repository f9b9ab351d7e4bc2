"""Random schedules of attacks, and which cases training never sees."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from graphghha.plants import CaseInfo, LabelledDay, Plant, load_testbed
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
    def building(self) -> str:
        """What decides weather, zones and noise, whatever the dates and the number of zones."""
        return f"seed {self.seed}"

    @property
    def source(self) -> str:
        """What decides the bytes of this run, for the leak check."""
        return f"{self.building}, {self.zones} zones, from {self.start:%Y-%m-%d}"

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
    ramp_share: float = 0.0  # of attacks that grow slowly, some so slowly that they never reach full strength


RAMP_OF_DURATION = (0.2, 2.5)


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
            spec = f"{case}@{zone + 1},start={at:%Y-%m-%dT%H:%M},for={minutes}m"
            if schedule.ramp_share and rng.random() < schedule.ramp_share:
                spec += f",ramp={int(minutes * rng.uniform(*RAMP_OF_DURATION))}m"
            specs.append(spec)
            at += timedelta(minutes=minutes)
    return replace(run, cases=tuple(specs))


@dataclass(frozen=True, slots=True)
class CaseSplit:
    """Cases for training; severities held out of it (their siblings are seen); whole cases held out."""

    seen: tuple[str, ...]
    unseen_severities: tuple[str, ...]
    unseen_cases: tuple[str, ...]


WHOLE_CASES_SHARE = 0.08


def split_cases(plant: Plant, seed: int = 0) -> CaseSplit:
    """One severity of every attack that comes in several, and a few whole attacks that come in one.

    Cases that differ in nothing but their duration go together: a schedule gives every attack a duration of its own.
    """
    cases = plant.cases
    chosen = {cases[name].attack for name in held_out_severities(cases, seed)}
    severities = tuple(sorted(name for name, case in cases.items() if case.attack in chosen))
    single = sorted(name for name, case in cases.items() if _is_alone(case, cases.values()))
    count = max(1, round(WHOLE_CASES_SHARE * len(cases)))
    rng = np.random.default_rng([seed, 2])
    whole = tuple(sorted(rng.permutation(single)[:count].tolist()))
    held = {*severities, *whole}
    return CaseSplit(tuple(name for name in cases if name not in held), severities, whole)


def _is_alone(case: CaseInfo, cases: Iterable[CaseInfo]) -> bool:
    """No other severity, no other duration and no look-alike of it is in the catalogue."""
    like = [c for c in cases if c.attack == case.attack or (c.family == case.family and c.targets == case.targets)]
    return like == [case] and not case.equivalent


def never_seen(plant: Plant, held_out: Sequence[str], seen: Sequence[str]) -> tuple[str, ...]:
    """Of the cases that were held out, those that training did not see under another name either."""
    attacks = {plant.cases[name].attack for name in seen if name in plant.cases}
    return tuple(name for name in held_out if name in plant.cases and plant.cases[name].attack not in attacks)
