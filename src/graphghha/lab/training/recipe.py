"""The recipe of a training: which buildings are simulated, how they are sampled, and how the network is fitted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from graphghha.lab.runs import Run, Schedule, attacked_run
from graphghha.lab.training.fit import FitConfig

FIRST_DAY = datetime(2018, 1, 1)

# each purpose has its own range of seeds, so that no building is used twice
NORMAL, ATTACKED, VALIDATION = 1, 2, 3
SELECTION = 500  # the number of the first validation building for choosing weights; those below are for calibration

NOT_DATA = ("adu", "fit", "workers")  # settings of a recipe that do not change its windows


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """Everything that decides a trained network, apart from the package version."""

    plant: str = "fcu"
    seed: int = 0
    zones: int = 12
    normal_runs: int = 24  # many short runs instead of few long ones, since every building has other zones and weather
    normal_days: int = 33
    attacked_runs: int = 36
    attacked_days: int = 33
    validation_runs: int = 4
    validation_days: int = 16
    stride_min: int = 20
    extra_at_onset: int = 4
    keep_zones: int = 6  # zones kept of every window
    expectation_rows_per_day: int = 40
    # slowly growing attacks pass through all severities, which helps with those that training does not see
    schedule: Schedule = Schedule(mean_gap_days=2.0, ramp_share=0.5)
    fit: FitConfig = FitConfig()
    adu: dict[str, Any] = field(default_factory=dict)  # settings of the ADU
    workers: int = 2  # processes that simulate, and threads that train

    @classmethod
    def from_provenance(cls, provenance: Mapping[str, Any]) -> "Recipe":
        """Return the recipe of a model's training data; the settings of the network and its fit are left out."""
        stored = provenance.get("recipe", {})
        plain = {name: stored[name] for name in cls.__slots__ if name in stored and name not in (*NOT_DATA, "schedule")}
        return cls(**plain, schedule=Schedule(**stored["schedule"])) if stored else cls()

    def normal(self) -> list[Run]:
        """Return the buildings without attacks."""
        return self.runs(NORMAL, self.normal_runs, self.normal_days)

    def attacked(self, cases: Sequence[str]) -> list[Run]:
        """Return the buildings with attacks of these cases."""
        return self._attacked(self.runs(ATTACKED, self.attacked_runs, self.attacked_days), cases)

    def selection(self, cases: Sequence[str]) -> list[Run]:
        """Return the attacked buildings on which the best weights are chosen."""
        runs = self.runs(VALIDATION, self.validation_runs, self.validation_days, first=SELECTION)
        return self._attacked(runs, cases)

    def _attacked(self, runs: Sequence[Run], cases: Sequence[str]) -> list[Run]:
        return [attacked_run(run, cases, self.schedule) for run in runs]

    def runs(self, purpose: int, count: int, days: int, first: int = 0) -> list[Run]:
        """Return normal buildings for one purpose; their first days are spread over the year to cover all seasons."""
        return [
            Run(
                seed=1_000_000 * self.seed + 10_000 * purpose + first + number,
                start=FIRST_DAY + timedelta(days=15 + number * 365 // count),
                days=days,
                zones=self.zones,
            )
            for number in range(count)
        ]
