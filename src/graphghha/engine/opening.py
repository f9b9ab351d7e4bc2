"""Open the scorer that a model needs: one that judges every node alone, or one that judges zones."""

from graphghha.engine.engine import EngineConfig
from graphghha.engine.scorer import Scorer
from graphghha.engine.zone_scorer import SMOOTH_ROWS, ZoneScorer
from graphghha.graph import CpsGraph
from graphghha.models import Model
from graphghha.windows import REBUILD_ROWS
from graphghha.windows.evidence import REBUILD

AnyScorer = Scorer | ZoneScorer


def open_scorer(model: Model, graph: CpsGraph, engine: EngineConfig = EngineConfig()) -> AnyScorer:
    """Return a scorer of a model for a building."""
    return ZoneScorer(model, graph, engine) if model.judges_zones else Scorer(model, graph, engine)


def rebuild_rows(model: Model) -> int:
    """Return how many rows restore the scorer of a model to the last bit."""
    return REBUILD + SMOOTH_ROWS - 1 if model.judges_zones else REBUILD_ROWS
