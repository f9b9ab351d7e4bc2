"""Model directories: write, verify, load. No torch."""

from graphghha.models.calibration import Calibration, log_probabilities
from graphghha.models.directory import (
    NETWORK_FILE,
    Model,
    check_destination,
    load_model,
    model_directory,
    model_for_sites,
    read_commissioning,
    read_figures,
    save_model,
    shipped_model,
)
from graphghha.models.manifest import MANIFEST, SIGNATURE, write_manifest
from graphghha.models.signature import TrustedKeys, read_signature, sign_model
from graphghha.models.site import CommissioningRecord, Limits, StandingFault
from graphghha.models.thresholds import BudgetSearch, Thresholds

__all__ = [
    "MANIFEST",
    "NETWORK_FILE",
    "SIGNATURE",
    "BudgetSearch",
    "Calibration",
    "CommissioningRecord",
    "Limits",
    "Model",
    "StandingFault",
    "Thresholds",
    "TrustedKeys",
    "check_destination",
    "load_model",
    "log_probabilities",
    "read_commissioning",
    "read_figures",
    "read_signature",
    "save_model",
    "model_directory",
    "model_for_sites",
    "shipped_model",
    "sign_model",
    "write_manifest",
]
