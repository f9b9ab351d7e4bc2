"""Readings in, calibrated class probabilities out: featurizer, engine and calibration of one model on one building.

r rows, p points, w windows, s nodes, c classes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.engine import Engine, EngineConfig
from graphghha.engine.explain import Gates
from graphghha.engine.per_zone import engine_for
from graphghha.errors import CheckpointError
from graphghha.graph import CpsGraph
from graphghha.models import Model
from graphghha.windows import Featurizer, Windows

BATCH_WINDOWS = 64
KNOWN_ANSWER_TOLERANCE = {"fp32": 1e-3, "fp16": 2e-2, "bf16": 5e-2}


@dataclass(frozen=True, slots=True)
class Scored:
    """Class probabilities of every node at some rows; NaN where a node is unknown."""

    rows: NDArray[np.int64]  # [w] row numbers, counted from the first row pushed
    probs: NDArray[np.float32]  # [w s c]
    windows: Windows | None = None  # what they were computed from

    @property
    def attack(self) -> NDArray[np.float32]:
        """[w s] P(attack) = 1 - P(normal)."""
        attack: NDArray[np.float32] = np.float32(1.0) - self.probs[..., 0]
        return attack


class Scorer:
    """One model on one building, fed with rows of readings in any portions."""

    def __init__(self, model: Model, graph: CpsGraph, engine: EngineConfig = EngineConfig()) -> None:
        check_known_answer(model, Engine.from_config(model, model.template, engine))
        self.engine = engine_for(model, graph, engine)
        self.featurizer = Featurizer(graph, model.template, model.preprocessing)
        self.calibration = model.calibration
        self._gates = Gates(model, graph)

    @property
    def num_nodes(self) -> int:
        return self.featurizer.graph.num_nodes

    @property
    def points(self) -> tuple[str, ...]:
        """Names of the columns that `push` takes."""
        return self.featurizer.points

    def push(self, values: NDArray[Any], fresh: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Scored:
        """Readings [r p] in SI, their freshness, and which rows to score."""
        return self.score(self.featurizer.push(values, fresh, wanted))

    def score(self, windows: Windows) -> Scored:
        """Score windows that its featurizer made: whoever needs the features too makes them once."""
        raw = [
            self.engine.score(windows.features[at : at + BATCH_WINDOWS], windows.known[at : at + BATCH_WINDOWS])
            for at in range(0, len(windows.rows), BATCH_WINDOWS)
        ]
        shape = (0, self.num_nodes, len(self.engine.classes))
        probs = self.calibration.recalibrate(np.concatenate(raw) if raw else np.empty(shape, np.float32))
        return Scored(windows.rows, probs, windows)

    def explain(self, scored: Scored, window: int, node: int) -> list[dict[str, Any]]:
        """Gates and strongest edges of a node in one of the windows just scored."""
        return self._gates.explain(scored.windows, window, node) if scored.windows else []


def check_known_answer(model: Model, engine: Engine) -> None:
    """The engine must give what the model gave when it was saved."""
    expected = model.known_answer["probabilities"]
    found = engine.score(model.known_answer["features"])
    worst = float(np.abs(found - expected).max())
    if not worst <= KNOWN_ANSWER_TOLERANCE[engine.dtype]:
        raise CheckpointError(
            f"the model does not give its known answer on the {engine.backend} backend in {engine.dtype}: "
            f"probabilities differ by up to {worst:.2g}"
        )
