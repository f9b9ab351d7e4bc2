"""What a detector must beat: each baseline is an idea in a file of its own, by name."""

from importlib import import_module

from graphghha.errors import NotFoundError
from graphghha.lab.baselines.base import Baseline, Fit, TrainingData, View

# name -> where its fit is; imported when it is asked for, since some need scikit-learn or torch
_FITS = {
    "random": ("chance", "fit_random"),
    "always": ("chance", "fit_always"),
    "never": ("chance", "fit_never"),
    "node_kind": ("kind", "fit_kind"),
    "signal_range": ("signal_range", "fit_range"),
    "pca_residual": ("pca", "fit_pca"),
    "boosting": ("boosting", "fit_boosting"),
    "node_mlp": ("mlp", "fit_mlp"),
    "rules": ("rules", "fit_rules"),
}
BASELINES = tuple(_FITS)

__all__ = ["BASELINES", "Baseline", "Fit", "TrainingData", "View", "fit_of"]


def fit_of(name: str) -> Fit:
    """The function that fits a baseline."""
    if name not in _FITS:
        raise NotFoundError(f"no baseline is named {name!r}; known: {', '.join(BASELINES)}")
    module, function = _FITS[name]
    fit: Fit = getattr(import_module(f"{__name__}.{module}"), function)
    return fit
