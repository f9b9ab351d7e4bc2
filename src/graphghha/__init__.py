"""Attack detection for cyber-physical systems: which node, which class, how sure, since when, on what evidence."""

from typing import TYPE_CHECKING

from graphghha._util.lazy import lazy_names
from graphghha._version import __version__

if TYPE_CHECKING:
    from graphghha.engine import Engine
    from graphghha.graph import CpsGraph, Edge, Node
    from graphghha.lab.plant_detector import PlantDetector
    from graphghha.models import load_model
    from graphghha.monitor import Monitor
    from graphghha.nn import ADU

# Public names load on first use: `graphghha --help` must not wait for numpy, let alone torch.
_MODULES = {
    "CpsGraph": "graph",
    "Node": "graph",
    "Edge": "graph",
    "ADU": "nn",
    "Engine": "engine",
    "Monitor": "monitor",
    "PlantDetector": "lab.plant_detector",
    "load_model": "models",
}

__all__ = ["ADU", "CpsGraph", "Edge", "Engine", "Monitor", "Node", "PlantDetector", "__version__", "load_model"]

__getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
