"""The service: a monitor that runs with its sources, sinks, health report and model updates."""

from graphghha.monitor.service.health import HealthSnapshot, SiteHealth
from graphghha.monitor.service.logs import set_up_logs
from graphghha.monitor.service.service import Service

__all__ = ["HealthSnapshot", "Service", "SiteHealth", "set_up_logs"]
