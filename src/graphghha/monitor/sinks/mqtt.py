"""Events to an MQTT broker: a connection and a topic tree of its own, each message confirmed by the broker."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphghha.errors import EngineError
from graphghha.monitor.sinks.base import Event
from graphghha.monitor.sinks.jsonl import event_json
from graphghha.monitor.sinks.tls import Tls
from graphghha.monitor.sinks.topics import level

try:
    import paho.mqtt.client as paho
    from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
    from paho.mqtt.reasoncodes import ReasonCode
except ImportError as exc:
    raise EngineError("MQTT needs paho-mqtt: pip install 'graphghha[mqtt]'") from exc


@dataclass(frozen=True, kw_only=True, slots=True)
class MqttSinkConfig:
    host: str
    port: int = 1883
    prefix: str = "graphghha"
    client_id: str = "graphghha-sink"
    username: str | None = None
    password_file: Path | None = None  # read at every connection, so that a new password needs no restart
    tls: Tls | None = None
    retain_open: bool = False  # one retained message per incident until it is closed and acknowledged
    timeout_s: float = 5.0
    keepalive_s: int = 30


class MqttSink:
    """QoS 1 in MQTT 5, whose confirmation says whether the broker took the message: in 3.1.1 a refusal is silent."""

    def __init__(self, name: str, config: MqttSinkConfig) -> None:
        self.name, self._config = name, config
        self._connection: _Connection | None = None

    def deliver(self, events: Sequence[Event]) -> None:
        messages = [message for event in events for message in self._messages(event)]
        try:
            if self._connection is None:
                self._connection = _Connection(self._config)
            self._connection.publish(messages)
        except (OSError, ValueError) as exc:  # an unusable host name or password file is no fault of the event
            self.close()
            raise ConnectionError(f"mqtt {self._config.host}:{self._config.port}: {exc}") from exc

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _messages(self, event: Event) -> Iterator["_Message"]:
        root, text = f"{self._config.prefix}/{level(event.site)}", event_json(event)
        yield _Message(f"{root}/event/{'/'.join(level(part) for part in event.kind.split('.'))}", text, False)
        if self._config.retain_open and event.kind.startswith("incident.") and "id" in event.body:
            # over for the plant and for the operator; until then somebody who connects must see it
            is_over = event.body.get("closed") is not None and event.body.get("state") == "normal"
            yield _Message(f"{root}/open/{level(str(event.body['id']))}", "" if is_over else text, True)


@dataclass(frozen=True, slots=True)
class _Message:
    topic: str
    text: str
    retain: bool


class _Connection:
    """A session that is thrown away at the first fault: what it held is delivered again from the journal."""

    def __init__(self, config: MqttSinkConfig) -> None:
        self._timeout_s = config.timeout_s
        self._news = threading.Condition()
        self._answers: list[ReasonCode] = []  # to our wish to connect: none yet, or one
        self._confirmed: dict[int, ReasonCode] = {}
        self._fault = ""
        self._client = self._opened(config)
        try:
            self._wait(lambda: bool(self._answers), "the broker did not answer")
            if self._answers[0].is_failure:
                raise ConnectionError(f"the broker refuses us: {self._answers[0]}")
        except OSError:
            self.close()
            raise

    def publish(self, messages: Sequence[_Message]) -> None:
        """Hand over all, then wait until the broker has confirmed each."""
        topics: dict[int, str] = {}
        for message in messages:
            info = self._client.publish(message.topic, message.text, qos=1, retain=message.retain)
            if info.rc != MQTTErrorCode.MQTT_ERR_SUCCESS:
                raise ConnectionError(paho.error_string(info.rc))
            topics[info.mid] = message.topic
        self._wait(lambda: topics.keys() <= self._confirmed.keys(), "the broker did not confirm")
        for mid, topic in topics.items():
            if (reason := self._confirmed.pop(mid)).is_failure:
                raise ConnectionError(f"the broker refuses {topic!r}: {reason}")

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def _opened(self, config: MqttSinkConfig) -> paho.Client:
        client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=config.client_id,
            protocol=MQTTProtocolVersion.MQTTv5,
            reconnect_on_failure=False,
        )
        client.on_connect, client.on_publish = self._on_connect, self._on_publish
        client.on_disconnect = self._on_disconnect
        client.connect_timeout = config.timeout_s
        if config.username is not None:
            client.username_pw_set(config.username, _secret(config.password_file))
        if config.tls is not None:
            client.tls_set_context(config.tls.context())
        client.connect(config.host, config.port, config.keepalive_s, clean_start=True)
        client.loop_start()
        return client

    def _on_connect(self, _client: Any, _data: Any, _flags: Any, reason: ReasonCode, _properties: Any) -> None:
        with self._news:
            self._answers.append(reason)
            self._news.notify_all()

    def _on_publish(self, _client: Any, _data: Any, mid: int, reason: ReasonCode, _properties: Any) -> None:
        with self._news:
            self._confirmed[mid] = reason
            self._news.notify_all()

    def _on_disconnect(self, _client: Any, _data: Any, _flags: Any, reason: ReasonCode, _properties: Any) -> None:
        with self._news:
            self._fault = f"connection lost: {reason}"
            self._news.notify_all()

    def _wait(self, is_done: Callable[[], bool], complaint: str) -> None:
        with self._news:
            self._news.wait_for(lambda: is_done() or bool(self._fault), self._timeout_s)
            if is_done():
                return
            if self._fault:
                raise ConnectionError(self._fault)
            raise TimeoutError(f"{complaint} within {self._timeout_s:g} s")


def _secret(path: Path | None) -> str | None:
    return path.read_text(encoding="utf-8").rstrip("\r\n") if path else None
