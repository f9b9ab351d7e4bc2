"""The recipe of a model that judges zones: random buildings, generic attacks, and how the networks are fitted."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np

from graphghha.errors import ConfigError
from graphghha.lab.runs import Run, Schedule, attacked_run, split_cases
from graphghha.lab.training.zone_fit import ZoneFitConfig
from graphghha.plants import Testbed, load_plant, load_testbed
from graphghha.windows.multiscale import DAY

FIRST_DAY = datetime(2018, 1, 1)
# each purpose has its own range of seeds, so that no building is used twice
EXPECTATION, LEVELS, ATTACKED, VALIDATION = 1, 2, 3, 4
PER_PURPOSE, PER_RECIPE = 100_000, 1_000_000
ZONES = (1, 2, 3, 6, 8, 10, 12)
ZONE_SHARES = (0.06, 0.06, 0.08, 0.15, 0.3, 0.15, 0.2)
USUAL_ZONES = 8  # of a building that is sampled at the stride; smaller ones may be sampled more densely
FEW_POINTS = 0.65  # a site with at most this share of the plant's signals has few points
CASES_DRAWN = 400  # generic attacks to choose from, per building
NOT_DATA = ("adu", "fit", "workers", "budget_per_day")  # settings that do not change the windows


@dataclass(frozen=True, kw_only=True)
class ZoneRecipe:
    """Everything that decides a model that judges zones, apart from the package version."""

    plant: str = "fcu"
    seed: int = 0
    expectation_buildings: int = 1000
    expectation_days: int = 5  # in each of two seasons
    expectation_rows_per_day: int = 24
    expectation_epochs: int = 14
    level_buildings: int = 120
    level_days: int = 6
    attacked_buildings: int = 260
    attacked_days: int = 7
    zone_shares: tuple[float, ...] = ZONE_SHARES  # of attacked and validation buildings, by their number of zones
    stride_min: int = 60
    least_stride_min: int = 60  # in small buildings, which have fewer windows at a time
    few_points_share: float = 0.3  # of the attacked buildings, besides those that have few points anyway
    later_share: float = 0.35  # of the attacked buildings: judged weeks or months after commissioning
    validation_buildings: int = 32
    validation_days: int = 8
    commissioning_days: int = 14
    budget_per_day: float = 0.1  # episodes that a site's own days may have, per 12 zones
    catalogue_share: float = 0.0  # of the attacks are cases of the catalogue, to see what knowing them is worth
    observe: str = "bms"  # how readings are reported; "ideal", to see how the model does where they are not
    without: tuple[str, ...] = ()  # mechanisms that are left out, to see how the model does on what it has not seen
    schedule: Schedule = Schedule(
        mean_gap_days=0.7,
        shortest_min=120,
        lasting_share=0.15,
        lasting_min=(1440, 3 * 1440),
        rest_min=120,
        ramp_share=0.4,
    )
    fit: ZoneFitConfig = ZoneFitConfig()
    adu: dict[str, Any] = field(default_factory=dict)  # settings of the ADU
    workers: int = 2  # processes that simulate, and threads that train

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 700:
            raise ConfigError(f"recipe: seed {self.seed} must be at least 0 and below 700")
        if unknown := [name for name in self.without if name not in self._testbed.mechanisms]:
            raise ConfigError(f"recipe: no mechanism is named {unknown[0]!r}")
        if len(self.zone_shares) != len(ZONES) or abs(sum(self.zone_shares) - 1) > 1e-9:
            raise ConfigError(f"recipe: zone_shares must be {len(ZONES)} numbers that add up to 1")

    def stride(self, zones: int) -> int:
        """Return the minutes between two windows of a building with so many zones."""
        return max(self.least_stride_min, min(self.stride_min, self.stride_min * zones // USUAL_ZONES))

    @cached_property
    def _testbed(self) -> Testbed:
        return load_testbed(self.plant)

    def normal(self, purpose: int, number: int) -> list[Run]:
        """Return one building without attacks, in two opposite seasons."""
        rng = self._random(purpose, number)
        first = int(rng.integers(365))
        one = self._run(purpose, number, days=self.expectation_days, zones=int(rng.choice(ZONES)), day=first)
        return [one, replace(one, start=FIRST_DAY + timedelta(days=(first + 182) % 365))]

    def level_run(self, number: int) -> Run:
        """Return a building without attacks, for the pooled levels."""
        rng = self._random(LEVELS, number)
        zones, day = int(rng.choice(ZONES)), int(rng.integers(365))
        return self._run(LEVELS, number, days=self.level_days, zones=zones, day=day)

    def attacked(self, number: int) -> tuple[Run, Run]:
        """Return the days a building is commissioned on, and later days under generic attacks."""
        rng = self._random(ATTACKED, number)
        zones, day = int(rng.choice(ZONES, p=self.zone_shares)), int(rng.integers(300))
        learned = int(rng.choice([self.commissioning_days, self.commissioning_days, 7, 4], p=[0.3, 0.3, 0.2, 0.2]))
        later = int(rng.integers(20, 150)) if rng.random() < self.later_share else 0
        building = self._building(ATTACKED, number, few_points=rng.random() < self.few_points_share)
        normal = self._run(ATTACKED, number, days=learned, zones=zones, day=day, building=building)
        judged = replace(normal, start=normal.start + timedelta(days=learned + later), days=self.attacked_days)
        return normal, attacked_run(judged, self.cases(rng), self.schedule, warm_up_s=DAY)

    def validation(self, number: int, schedule: Schedule) -> tuple[Run, Run]:
        """Return a commissioned building and days with attacks as rare as in operation."""
        rng = self._random(VALIDATION, number)
        zones, day = int(rng.choice(ZONES, p=self.zone_shares)), int(rng.integers(300))
        normal = self._run(VALIDATION, number, days=self.commissioning_days, zones=zones, day=day)
        start = normal.start + timedelta(days=self.commissioning_days)
        judged = replace(normal, start=start, days=self.validation_days + 3)
        return normal, attacked_run(judged, self.cases(rng), schedule)

    def cases(self, rng: np.random.Generator) -> tuple[str, ...]:
        """Draw attacks to choose from."""
        weights = {name: w for name, w in self._testbed.mechanisms.items() if name not in self.without}
        names, shares = list(weights), np.array(list(weights.values()))
        drawn = rng.choice(len(names), CASES_DRAWN, p=shares / shares.sum())
        generic = [f"generic:{names[at]}:{int(rng.integers(1 << 40))}" for at in drawn]
        if self.catalogue_share:
            plant = load_plant(self.plant)
            held_out = split_cases(plant).unseen_cases
            catalogue = [name for name in plant.cases if name not in held_out]
            listed = rng.random(CASES_DRAWN) < self.catalogue_share
            generic = [
                catalogue[int(rng.integers(len(catalogue)))] if use else name
                for name, use in zip(generic, listed, strict=True)
            ]
        return tuple(generic)

    @property
    def seeds(self) -> tuple[int, int]:
        """The range of the seeds of all its buildings, for the leak check."""
        return (self.seed + 1) * PER_RECIPE, (self.seed + 2) * PER_RECIPE

    def _random(self, purpose: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, purpose, number])

    def _seed(self, purpose: int, number: int) -> int:
        assert number < PER_PURPOSE
        return (self.seed + 1) * PER_RECIPE + purpose * PER_PURPOSE + number

    def _run(self, purpose: int, number: int, *, days: int, zones: int, day: int, building: str = "") -> Run:
        seed = self._seed(purpose, number)
        return Run(
            seed=seed,
            start=FIRST_DAY + timedelta(days=day),
            days=days,
            zones=zones,
            condition=building or self._building(purpose, number),
            observe=self.observe,
        )

    def _building(self, purpose: int, number: int, *, few_points: bool = False) -> str:
        """Return the name of a random building, if wanted the first of a series that has few points."""
        seed = self._seed(purpose, number)
        signals = len(load_plant(self.plant).signals)
        for step in range(1000 if few_points else 1):
            name = str(seed + 1_000_000_000 * step)
            if not few_points or len(self._testbed.points_of(name)) <= FEW_POINTS * signals:
                return name
        return str(seed)
