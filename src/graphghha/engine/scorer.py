"""The scorer: featurizer, engine and calibration of one model on one building.

r rows, p points, w windows, s nodes, c classes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import UNCLASSIFIED
from graphghha.engine.engine import Engine, EngineConfig
from graphghha.engine.explain import Explainer
from graphghha.engine.per_zone import engine_for
from graphghha.errors import CheckpointError
from graphghha.graph import CpsGraph
from graphghha.models import Model
from graphghha.windows import Featurizer, Windows

BATCH_WINDOWS = 64
KNOWN_ANSWER_TOLERANCE = {"fp32": 1e-3, "fp16": 2e-2, "bf16": 5e-2}


@dataclass(frozen=True, slots=True)
class Scored:
    """Class probabilities of every node at the wanted rows; NaN where a node is unknown."""

    rows: NDArray[np.int64]  # [w] row numbers, counted from the first row pushed
    probs: NDArray[np.float32]  # [w s c]
    windows: Windows | None = None  # what they were computed from

    @property
    def attack(self) -> NDArray[np.float32]:
        """P(attack) = 1 - P(normal), [w s]."""
        attack: NDArray[np.float32] = np.float32(1.0) - self.probs[..., 0]
        return attack


class Scorer:
    """Turns rows of readings into calibrated class probabilities. Rows may come in portions of any size."""

    def __init__(self, model: Model, graph: CpsGraph, engine: EngineConfig = EngineConfig()) -> None:
        check_known_answer(model, Engine.from_config(model, model.template, engine))
        self.engine = engine_for(model, graph, engine)
        self.featurizer = Featurizer(graph, model.template, model.node_preprocessing)
        self.calibration = model.calibration
        self._explainer = Explainer(model, graph)

    @property
    def num_nodes(self) -> int:
        """The number of nodes of the building."""
        return self.featurizer.graph.num_nodes

    @property
    def points(self) -> tuple[str, ...]:
        """The names of the columns that `push` takes."""
        return self.featurizer.points

    def push(self, values: NDArray[Any], fresh: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Scored:
        """Take readings [r p] in SI units and their freshness; return the scores of the wanted rows [r]."""
        return self.score(self.featurizer.push(values, fresh, wanted))

    def score(self, windows: Windows) -> Scored:
        """Return the scores of windows that the scorer's featurizer made."""
        raw = [
            self.engine.score(windows.features[at : at + BATCH_WINDOWS], windows.known[at : at + BATCH_WINDOWS])
            for at in range(0, len(windows.rows), BATCH_WINDOWS)
        ]
        shape = (0, self.num_nodes, len(self.engine.classes))
        probs = self.calibration.recalibrate(np.concatenate(raw) if raw else np.empty(shape, np.float32))
        return Scored(windows.rows, probs, windows)

    def explain(self, scored: Scored, window: int, node: int) -> list[dict[str, Any]]:
        """Return the gates and strongest edges of a node in one of the scored windows, as evidence of an incident."""
        return self._explainer.explain(scored.windows, window, node) if scored.windows else []

    def rehearse(self) -> list[dict[str, Any]]:
        """Load what `explain` needs and use it once."""
        return self._explainer.rehearse()


def leading_class(probs: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the likeliest attack class of scores [.. c]; UNCLASSIFIED where all are equally likely."""
    attacks = probs[..., 1:]
    return np.where((attacks == attacks[..., :1]).all(axis=-1), UNCLASSIFIED, 1 + attacks.argmax(axis=-1))


def check_known_answer(model: Model, engine: Engine) -> None:
    """Raise CheckpointError if the engine does not give the probabilities that were saved with the model."""
    expected = model.known_answer["probabilities"]
    worst = float(np.abs(engine.score(model.known_answer["features"]) - expected).max())
    if not worst <= KNOWN_ANSWER_TOLERANCE[engine.dtype]:
        raise CheckpointError(
            f"the model does not give its known answer on the {engine.backend} backend in {engine.dtype}: "
            f"probabilities differ by up to {worst:.2g}"
        )
