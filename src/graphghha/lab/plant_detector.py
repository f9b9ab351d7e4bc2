"""The detector of a plant of the user's own in Python, with the methods that users of scikit-learn expect."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha._util.suggest import did_you_mean
from graphghha.engine.own_scorer import OwnScorer
from graphghha.errors import ConfigError, DataError
from graphghha.exports.attack_labels import read_labels
from graphghha.exports.recordings import Recording, read_recordings
from graphghha.lab.training.own_train import OwnRecipe, fit_own_plant, parse_own_budget
from graphghha.models import check_destination
from graphghha.models.own import OwnModel, load_own_model, save_own_model
from graphghha.plants import Plant, load_plant

USUAL_BUDGET = 1.0  # false alarms a day
FEWEST_FALSE_ALARMS = 2.0  # in all normal data, from which a threshold can be estimated

Floats = NDArray[np.float64]
Data = Any  # a path, several paths, a table with named columns, or an array [rows signals]


class PlantDetector:
    """Learns what is normal in a plant, and says how unusual later rows are and which signal is to blame.

    `plant` is a plant, or the path of its plant.toml. Data are exported files, a table with named columns (such as a
    pandas frame), or an array whose columns are `signals`; the rows of a table or array are one step apart.
    `alert_budget` is as for `graphghha train`; without it one false alarm a day is accepted, or more if the normal data
    are too short for that.
    """

    offset_ = -1.0  # of `score_samples`: below it a row is in alarm

    def __init__(
        self,
        plant: Plant | str | Path,
        *,
        alert_budget: str | None = None,
        seed: int = 0,
        progress: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.plant = plant if isinstance(plant, Plant) else load_plant(Path(plant))
        if not self.plant.is_own:
            raise ConfigError(
                f"plant {self.plant.name!r} is built in; give a plant.toml, as `graphghha plant new` writes"
            )
        self.alert_budget, self.seed, self._progress = alert_budget, seed, progress
        self.model: OwnModel | None = None

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of the columns of an array."""
        return self.plant.template.points

    def fit(self, data: Data, y: None = None, *, labels: Path | str | None = None) -> Self:
        """Learn from normal data, and from the attacks in them that the file `labels` lists; `y` is not used."""
        budget = parse_own_budget(self.alert_budget) if self.alert_budget else None
        recordings = self._recordings(data)
        events = read_labels(Path(labels), recordings, self.plant) if labels else ()
        if budget is None:
            budget = self._usual_budget(recordings)
        recipe = OwnRecipe(budget_per_day=budget, seed=self.seed)
        self.model = fit_own_plant(self.plant, recordings, events, recipe, self._progress)
        return self

    def score_samples(self, data: Data) -> Floats:
        """Return a number for each row, the lower the more unusual, as in scikit-learn; at -1 is the threshold."""
        return np.concatenate([-each.scores / each.rule.threshold for each in self._scored(data)])

    def decision_function(self, data: Data) -> Floats:
        """Return `score_samples` above the threshold: negative rows are in alarm."""
        return self.score_samples(data) - self.offset_

    def predict(self, data: Data) -> NDArray[np.int64]:
        """Return -1 for rows in alarm and 1 for the others."""
        return np.where(self.decision_function(data) <= 0, -1, 1)

    def suspects(self, data: Data) -> list[str]:
        """Return for each row the node that is most likely to be attacked, if any is."""
        names = self.plant.template.names
        found = []
        for scorer in self._scored(data):
            highest = np.nan_to_num(scorer.attack, nan=-1.0)
            found += [names[at] for at in highest.argmax(axis=1).tolist()]
        return found

    def save(self, directory: Path | str, *, keep_data: bool = True) -> None:
        """Write the model directory that `graphghha score`, `evaluate` and `watch` take.

        It holds the readings that were learned from, unless told otherwise; without them it cannot learn on.
        """
        model = self._fitted()
        save_own_model(model if keep_data else replace(model, lessons=None), check_destination(Path(directory)))

    @classmethod
    def load(cls, directory: Path | str) -> Self:
        """Return a detector from a model directory."""
        model = load_own_model(Path(directory), with_lessons=True)
        detector = cls(model.plant)
        detector.model = model
        return detector

    def _fitted(self) -> OwnModel:
        if self.model is None:
            raise ConfigError("the detector has learned nothing yet; call fit with normal data first")
        return self.model

    def _scored(self, data: Data) -> list["_Scored"]:
        model = self._fitted()
        return [_Scored(model, each.values) for each in self._recordings(data)]

    def _recordings(self, data: Data) -> tuple[Recording, ...]:
        paths = [data] if isinstance(data, str | Path) else data
        if isinstance(paths, Sequence) and paths and all(isinstance(each, str | Path) for each in paths):
            recorded = read_recordings([Path(each) for each in paths], self.plant)
            for note in recorded.notes:
                self._progress(note)
            return recorded.recordings
        values = self._values(data)
        times = round(self.plant.step_s * 1000) * np.arange(len(values), dtype=np.int64)
        return (Recording("table", (), times, values),)

    def _values(self, data: Data) -> Floats:
        if (names := getattr(data, "columns", None)) is not None:
            known = list(map(str, names))
            if missing := [name for name in self.signals if name not in known]:
                raise DataError(f"the table has no column {missing[0]!r}{did_you_mean(missing[0], known)}")
            return np.column_stack([np.asarray(data[name], np.float64) for name in self.signals])
        values = np.asarray(data, np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.signals):
            raise DataError(
                f"an array of the shape {values.shape} does not fit; give [rows, {len(self.signals)}] with the columns "
                f"{', '.join(self.signals[:4])} .. (`signals`)"
            )
        return values

    def _usual_budget(self, recordings: Sequence[Recording]) -> float:
        days = sum(len(each.times_ms) for each in recordings) * self.plant.step_s / 86_400
        budget = max(USUAL_BUDGET, float(np.ceil(10 * FEWEST_FALSE_ALARMS / max(days, 1e-9)) / 10))
        if budget > USUAL_BUDGET:
            self._progress(
                f"{days * 24:.1f} normal hours are few for a threshold at {USUAL_BUDGET:g} false alarm a day: the "
                f"alert budget is {budget:g}/day. State another one, or give more normal data"
            )
        return budget


class _Scored:
    """The scores of one recording."""

    def __init__(self, model: OwnModel, values: Floats) -> None:
        scorer = OwnScorer(model)
        self.rule = model.rule
        self.attack = scorer.push(values, np.isfinite(values), np.ones(len(values), np.bool_)).attack
        self.scores = scorer.scores
