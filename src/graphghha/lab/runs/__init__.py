"""Labelled runs: simulated buildings or files, and the scores that a detector gives over them. No torch."""

from typing import TYPE_CHECKING

from graphghha._util.lazy import lazy_names
from graphghha.lab.runs.case_split import CaseSplit, never_seen, split_cases
from graphghha.lab.runs.equivalent_cases import canonical_cases, canonical_days, canonical_run
from graphghha.lab.runs.recording import (
    AttackEvent,
    Detector,
    DetectorPanel,
    LabelledRun,
    Probs,
    Recording,
    attacks_in,
    record,
    record_panel,
    simulated_run,
)
from graphghha.lab.runs.run import Run, Schedule, attacked_run

if TYPE_CHECKING:
    from graphghha.lab.runs.labelled_files import read_labelled_run, telemetry_files

__all__ = [
    "AttackEvent",
    "CaseSplit",
    "Detector",
    "DetectorPanel",
    "LabelledRun",
    "Probs",
    "Recording",
    "Run",
    "Schedule",
    "attacked_run",
    "attacks_in",
    "canonical_cases",
    "canonical_days",
    "canonical_run",
    "never_seen",
    "read_labelled_run",
    "record",
    "record_panel",
    "simulated_run",
    "split_cases",
    "telemetry_files",
]

# on first use: files need pyarrow, a simulated run does not
_MODULES = dict.fromkeys(("read_labelled_run", "telemetry_files"), "labelled_files")

__getattr__ = lazy_names(__name__, _MODULES)
