"""Validation buildings: what the calibration and the alert budgets are found on, the model's and its rivals' alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.errors import ConfigError
from graphghha.lab.metrics.card import judged
from graphghha.lab.runs.recording import Recording
from graphghha.lab.runs.run import Run, Schedule, attacked_run
from graphghha.lab.training.recipe import ROWS_PER_DAY, VALIDATION, Recipe
from graphghha.windows.features import HISTORY_ROWS
from graphghha.windows.provenance import Span

WARM_DAYS = -(-HISTORY_ROWS // ROWS_PER_DAY)
NORMAL = 100  # number of the first building without attacks


@dataclass(frozen=True, kw_only=True, slots=True)
class Validation:
    """Some buildings attacked as in life and some not. Days include the warm-up, which is not judged."""

    attacked_runs: int = 10  # a hundred attacks or so: with fewer, one long false alarm bends the calibration
    attacked_days: int = 13
    normal_runs: int = 4
    normal_days: int = 13
    schedule: Schedule = Schedule(mean_gap_days=10.0, lasting_share=0.1)

    def __post_init__(self) -> None:
        if min(self.attacked_days, self.normal_days) <= WARM_DAYS or min(self.attacked_runs, self.normal_runs) < 0:
            raise ConfigError(f"validation: the first {WARM_DAYS} days of a building fill the windows; give more days")

    @property
    def judged_days(self) -> int:
        return self.attacked_runs * (self.attacked_days - WARM_DAYS) + self.normal_runs * (self.normal_days - WARM_DAYS)

    def enough_for(self, budget_per_day: float) -> "Validation":
        """With normal buildings added until an alert budget can be told from none."""
        missing = 1 / budget_per_day - self.judged_days
        more = max(0, ceil(missing / (self.normal_days - WARM_DAYS)))
        return replace(self, normal_runs=self.normal_runs + more)

    def attacked(self, recipe: Recipe, cases: Sequence[str]) -> list[Run]:
        runs = recipe.runs(VALIDATION, self.attacked_runs, self.attacked_days)
        return [attacked_run(run, cases, self.schedule) for run in runs]

    def normal(self, recipe: Recipe) -> list[Run]:
        return recipe.runs(VALIDATION, self.normal_runs, self.normal_days, first=NORMAL)


def false_alarms(recordings: Sequence[Recording], group: GroupRule) -> Callable[[AlarmRule], int]:
    """How many incidents belong to no attack, as a function of the rule."""
    return lambda rule: sum(len(judged(recording, rule, group).false_alarms) for recording in recordings)


def spans(runs: Sequence[Run]) -> list[Span]:
    return [Span(run.source, 0, run.days * ROWS_PER_DAY) for run in runs]
