"""From readings to model inputs, the same code for batch and live: grid, ring, scaler, summaries. No torch."""

from graphghha.windows.grid import Counters, Grid, GridConfig, Outcome, Rows
from graphghha.windows.leaks import check_held_out, check_parts, check_seen
from graphghha.windows.multiscale import MultiScaleConfig, Summarizer, summarize
from graphghha.windows.provenance import Fingerprint, Span, fingerprint
from graphghha.windows.ring import Ring
from graphghha.windows.scale import ColumnScaler, ScaleConfig, Scaler, fit_scaler

__all__ = [
    "ColumnScaler",
    "Counters",
    "Fingerprint",
    "Grid",
    "GridConfig",
    "MultiScaleConfig",
    "Outcome",
    "Ring",
    "Rows",
    "ScaleConfig",
    "Scaler",
    "Span",
    "Summarizer",
    "check_held_out",
    "check_parts",
    "check_seen",
    "fingerprint",
    "fit_scaler",
    "summarize",
]
