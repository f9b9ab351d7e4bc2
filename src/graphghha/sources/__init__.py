"""Where readings come from: simulator, files, standard input, MQTT. Nothing here writes to a plant."""

from graphghha.plants.points import points_of
from graphghha.sources.addresses import open_source, zones_in
from graphghha.sources.base import Batch, Gap, Quality, Reading, Rejection, Source, SourceStatus
from graphghha.sources.check import CheckReport, check_address, check_source

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
