"""From readings to model inputs, by the same code for batch and live. No torch."""

from typing import TYPE_CHECKING, Any

from graphghha.windows.evidence import EvidenceFeaturizer, EvidencePreprocessing
from graphghha.windows.expectation import LOG_SPREAD, Expectation, noise_floor, reach
from graphghha.windows.features import (
    FEATURE_NAMES,
    FEATURE_RANGE,
    HISTORY_DAYS,
    HISTORY_ROWS,
    HISTORY_S,
    REBUILD_ROWS,
    RECENT,
    FeatureNorm,
    Featurizer,
    Preprocessing,
    Windows,
)
from graphghha.windows.forecast import RECENT_ROWS, Forecast, open_forecast
from graphghha.windows.grid import Counters, Grid, GridConfig, Outcome, Rows
from graphghha.windows.leaks import check_held_out, check_parts, check_seen
from graphghha.windows.levels import Levels
from graphghha.windows.multiscale import STEP_S, MultiScaleConfig, Summarizer, summarize
from graphghha.windows.provenance import Fingerprint, Span, fingerprint
from graphghha.windows.ring import Ring
from graphghha.windows.scale import ColumnScaler, ScaleConfig, Scaler, fit_scaler
from graphghha.windows.zone_expectation import ZoneExpectation

if TYPE_CHECKING:
    from graphghha.windows.file_rows import FileRows

__all__ = [
    "FEATURE_NAMES",
    "FEATURE_RANGE",
    "HISTORY_DAYS",
    "HISTORY_ROWS",
    "HISTORY_S",
    "LOG_SPREAD",
    "REBUILD_ROWS",
    "RECENT",
    "RECENT_ROWS",
    "STEP_S",
    "ColumnScaler",
    "Counters",
    "EvidenceFeaturizer",
    "EvidencePreprocessing",
    "Expectation",
    "FeatureNorm",
    "Featurizer",
    "FileRows",
    "Fingerprint",
    "Forecast",
    "Grid",
    "GridConfig",
    "Levels",
    "MultiScaleConfig",
    "Outcome",
    "Preprocessing",
    "Ring",
    "Rows",
    "ScaleConfig",
    "Scaler",
    "Span",
    "Summarizer",
    "Windows",
    "ZoneExpectation",
    "check_held_out",
    "check_parts",
    "check_seen",
    "fingerprint",
    "fit_scaler",
    "noise_floor",
    "open_forecast",
    "reach",
    "summarize",
]


def __getattr__(name: str) -> Any:
    if name != "FileRows":
        raise AttributeError(f"module 'graphghha.windows' has no attribute {name!r}")
    from graphghha.windows.file_rows import FileRows  # on first use: it needs pyarrow, a live monitor does not

    return FileRows
