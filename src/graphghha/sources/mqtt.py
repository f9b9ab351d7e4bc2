"""Readings from an MQTT broker. A message is acknowledged once the journal holds it; nothing is ever published.

A network thread fills a bounded queue, and `poll` decodes what it holds. The broker sends only as many messages as may
wait for an acknowledgement (`receive_maximum`), so it waits for a slow reader instead of flooding it. A device that
sends far more than the others, and more than can be read, loses its own messages only (`overload.py`).
"""

import logging
import sys
import threading
import time
from collections import deque
from ssl import SSLError
from typing import Any, NamedTuple

from graphghha._util.times import steady_ms
from graphghha.errors import DataError
from graphghha.sources.base import Batch, Rejection, SourceStatus
from graphghha.sources.batch_builder import BatchBuilder
from graphghha.sources.config import MqttConfig
from graphghha.sources.json_messages import decode
from graphghha.sources.mapping import Mapper
from graphghha.sources.mqtt_client import connect_properties, make_client, subscriptions
from graphghha.sources.overload import Overload

MESSAGES_PER_BATCH = 4_000
BYTES_PER_BATCH = 1 << 21  # about a second of decoding
SENDERS_KNOWN = 20_000
LOGIN_REFUSED = (0x86, 0x87)  # the reason codes of MQTT 5 for a bad user name or password, and "not authorized"
TAKEN_OVER = 0x8E  # the reason code of MQTT 5 for "another client connected with the same id"
TAKEN_OVER_EVERY_S = 600.0  # how often that is reported
SHORT_S, SHORT_CONNECTIONS = 10.0, 3  # many brokers do not state the reason, but then connections end soon, one by one
log = logging.getLogger(__name__)
LINGER_S = 0.005  # wait after the first message: a batch of many costs hardly more than a batch of one
_QUEUE_OVERHEAD = 500  # bytes of a queued message besides its topic and payload


