"""Sinks that were down for a whole run must deliver every event once they are up again."""

import json
from collections import deque
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from faults.broker import Broker, free_port
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_none
from faults.rig import JOURNAL, Rig, until
from faults.syslog_receiver import SyslogReceiver
from faults.toy_detector import SITE, default_attacks, toy_building, toy_monitor
from graphghha.monitor import Journal
from graphghha.monitor.service import Service
from graphghha.monitor.sinks import (
    Cursor,
    FollowRule,
    JsonLinesFile,
    MqttSink,
    MqttSinkConfig,
    SyslogConfig,
    SyslogSink,
)
from graphghha.sources import Batch, SourceStatus

FAULT = "sink down for the whole run, then up"
ZONES, ROWS = 2, 240
FAST_RETRIES = FollowRule(poll_s=0.01, first_retry_s=0.01, longest_retry_s=0.05, batch=7)


class ListSource:
    """A source that returns the given batches one by one and then ends."""

    def __init__(self, batches: list[Batch]) -> None:
        self._batches = deque(batches)

    def poll(self, timeout_s: float) -> Batch | None:
        return self._batches.popleft() if self._batches else None

    def acknowledge(self, batch: Batch) -> None: ...

    @property
    def status(self) -> SourceStatus:
        return SourceStatus(is_connected=True, is_finished=not self._batches)

    def close(self) -> None: ...


class Listener:
    """A subscriber to all topics with a persistent session: the broker keeps messages for it."""

    def __init__(self, port: int) -> None:
        self.messages: list[bytes] = []
        granted: list[bool] = []
        self._client = paho.Client(CallbackAPIVersion.VERSION2, client_id="listener", clean_session=False)
        self._client.on_message = lambda _client, _data, message: self.messages.append(bytes(message.payload))
        self._client.on_subscribe = lambda *_: granted.append(True)
        self._client.on_connect = lambda client, *_: client.subscribe("#", qos=1)
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()
        until(lambda: bool(granted), "a subscription")

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.disconnect()
        self._client.loop_stop()


def try_sinks(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    progress(FAULT)
    folder.mkdir(parents=True, exist_ok=True)
    telemetry, port = toy_building(ZONES, ROWS, default_attacks(ROWS)), free_port()
    with Broker(folder) as broker:
        with Listener(broker.port):
            pass  # opens the persistent session
        broker.stop()
        behind = _run_service(folder, telemetry.batches(), port, broker.port)
        broker.start()
        (folder / "later").mkdir()
        with SyslogReceiver(port) as siem:
            still_behind = _run_service(folder, [], port, broker.port)
            with Journal(folder / JOURNAL) as journal:
                produced = [event.key for event in journal.events_after(0, 10**6)]
            until(lambda: len(siem.messages) >= len(produced), "the SIEM")
        with Listener(broker.port) as listener:
            until(lambda: len(listener.messages) >= len(produced), "the broker's listener")
    lines: list[Any] = (folder / "later" / "events.jsonl").read_text().splitlines()
    delivered = {
        "file": [json.loads(line)["key"] for line in lines],
        "syslog": [message.split('key="', 1)[1].split('"', 1)[0] for message in siem.messages],
        "MQTT": [json.loads(message)["key"] for message in listener.messages],
    }
    return [
        expect_all(FAULT, "sinks reported as behind after the run", len(behind), len(delivered)),
        expect_none(FAULT, "sinks behind after the restart", len(still_behind)),
        *[_delivered(name, keys, produced) for name, keys in delivered.items()],
    ]


def _delivered(name: str, keys: list[str], produced: list[str]) -> Figure:
    count = len(keys) if keys == produced else 0
    return expect_all(FAULT, f"events delivered once and in order: {name}", count, len(produced))


def _run_service(folder: Path, batches: list[Batch], syslog_port: int, mqtt_port: int) -> list[str]:
    """Run the service until its source ends; return the names of the sinks that did not get every event."""
    monitor = toy_monitor(Journal(folder / JOURNAL), ZONES)
    service = Service(monitor, {SITE: ListSource(batches)}, {}, drain_s=20)
    for sink in (
        JsonLinesFile("file", folder / "later" / "events.jsonl"),
        SyslogSink("siem", SyslogConfig(host="127.0.0.1", port=syslog_port)),
        MqttSink("broker", MqttSinkConfig(host="127.0.0.1", port=mqtt_port)),
    ):
        service.follow(sink, Cursor(folder / f"{sink.name}.cursor"), FAST_RETRIES)
    return service.run()
