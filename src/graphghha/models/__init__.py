"""Model directories: write, verify, load. No torch."""

from graphghha.models.calibration import Calibration, log_probabilities
from graphghha.models.directory import (
    NETWORK_FILE,
    Model,
    check_destination,
    load_model,
    save_model,
    shipped_model,
)
from graphghha.models.manifest import MANIFEST, write_manifest
from graphghha.models.site import CommissioningRecord, Limits, StandingFault
from graphghha.models.thresholds import BudgetSearch, Thresholds

__all__ = [
    "MANIFEST",
    "NETWORK_FILE",
    "BudgetSearch",
    "Calibration",
    "CommissioningRecord",
    "Limits",
    "Model",
    "StandingFault",
    "Thresholds",
    "check_destination",
    "load_model",
    "log_probabilities",
    "save_model",
    "shipped_model",
    "write_manifest",
]
