"""From readings to model inputs, the same code for batch and live: grid, ring, scaler, summaries, splits. No torch."""

from graphghha.windows.grid import Counters, Grid, GridConfig, Outcome, Rows
from graphghha.windows.leaks import check_held_out, check_parts, check_run, check_seen
from graphghha.windows.multiscale import MultiScaleConfig, Summarizer, summarize, summarize_last
from graphghha.windows.provenance import Fingerprint, Span, fingerprint
from graphghha.windows.ring import Ring
from graphghha.windows.scale import ColumnScaler, ScaleConfig, Scaler, fit_scaler
from graphghha.windows.split import (
    PARTS,
    Block,
    Part,
    TimeSplit,
    deploy_split,
    held_out_severities,
    held_out_zones,
    paper_split,
)

__all__ = [
    "PARTS",
    "Block",
    "ColumnScaler",
    "Counters",
    "Fingerprint",
    "Grid",
    "GridConfig",
    "MultiScaleConfig",
    "Outcome",
    "Part",
    "Ring",
    "Rows",
    "ScaleConfig",
    "Scaler",
    "Span",
    "Summarizer",
    "TimeSplit",
    "check_held_out",
    "check_parts",
    "check_run",
    "check_seen",
    "deploy_split",
    "fingerprint",
    "fit_scaler",
    "held_out_severities",
    "held_out_zones",
    "paper_split",
    "summarize",
    "summarize_last",
]
