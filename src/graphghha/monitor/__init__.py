"""The monitor: rows of readings in, incidents out. Sees the engine only as a `Scorer`. No torch."""

from graphghha.monitor.pipeline import Notice, Pipeline, Scorer

__all__ = ["Notice", "Pipeline", "Scorer"]
