"""Baselines that a detector is compared with. Each is one idea in a module of its own, and is found by name."""

from importlib import import_module
from typing import TYPE_CHECKING

from graphghha._util.lazy import lazy_names
from graphghha.errors import NotFoundError
from graphghha.lab.baselines.base import Baseline, BaselineInput, TrainingData
from graphghha.plants import Plant

if TYPE_CHECKING:
    from graphghha.lab.baselines.panel import BaselinePanel
    from graphghha.lab.baselines.suite import BaselineConfig, BaselineSuite

# name -> module and function that fits it; imported on first use, since some need scikit-learn or torch
FITS = {
    "random": ("chance", "fit_random"),
    "always": ("chance", "fit_always"),
    "never": ("chance", "fit_never"),
    "node_kind": ("chance", "fit_node_kind"),
    "signal_range": ("signal_range", "fit_range"),
    "pca_residual": ("pca", "fit_pca"),
    "boosting": ("boosting", "fit_boosting"),
    "node_mlp": ("mlp", "fit_mlp"),
    "rules": ("rules", "fit_rules"),
}
BASELINES = tuple(FITS)

__all__ = [
    "BASELINES",
    "FITS",
    "Baseline",
    "BaselineConfig",
    "BaselineInput",
    "BaselinePanel",
    "BaselineSuite",
    "TrainingData",
    "fit_baseline",
]

_MODULES = {"BaselineConfig": "suite", "BaselinePanel": "panel", "BaselineSuite": "suite"}


def fit_baseline(name: str, plant: Plant, data: TrainingData) -> Baseline:
    """Fit the baseline of this name."""
    if name not in FITS:
        raise NotFoundError(f"no baseline is named {name!r}; known: {', '.join(BASELINES)}")
    module, function = FITS[name]
    baseline: Baseline = getattr(import_module(f"{__name__}.{module}"), function)(plant, data)
    return baseline


__getattr__ = lazy_names(__name__, _MODULES)
