"""Where readings come from: simulator, files, standard input, MQTT. Nothing here writes to a plant."""

from graphghha.sources.addresses import parse_address
from graphghha.sources.base import Batch, Quality, ReadingBatch, Refused, Rejection, RowBatch, Source, SourceStatus
from graphghha.sources.check import CheckReport, check_address, check_source
from graphghha.sources.config import FileConfig, MqttConfig, SimulatedConfig, SourceConfig, StdinConfig, filters_overlap
from graphghha.sources.mapping import read_mapping
from graphghha.sources.opening import open_source, stated_zones

__all__ = [
    "Batch",
    "CheckReport",
    "FileConfig",
    "MqttConfig",
    "Quality",
    "ReadingBatch",
    "Refused",
    "Rejection",
    "RowBatch",
    "SimulatedConfig",
    "Source",
    "SourceConfig",
    "SourceStatus",
    "StdinConfig",
    "check_address",
    "check_source",
    "filters_overlap",
    "open_source",
    "parse_address",
    "read_mapping",
    "stated_zones",
]
