"""Sinks: where the events of a journal are delivered to."""

from typing import TYPE_CHECKING, Any

from graphghha.monitor.sinks.base import DROPPED, HEARTBEAT, MONITOR, EventLog, Sink
from graphghha.monitor.sinks.cef import cef_line
from graphghha.monitor.sinks.cursor import Cursor
from graphghha.monitor.sinks.follow import Follower, FollowRule, FollowStats, stop_all
from graphghha.monitor.sinks.jsonl import JsonLinesFile, JsonLinesStdout
from graphghha.monitor.sinks.syslog import ENTERPRISE, SyslogConfig, SyslogSink

if TYPE_CHECKING:
    from graphghha.monitor.sinks.mqtt import MqttSink, MqttSinkConfig

__all__ = [
    "DROPPED",
    "ENTERPRISE",
    "HEARTBEAT",
    "MONITOR",
    "Cursor",
    "EventLog",
    "FollowRule",
    "FollowStats",
    "Follower",
    "JsonLinesFile",
    "JsonLinesStdout",
    "MqttSink",
    "MqttSinkConfig",
    "Sink",
    "SyslogConfig",
    "SyslogSink",
    "cef_line",
    "stop_all",
]


def __getattr__(name: str) -> Any:
    if name in ("MqttSink", "MqttSinkConfig"):  # needs paho-mqtt
        from graphghha.monitor.sinks import mqtt

        return getattr(mqtt, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
