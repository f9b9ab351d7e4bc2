"""The monitor: readings in, incidents out, nothing lost. Sees the engine only as a `Scorer`. No torch."""

from graphghha.monitor.detector import Detector
from graphghha.monitor.journal.journal import Journal, Retention
from graphghha.monitor.journal.reader import Reader
from graphghha.monitor.monitor import Monitor
from graphghha.monitor.pipeline import Pipeline, Scorer, Step
from graphghha.monitor.site import Outcome, Site, SiteConfig

__all__ = [
    "Detector",
    "Journal",
    "Monitor",
    "Outcome",
    "Pipeline",
    "Reader",
    "Retention",
    "Scorer",
    "Site",
    "SiteConfig",
    "Step",
]
