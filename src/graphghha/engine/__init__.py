"""A frozen model on a frozen graph, as fast as the machine allows."""

from typing import TYPE_CHECKING

from graphghha._util.lazy import lazy_names

if TYPE_CHECKING:
    from graphghha.engine.batch import score_file
    from graphghha.engine.dynamic import DynamicEngine
    from graphghha.engine.engine import Engine, EngineConfig
    from graphghha.engine.frozen import FrozenModel
    from graphghha.engine.incremental import IncrementalEngine
    from graphghha.engine.opening import AnyScorer, open_scorer, rebuild_rows
    from graphghha.engine.scorer import Scored, Scorer
    from graphghha.engine.zone_scorer import ZoneScorer

# Loaded on first use: `graphghha doctor` needs engine.machine alone and must not wait for numpy.
_MODULES = {
    "AnyScorer": "opening",
    "DynamicEngine": "dynamic",
    "Engine": "engine",
    "EngineConfig": "engine",
    "FrozenModel": "frozen",
    "IncrementalEngine": "incremental",
    "Scored": "scorer",
    "Scorer": "scorer",
    "ZoneScorer": "zone_scorer",
    "open_scorer": "opening",
    "rebuild_rows": "opening",
    "score_file": "batch",
}

__all__ = [
    "AnyScorer",
    "DynamicEngine",
    "Engine",
    "EngineConfig",
    "FrozenModel",
    "IncrementalEngine",
    "Scored",
    "Scorer",
    "ZoneScorer",
    "open_scorer",
    "rebuild_rows",
    "score_file",
]

__getattr__ = lazy_names(__name__, _MODULES)
