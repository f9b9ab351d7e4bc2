"""Where readings come from: simulator, files, standard input, MQTT. Nothing here writes to a plant."""

from graphghha.sources.base import Batch, Gap, Quality, Reading, Rejection, Source, SourceStatus
from graphghha.sources.check import CheckReport, check_address, check_source
from graphghha.sources.open import open_source, zones_in
from graphghha.sources.points import points_of

__all__ = [
    "Batch",
    "CheckReport",
    "Gap",
    "Quality",
    "Reading",
    "Rejection",
    "Source",
    "SourceStatus",
    "check_address",
    "check_source",
    "open_source",
    "points_of",
    "zones_in",
]
