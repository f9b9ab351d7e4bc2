"""Readings from an MQTT broker. A message is acknowledged once the journal holds it; nothing is ever published.

A network thread fills a bounded queue, and `poll` decodes what it holds. The broker sends only as many messages as may
wait for an acknowledgement (`receive_maximum`), so it waits for a slow reader instead of flooding it.
"""

import sys
import threading
import time
from collections import deque
from typing import Any, NamedTuple

from graphghha.sources.base import Batch, Rejection, SourceStatus
from graphghha.sources.batch_builder import BatchBuilder
from graphghha.sources.config import MqttConfig
from graphghha.sources.json_messages import decode
from graphghha.sources.mapping import Mapper
from graphghha.sources.mqtt_client import connect_properties, make_client, subscriptions

MESSAGES_PER_BATCH = 4_000
LINGER_S = 0.005  # wait after the first message: a batch of many costs hardly more than a batch of one
_QUEUE_OVERHEAD = 500  # bytes of a queued message besides its topic and payload


class _Message(NamedTuple):
    connection: int
    mid: int
    qos: int
    topic: str
    payload: bytes
    received_ms: int
    rejection: Rejection | None  # decided on arrival, so that the queue does not hold payloads that are dropped anyway

    @property
    def num_bytes(self) -> int:
        return _QUEUE_OVERHEAD + len(self.topic) + len(self.payload)


class _Receipt(NamedTuple):
    messages: tuple[tuple[int, int, int], ...]  # connection, message id, QoS


class MqttSource:
    """A subscription with a session of its own. It keeps trying to reach a broker that is down, also at the start."""

    def __init__(self, config: MqttConfig, builder: BatchBuilder) -> None:
        self.config = config
        self._builder = builder
        self._queue: deque[_Message] = deque()
        self._queued_bytes = 0
        self._changed = threading.Condition()  # guards the queue and everything below
        self._connection = 0  # grows whenever a connection is made or lost; a message belongs to one connection
        self._is_connected = False  # and subscribed
        self._is_closed = False
        self._detail = f"connecting to {config.address}"
        self._since_ms = _now_ms()
        self._client = make_client(config)
        self._client.on_connect = self._on_connect
        self._client.on_connect_fail = self._on_connect_fail
        self._client.on_disconnect = self._on_disconnect
        self._client.on_subscribe = self._on_subscribe
        self._client.on_message = self._on_message
        self._client.connect_async(
            config.host,
            config.port,
            keepalive=config.keepalive_s,
            clean_start=config.is_listener,
            properties=connect_properties(config),
        )
        self._client.loop_start()

    @property
    def mapper(self) -> Mapper:
        return self._builder.mapper

    @property
    def status(self) -> SourceStatus:
        with self._changed:
            return SourceStatus(self._is_connected, self._detail, since_ms=self._since_ms)

    def poll(self, timeout_s: float) -> Batch | None:
        with self._changed:
            if not self._changed.wait_for(lambda: self._queue or self._is_closed, timeout_s) or not self._queue:
                if not self._is_closed:
                    self._client.loop_start()  # revives a network thread that died, and does nothing otherwise
                return None
        time.sleep(LINGER_S)
        with self._changed:
            messages = [self._queue.popleft() for _ in range(min(len(self._queue), MESSAGES_PER_BATCH))]
            self._queued_bytes -= sum(message.num_bytes for message in messages)
            self._changed.notify_all()
        for message in messages:
            if message.rejection is None:
                decode(message.payload, self._builder, message.received_ms, message.topic)
            else:
                self._builder.reject(message.rejection)
        receipt = _Receipt(tuple((each.connection, each.mid, each.qos) for each in messages if each.qos))
        return self._builder.take(messages[-1].received_ms, receipt)

    def acknowledge(self, batch: Batch) -> None:
        """Acknowledge the messages of the current connection; the broker delivers those of an older one again."""
        assert isinstance(batch.receipt, _Receipt), "this batch comes from another source"
        with self._changed:
            for connection, mid, qos in batch.receipt.messages:
                if connection == self._connection:
                    self._client.ack(mid, qos)

    def close(self) -> None:
        """Disconnect. The broker keeps the session, and with it the messages for the next start."""
        with self._changed:
            self._is_closed, self._is_connected = True, False
            self._detail = "closed"
            self._changed.notify_all()
        self._client.disconnect()
        self._client.loop_stop()
        # without references to us paho closes its sockets at once, not when the garbage collector runs
        self._client.on_connect = self._client.on_connect_fail = self._client.on_disconnect = None
        self._client.on_subscribe = self._client.on_message = None

    def _on_connect(self, client: Any, userdata: Any, flags: Any, reason: Any, properties: Any) -> None:
        with self._changed:
            if reason.is_failure:
                self._detail = f"{self.config.address} refused the connection: {reason}"
                return
            self._connection += 1
        client.subscribe(subscriptions(self.config))

    def _on_connect_fail(self, client: Any, userdata: Any) -> None:
        error = sys.exception()  # paho calls this while it handles the error, without handing the error over
        with self._changed:
            self._detail = f"cannot reach {self.config.address}: {error}; trying again"

    def _on_disconnect(self, client: Any, userdata: Any, flags: Any, reason: Any, properties: Any) -> None:
        with self._changed:
            self._connection += 1
            if self._is_connected:
                self._since_ms = _now_ms()
                self._detail = f"lost {self.config.address}: {reason}; trying again"
            self._is_connected = False

    def _on_subscribe(self, client: Any, userdata: Any, mid: int, reasons: list[Any], properties: Any) -> None:
        answers = zip(self.config.filters, reasons, strict=False)
        refused = [f"{topic}: {reason}" for topic, reason in answers if reason.is_failure]
        with self._changed:
            if self._is_closed:
                return
            self._is_connected = not refused or len(refused) < len(reasons)
            self._since_ms = _now_ms()
            self._detail = f"connected to {self.config.address}"
            if refused:
                self._detail += f", which refuses to send {', '.join(refused)}"

    def _on_message(self, client: Any, userdata: Any, message: Any) -> None:
        rejection: Rejection | None = None
        try:
            topic = message.topic
        except UnicodeDecodeError:
            topic, rejection = "", Rejection.MALFORMED
        if message.retain:
            rejection = Rejection.RETAINED
        elif len(message.payload) > self.config.max_message_bytes:
            rejection = Rejection.TOO_LARGE
        with self._changed:
            # while the network thread waits here, the broker waits too
            self._changed.wait_for(lambda: self._queued_bytes < self.config.max_queue_bytes or self._is_closed)
            payload = b"" if rejection else bytes(message.payload)
            queued = _Message(self._connection, message.mid, message.qos, topic, payload, _now_ms(), rejection)
            self._queue.append(queued)
            self._queued_bytes += queued.num_bytes
            if len(self._queue) == 1:
                self._changed.notify_all()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
