"""A frozen model on a frozen graph, as fast as the machine allows."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphghha.engine.engine import Engine, EngineConfig
    from graphghha.engine.frozen import FrozenModel

# on first use: `graphghha doctor` asks for engine.machine alone and must not wait for numpy
_HOMES = {
    "Engine": "graphghha.engine.engine",
    "EngineConfig": "graphghha.engine.engine",
    "FrozenModel": "graphghha.engine.frozen",
}

__all__ = ["Engine", "EngineConfig", "FrozenModel"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'graphghha.engine' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
