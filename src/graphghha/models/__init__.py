"""Model directories: write, verify, load. No torch."""

from graphghha.models.calibration import Calibration
from graphghha.models.directory import Model, load_model, save_model
from graphghha.models.thresholds import BudgetSearch, Thresholds

__all__ = ["BudgetSearch", "Calibration", "Model", "Thresholds", "load_model", "save_model"]
