"""Attack detection for cyber-physical systems: which node, which class, how sure, since when, on what evidence."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphghha._version import __version__

if TYPE_CHECKING:
    from graphghha.graph import CpsGraph, Edge, Node
    from graphghha.nn import ADU

# Public names load on first use: `graphghha --help` must not wait for numpy, let alone torch.
_HOMES = {
    "CpsGraph": "graphghha.graph",
    "Node": "graphghha.graph",
    "Edge": "graphghha.graph",
    "ADU": "graphghha.nn",
}

__all__ = ["ADU", "CpsGraph", "Edge", "Node", "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'graphghha' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