class _Message(NamedTuple):
    connection: int
    mid: int
    qos: int
    topic: str
    payload: bytes
    received_ms: int
    sender: str
    queued_at: float
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
        self._overload = Overload(config.max_queue_bytes // 4)
        self._known_senders: set[str] = set()  # those who have sent a reading that could be used
        self._limited: tuple[str, ...] = ()  # senders whose limit has been logged
        self._connected_at, self._short_connections = 0.0, 0
        self._is_taken_over, self._taken_over_at = False, -TAKEN_OVER_EVERY_S
        self._changed = threading.Condition()  # guards the queue and everything below
        self._connection = 0  # grows whenever a connection is made or lost; a message belongs to one connection
        self._is_connected = False  # and subscribed
        self._is_answered = False  # the broker has answered our subscription over this connection
        self._is_closed = False
        self._detail = f"connecting to {config.address}"
        self._since_ms = _now_ms()
        self._client = self._connecting_client()
        self._client.loop_start()

    def _connecting_client(self) -> Any:
        client, config = make_client(self.config), self.config
        client.on_connect, client.on_connect_fail = self._on_connect, self._on_connect_fail
        client.on_disconnect, client.on_subscribe = self._on_disconnect, self._on_subscribe
        client.on_message = self._on_message
        client.connect_async(
            config.host,
            config.port,
            keepalive=config.keepalive_s,
            clean_start=config.is_listener,
            properties=connect_properties(config),
        )
        return client

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
                if self._is_taken_over:
                    self._is_taken_over = False
                    raise DataError(
                        f"another client seems to use the id {self.config.client_id!r} at {self.config.address} and to "
                        "take over the session; give every client its own id, and let the broker tie ids to accounts"
                    )
                if not self._is_closed:
                    self._keep_listening()
                return None
        time.sleep(LINGER_S)
        with self._changed:
            messages = self._take_messages()
            limited = self._overload.limited
            self._changed.notify_all()
        for message in messages:
            if message.rejection is None:
                before = len(self._builder)
                decode(message.payload, self._builder, message.received_ms, message.topic)
                if len(self._builder) > before and len(self._known_senders) < SENDERS_KNOWN:
                    self._known_senders.add(sender_of(message.topic))
            else:
                self._builder.reject(message.rejection)
        self._log_limits(limited)
        receipt = _Receipt(tuple((each.connection, each.mid, each.qos) for each in messages if each.qos))
        return self._builder.take(messages[-1].received_ms, receipt)

    def _keep_listening(self) -> None:
        """If the network thread has ended, connect with a new client, and raise an error that says so.

        The old client cannot be used again: if its thread failed to start, it would take it for running for ever.
        """
        thread = self._client._thread
        if thread is not None and thread.is_alive():
            return
        self._release_client()
        self._connection += 1
        self._is_connected, self._since_ms = False, _now_ms()
        self._detail = f"connecting to {self.config.address} again, because the network thread had ended"
        self._client = self._connecting_client()
        self._client.loop_start()
        raise DataError(f"the network thread for {self.config.address} had ended; it was started again")

    def _take_messages(self) -> list[_Message]:
        """Return the oldest messages of the queue, as many as are decoded in about a second."""
        messages: list[_Message] = []
        num_bytes = 0
        while self._queue and len(messages) < MESSAGES_PER_BATCH and num_bytes < BYTES_PER_BATCH:
            message = self._queue.popleft()
            self._queued_bytes -= message.num_bytes
            self._overload.removed(message.sender, message.num_bytes)
            if message.rejection is None and self._overload.is_dropped(message.sender, message.queued_at):
                message = message._replace(payload=b"", rejection=Rejection.FLOOD)
            num_bytes += len(message.payload)
            messages.append(message)
        return messages

    def _log_limits(self, limited: tuple[str, ...]) -> None:
        for sender in limited:
            if sender not in self._limited:
                what = f"topic {sender!r}" if sender else "topics that no point answers to"
                log.warning("%s: %s send more than can be read; the excess is dropped", self._builder.site, what)
        self._limited = limited

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
        self._release_client()

    def _release_client(self) -> None:
        """Remove the references to us: then paho closes its sockets at once, not when the garbage collector runs."""
        self._client.on_connect = self._client.on_connect_fail = self._client.on_disconnect = None
        self._client.on_subscribe = self._client.on_message = None

    def _on_connect(self, client: Any, userdata: Any, flags: Any, reason: Any, properties: Any) -> None:
        with self._changed:
            if reason.is_failure:
                hint = "; check username and password_file" if reason.value in LOGIN_REFUSED else ""
                self._detail = f"{self.config.address} refused the connection: {reason}{hint}"
                return
            self._connection += 1
            self._is_answered = False
        client.subscribe(subscriptions(self.config))

    def _on_connect_fail(self, client: Any, userdata: Any) -> None:
        error = sys.exception()  # paho calls this while it handles the error, without handing the error over
        with self._changed:
            is_plain = self.config.use_tls and isinstance(error, ConnectionResetError | SSLError)
            hint = "; is TLS set up at this port, with a certificate that ca_file knows?" if is_plain else ""
            self._detail = f"cannot reach {self.config.address}: {error}{hint}; trying again"

    def _on_disconnect(self, client: Any, userdata: Any, flags: Any, reason: Any, properties: Any) -> None:
        with self._changed:
            self._connection += 1
            if self._is_connected:
                self._since_ms = _now_ms()
                self._detail = f"lost {self.config.address}: {reason}; trying again"
                self._note_lifetime(time.monotonic(), getattr(reason, "value", 0) == TAKEN_OVER)
            self._is_connected = False

    def _note_lifetime(self, now: float, is_stated: bool) -> None:
        """Notice that another client takes over the session, as the broker states or a row of short lives shows."""
        self._short_connections = self._short_connections + 1 if now - self._connected_at < SHORT_S else 0
        is_likely = is_stated or self._short_connections >= SHORT_CONNECTIONS
        if is_likely and now - self._taken_over_at >= TAKEN_OVER_EVERY_S:
            self._is_taken_over, self._taken_over_at = True, now

    def _on_subscribe(self, client: Any, userdata: Any, mid: int, reasons: list[Any], properties: Any) -> None:
        answers = zip(self.config.filters, reasons, strict=False)
        refused = [f"{topic}: {reason}" for topic, reason in answers if reason.is_failure]
        with self._changed:
            if self._is_closed:
                return
            self._note_connected()
            self._is_connected = not refused or len(refused) < len(reasons)
            if refused:
                self._detail += f", which refuses to send {', '.join(refused)}"

    def _note_connected(self) -> None:
        self._is_connected = self._is_answered = True
        self._connected_at = time.monotonic()
        self._since_ms = _now_ms()
        self._detail = f"connected to {self.config.address}"

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
        sender = sender_of(topic)
        with self._changed:
            if not (self._is_answered or self._is_closed):
                self._note_connected()  # brokers send what they have kept before they answer a subscription
            # while the network thread waits here, the broker waits too
            self._changed.wait_for(lambda: self._queued_bytes < self.config.max_queue_bytes or self._is_closed)
            now = time.monotonic()
            sender = sender if sender in self._known_senders else ""  # all others share one allowance
            if not self._overload.admits(sender, len(message.payload), now) and rejection is None:
                rejection = Rejection.FLOOD
            payload = b"" if rejection else bytes(message.payload)
            queued = _Message(
                self._connection, message.mid, message.qos, topic, payload, steady_ms(), sender, now, rejection
            )
            self._queue.append(queued)
            self._queued_bytes += queued.num_bytes
            self._overload.queued(sender, queued.num_bytes)
            if len(self._queue) == 1:
                self._changed.notify_all()


def sender_of(topic: str) -> str:
    """Return the device that sends a topic, as far as a topic shows it: `bms/zone-01` and everything below it."""
    levels = topic.split("/", 3)
    return "/".join(levels[:3] if len(levels) > 3 else levels[:2])


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
