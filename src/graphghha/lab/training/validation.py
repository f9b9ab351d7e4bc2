"""Validation buildings, on which the calibration and the alert budgets of models and baselines are found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.errors import ConfigError
from graphghha.lab.metrics import match_events
from graphghha.lab.runs import Recording, Run, Schedule, attacked_run
from graphghha.lab.training.recipe import VALIDATION, Recipe
from graphghha.windows import HISTORY_DAYS

NORMAL = 100  # the number of the first building without attacks


@dataclass(frozen=True, kw_only=True, slots=True)
class Validation:
    """Attacked buildings, with attacks as rare as in operation, and normal ones. Days include the warm-up."""

    attacked_runs: int = 10  # about a hundred attacks; with fewer, one long false alarm changes the calibration
    attacked_days: int = 13
    normal_runs: int = 4
    normal_days: int = 13
    schedule: Schedule = Schedule(mean_gap_days=10.0, lasting_share=0.1)

    def __post_init__(self) -> None:
        if min(self.attacked_days, self.normal_days) <= HISTORY_DAYS or min(self.attacked_runs, self.normal_runs) < 0:
            raise ConfigError(f"validation: the first {HISTORY_DAYS} days only fill the windows; give more days")

    @property
    def scored_days(self) -> int:
        """The days of all buildings without the warm-up."""
        attacked, normal = self.attacked_days - HISTORY_DAYS, self.normal_days - HISTORY_DAYS
        return self.attacked_runs * attacked + self.normal_runs * normal

    def enough_for(self, budget_per_day: float) -> "Validation":
        """Add normal buildings until the days suffice for an alert budget."""
        missing = 1 / budget_per_day - self.scored_days
        more = max(0, ceil(missing / (self.normal_days - HISTORY_DAYS)))
        return replace(self, normal_runs=self.normal_runs + more)

    def attacked(self, recipe: Recipe, cases: Sequence[str]) -> list[Run]:
        """Return the buildings with attacks of these cases."""
        runs = recipe.runs(VALIDATION, self.attacked_runs, self.attacked_days)
        return [attacked_run(run, cases, self.schedule) for run in runs]

    def normal(self, recipe: Recipe) -> list[Run]:
        """Return the buildings without attacks."""
        return recipe.runs(VALIDATION, self.normal_runs, self.normal_days, first=NORMAL)


def false_alarm_counter(recordings: Sequence[Recording], group: GroupRule) -> Callable[[AlarmRule], int]:
    """Return a function that counts the false alarms in the recordings under an alarm rule."""
    return lambda rule: sum(len(match_events(recording, rule, group).false_alarms) for recording in recordings)
