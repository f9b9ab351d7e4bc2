"""Attack detection for cyber-physical systems: which node, which class, how sure, since when, on what evidence."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphghha._version import __version__

if TYPE_CHECKING:
    from graphghha.engine import Engine
    from graphghha.graph import CpsGraph, Edge, Node
    from graphghha.models import load_model
    from graphghha.monitor import Monitor
    from graphghha.nn import ADU

# Public names load on first use: `graphghha --help` must not wait for numpy, let alone torch.
_HOMES = {
    "CpsGraph": "graphghha.graph",
    "Node": "graphghha.graph",
    "Edge": "graphghha.graph",
    "ADU": "graphghha.nn",
    "Engine": "graphghha.engine",
    "Monitor": "graphghha.monitor",
    "load_model": "graphghha.models",
}

__all__ = ["ADU", "CpsGraph", "Edge", "Engine", "Monitor", "Node", "__version__", "load_model"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'graphghha' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
