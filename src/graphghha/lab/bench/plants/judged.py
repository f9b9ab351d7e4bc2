"""Baselines on the trials of a plant, with the alert budget of the detector, kept on normal rows they did not see."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from graphghha.exports.attack_labels import attacked_rows
from graphghha.exports.recordings import Recording
from graphghha.lab.baselines.plants import Judge, LabelledRows, PlantBaseline, fit_boosting
from graphghha.lab.bench.plants.trials import Trial
from graphghha.lab.evaluation.own_evaluate import Outcome
from graphghha.lab.training.own_threshold import budget_threshold
from graphghha.lab.training.own_train import NormalFit
from graphghha.windows.own_expectation import PARTS
from graphghha.windows.own_inputs import fill_forward
from graphghha.windows.own_scale import OwnScale

Floats = NDArray[np.float64]
# of normal rows that a baseline may be in alarm: it keeps the budget of alarms alone, which lets it find the most
MOST_IN_ALARM = 0.5
Fit = Callable[[Sequence[Floats]], Judge]
LABELLED_ROWS = 15_000


class BaselineDetector:
    """A fitted baseline with its threshold."""

    def __init__(self, fit: Fit, normal: NormalFit, budget_per_day: float, *, smooth: bool, always: bool) -> None:
        plan = normal.preprocessing.plan
        self._scale, self._graph = normal.preprocessing.scale, normal.plant.template
        self._smooth = plan.smooth * plan.stride if smooth else 1
        gap = 2 * plan.smooth * plan.stride
        scaled = [(readings(part.values, self._scale), part.member) for part in normal.parts]
        self._judge = fit([each for each, _ in scaled])
        self.threshold = 0.0
        if not always:
            held_out = []
            for member in range(PARTS):
                judge = fit([each for each, own in scaled if own != member])
                held_out += [self._score(judge(each)) for each, own in scaled if own == member]
            days = sum(map(len, held_out)) * plan.step_s / 86_400
            allowed = max(1, int(budget_per_day * days + 1e-9))
            self.threshold = budget_threshold(held_out, gap, allowed, most_in_alarm=MOST_IN_ALARM)

    def _score(self, unusual: Floats) -> Floats:
        highest = unusual.max(axis=1)
        return _running_mean(highest, self._smooth)

    def outcome(self, recordings: Sequence[Recording]) -> Outcome:
        """Return what the baseline says of recordings."""
        scores, places = [], []
        for recording in recordings:
            unusual = self._judge(readings(recording.values, self._scale))
            scores.append(self._score(unusual))
            by_node = np.full((len(unusual), self._graph.num_nodes), -1.0, np.float32)
            by_node[:, self._graph.signal_nodes] = unusual
            places.append(by_node)
        score = np.concatenate(scores)
        return Outcome(score, score > self.threshold, np.concatenate(places))


def fit_baseline(method: PlantBaseline, normal: NormalFit, budget_per_day: float, seed: int) -> BaselineDetector:
    """Return a baseline that keeps the budget on normal rows it did not see."""

    def fit(scaled: Sequence[Floats]) -> Judge:
        return method.fit(scaled, seed)

    return BaselineDetector(fit, normal, budget_per_day, smooth=method.is_smoothed, always=method.name == "always")


def fit_labelled(trial: Trial, normal: NormalFit, seed: int) -> BaselineDetector:
    """Return boosting on the labelled attacks of the trial."""
    assert trial.labelled is not None
    scale = normal.preprocessing.scale
    recordings, events = trial.labelled.recordings, trial.labelled.events
    scaled = np.concatenate([readings(each.values, scale) for each in recordings])
    attacked = np.concatenate([attacked_rows(each, n, events) for n, each in enumerate(recordings)])
    pick = np.random.default_rng(seed).permutation(len(scaled))[:LABELLED_ROWS]
    rows = LabelledRows(scaled[pick], attacked[pick])
    judge = fit_boosting([readings(part.values, scale) for part in normal.parts], rows, seed)
    # the rows that it learned from are few of the normal ones, so all of these set the threshold
    return BaselineDetector(lambda own: judge, normal, trial.budget_per_day, smooth=True, always=False)


def readings(values: Floats, scale: OwnScale) -> Floats:
    """Return scaled readings without holes."""
    scaled = scale(values)
    return fill_forward(scaled, np.isfinite(scaled), np.where(np.isfinite(scaled[0]), scaled[0], 0.0))


def _running_mean(values: Floats, rows: int) -> Floats:
    if rows <= 1:
        return values
    total = np.cumsum(np.concatenate([[0.0], values]))
    start = np.maximum(np.arange(1, len(values) + 1) - rows, 0)
    end = np.arange(1, len(values) + 1)
    return np.asarray((total[end] - total[start]) / (end - start))
