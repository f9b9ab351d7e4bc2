"""Events to an MQTT broker, over a connection of its own; the broker confirms every message."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from graphghha._util.tls import Tls
from graphghha.alarms import StoredEvent
from graphghha.errors import EngineError
from graphghha.monitor.sinks.jsonl import event_json
from graphghha.sources.mqtt_client import new_client

try:
    import paho.mqtt.client as paho
    from paho.mqtt.enums import MQTTErrorCode
    from paho.mqtt.reasoncodes import ReasonCode
except ImportError as exc:
    raise EngineError("MQTT needs paho-mqtt: pip install 'graphghha[mqtt]'") from exc


@dataclass(frozen=True, kw_only=True, slots=True)
class MqttSinkConfig:
    """Which broker, which topics, and how we identify ourselves."""

    host: str
    port: int = 1883
    prefix: str = "graphghha"
    client_id: str = "graphghha-sink"
    username: str | None = None
    password_file: Path | None = None  # read for every connection, so that a new password needs no restart
    tls: Tls | None = None
    retain_open: bool = False  # one retained message per incident until it is closed and acknowledged
    timeout_s: float = 5.0
    keepalive_s: int = 30


class MqttSink:
    """Publishes with QoS 1 in MQTT 5, where the broker reports a refusal; in MQTT 3.1.1 it would not."""

    def __init__(self, name: str, config: MqttSinkConfig) -> None:
        self.name, self._config = name, config
        self._connection: _Connection | None = None

    def deliver(self, events: Sequence[StoredEvent]) -> None:
        """Publish the events and wait for the broker's confirmations."""
        messages = [message for event in events for message in self._messages(event)]
        try:
            if self._connection is None:
                self._connection = _Connection(self._config)
            self._connection.publish(messages)
        except (OSError, ValueError) as exc:  # ValueError: an unusable host name or password file
            self.close()
            raise ConnectionError(f"mqtt {self._config.host}:{self._config.port}: {exc}") from exc

    def close(self) -> None:
        """Disconnect from the broker."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _messages(self, event: StoredEvent) -> Iterator["_Message"]:
        root, text = f"{self._config.prefix}/{topic_level(event.site)}", event_json(event)
        yield _Message(f"{root}/event/{'/'.join(topic_level(part) for part in event.kind.split('.'))}", text, False)
        if self._config.retain_open and event.kind.startswith("incident.") and "id" in event.body:
            # the message stays until the incident is closed and acknowledged, for those who connect later
            is_over = event.body.get("closed") is not None and event.body.get("state") == "normal"
            yield _Message(f"{root}/open/{topic_level(str(event.body['id']))}", "" if is_over else text, True)


@dataclass(frozen=True, slots=True)
class _Message:
    topic: str
    text: str
    retain: bool


class _Connection:
    """A session that is discarded at the first fault; what it held is delivered again from the journal."""

    def __init__(self, config: MqttSinkConfig) -> None:
        self._timeout_s = config.timeout_s
        self._changed = threading.Condition()
        self._answers: list[ReasonCode] = []  # to our request to connect: none yet, or one
        self._confirmed: dict[int, ReasonCode] = {}
        self._fault = ""
        self._client = self._opened(config)
        try:
            self._wait(lambda: bool(self._answers), "the broker did not answer")
            if self._answers[0].is_failure:
                raise ConnectionError(f"the broker refuses the connection: {self._answers[0]}")
        except OSError:
            self.close()
            raise

    def publish(self, messages: Sequence[_Message]) -> None:
        """Send all messages, then wait until the broker has confirmed each."""
        topics: dict[int, str] = {}
        for message in messages:
            info = self._client.publish(message.topic, message.text, qos=1, retain=message.retain)
            if info.rc != MQTTErrorCode.MQTT_ERR_SUCCESS:
                raise ConnectionError(paho.error_string(info.rc))
            topics[info.mid] = message.topic
        self._wait(lambda: topics.keys() <= self._confirmed.keys(), "the broker did not confirm")
        for mid, topic in topics.items():
            if (reason := self._confirmed.pop(mid)).is_failure:
                raise ConnectionError(f"the broker refuses topic {topic!r}: {reason}")

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()
        # without these references paho closes its sockets at once, not when the garbage collector runs
        self._client.on_connect = self._client.on_publish = self._client.on_disconnect = None

    def _opened(self, config: MqttSinkConfig) -> paho.Client:
        client = new_client(
            config.client_id,
            username=config.username,
            password_file=config.password_file,
            tls=config.tls,
            reconnect_on_failure=False,
        )
        client.on_connect, client.on_publish = self._on_connect, self._on_publish
        client.on_disconnect = self._on_disconnect
        client.connect_timeout = config.timeout_s
        client.connect(config.host, config.port, config.keepalive_s, clean_start=True)
        client.loop_start()
        return client

    def _on_connect(self, _client: Any, _data: Any, _flags: Any, reason: ReasonCode, _properties: Any) -> None:
        with self._changed:
            self._answers.append(reason)
            self._changed.notify_all()

    def _on_publish(self, _client: Any, _data: Any, mid: int, reason: ReasonCode, _properties: Any) -> None:
        with self._changed:
            self._confirmed[mid] = reason
            self._changed.notify_all()

    def _on_disconnect(self, _client: Any, _data: Any, _flags: Any, reason: ReasonCode, _properties: Any) -> None:
        with self._changed:
            self._fault = f"connection lost: {reason}"
            self._changed.notify_all()

    def _wait(self, is_done: Callable[[], bool], complaint: str) -> None:
        with self._changed:
            self._changed.wait_for(lambda: is_done() or bool(self._fault), self._timeout_s)
            if is_done():
                return
            if self._fault:
                raise ConnectionError(self._fault)
            raise TimeoutError(f"{complaint} within {self._timeout_s:g} s")


def topic_level(name: str) -> str:
    """Return a name as one level of a topic, without separator, wildcard, NUL or leading $."""
    return quote(name, safe=" !'()*,:;=@[]{}~", errors="replace")[:200] or "-"
