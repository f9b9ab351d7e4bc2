"""Where alarms go."""

from graphghha.monitor.sinks.base import Event, EventLog, Sink

__all__ = ["Event", "EventLog", "Sink"]
