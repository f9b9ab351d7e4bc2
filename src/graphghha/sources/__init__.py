"""Where readings come from: simulator, files, standard input, MQTT. Nothing here writes to a plant."""

from graphghha.sources.base import Batch, Quality, Reading, Rejection, Source, SourceStatus

__all__ = ["Batch", "Quality", "Reading", "Rejection", "Source", "SourceStatus"]
