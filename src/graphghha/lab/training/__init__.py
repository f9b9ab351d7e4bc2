"""Training: from normal and attacked buildings to a model directory. Names load on first use, since it needs torch."""

from typing import TYPE_CHECKING

from graphghha._util.lazy import lazy_names

if TYPE_CHECKING:
    from graphghha.lab.training.cache import check_settings, reading
    from graphghha.lab.training.calibrate import CalibrationConfig, TrainedNetwork, calibrate_and_threshold
    from graphghha.lab.training.fit import FitConfig, Progress, finite_loss
    from graphghha.lab.training.preprocessing import fit_preprocessing
    from graphghha.lab.training.recipe import Recipe
    from graphghha.lab.training.temperature_scaling import fit_calibration
    from graphghha.lab.training.train import DEFAULT, collect_windows, parse_budget, train_model, train_network
    from graphghha.lab.training.validation import Validation, false_alarm_counter
    from graphghha.lab.training.windows import VISIBLE, LabelledWindows, flat_values, labelled_windows
    from graphghha.lab.training.workers import worker_processes

_MODULES = {
    "DEFAULT": "train",
    "VISIBLE": "windows",
    "CalibrationConfig": "calibrate",
    "FitConfig": "fit",
    "LabelledWindows": "windows",
    "Progress": "fit",
    "Recipe": "recipe",
    "TrainedNetwork": "calibrate",
    "Validation": "validation",
    "calibrate_and_threshold": "calibrate",
    "check_settings": "cache",
    "collect_windows": "train",
    "false_alarm_counter": "validation",
    "finite_loss": "fit",
    "fit_calibration": "temperature_scaling",
    "fit_preprocessing": "preprocessing",
    "flat_values": "windows",
    "labelled_windows": "windows",
    "parse_budget": "train",
    "reading": "cache",
    "train_model": "train",
    "train_network": "train",
    "worker_processes": "workers",
}

__all__ = [
    "DEFAULT",
    "VISIBLE",
    "CalibrationConfig",
    "FitConfig",
    "LabelledWindows",
    "Progress",
    "Recipe",
    "TrainedNetwork",
    "Validation",
    "calibrate_and_threshold",
    "check_settings",
    "collect_windows",
    "false_alarm_counter",
    "finite_loss",
    "fit_calibration",
    "fit_preprocessing",
    "flat_values",
    "labelled_windows",
    "parse_budget",
    "reading",
    "train_model",
    "train_network",
    "worker_processes",
]

__getattr__ = lazy_names(__name__, _MODULES)
