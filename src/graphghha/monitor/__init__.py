"""The monitor: readings in, incidents out, nothing lost. It uses the engine only as a `Scorer`, and needs no torch."""

from graphghha.monitor.commands import send_command
from graphghha.monitor.detector import Detector, NormalJudgement, ZoneJudgement
from graphghha.monitor.display import Display
from graphghha.monitor.evidence import SignalEvidence
from graphghha.monitor.incident_json import event_line, headline, related_incident, sentence
from graphghha.monitor.journal import Journal, Reader, Retention
from graphghha.monitor.kpi import kpi, site_rate
from graphghha.monitor.monitor import Monitor
from graphghha.monitor.pipeline import Pipeline, Scorer, Step
from graphghha.monitor.row_clock import RowClockConfig
from graphghha.monitor.site import Site, SiteUpdate
from graphghha.monitor.site_config import SiteConfig
from graphghha.monitor.status import read_status

__all__ = [
    "Detector",
    "Display",
    "Journal",
    "Monitor",
    "NormalJudgement",
    "Pipeline",
    "Reader",
    "Retention",
    "RowClockConfig",
    "Scorer",
    "SignalEvidence",
    "Site",
    "SiteConfig",
    "SiteUpdate",
    "Step",
    "ZoneJudgement",
    "event_line",
    "headline",
    "kpi",
    "read_status",
    "related_incident",
    "send_command",
    "sentence",
    "site_rate",
]
