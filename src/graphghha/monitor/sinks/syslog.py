"""Syslog to a SIEM: RFC 5424 messages with a CEF payload, octet-counted over TCP (RFC 6587) or TLS (RFC 5425)."""

import contextlib
import fcntl
import os
import re
import socket
import ssl
import struct
import termios
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from graphghha._util.text import clean
from graphghha._util.times import iso_ms
from graphghha._util.tls import Tls
from graphghha.alarms import StoredEvent
from graphghha.monitor.journal.unwritten import NOT_JOURNALED
from graphghha.monitor.sinks.base import HEARTBEAT
from graphghha.monitor.sinks.cef import cef_line

LOCAL0 = 16
SEVERITY = {"critical": 2, "high": 3, "medium": 4, "low": 5}
INFORMATIONAL = 6  # the severity of an event without priority
ENTERPRISE = 32473  # the number that RFC 5612 reserves for examples, for sites without one of their own
_BOM = "\ufeff"
_END_S = 2.0  # how long a receiver may take to close after we have


@dataclass(frozen=True, kw_only=True, slots=True)
class SyslogConfig:
    """Where messages are sent, and how this machine names itself in them."""

    host: str
    port: int
    tls: Tls | None = None
    timeout_s: float = 5.0
    hostname: str = ""  # this machine's name in messages; by default its own
    enterprise: int = ENTERPRISE
    kept_bytes: int = 1 << 20  # to be sent again; more than a receiver that does not read can hold


class SyslogSink:
    """Sends over one connection, which is opened when needed.

    Syslog has no acknowledgement. So a delivery waits until the receiver's TCP has confirmed every byte. What the
    receiver may still not have read is sent again over the next connection: the last batch if it has closed in order,
    which it can only do with nothing left to read; otherwise everything that was sent, up to `kept_bytes`. A receiver
    that closes after we have closed has read everything; if it does not, the next process sends it again.
    """

    def __init__(self, name: str, config: SyslogConfig) -> None:
        self.name, self._config = name, config
        self._hostname = _ascii(config.hostname or socket.gethostname(), 255)
        self._socket: socket.socket | None = None
        self._sent: deque[tuple[StoredEvent, int]] = deque()  # over this connection and those that broke, with sizes
        self._sent_bytes = 0
        self._last_batch = 0  # events
        self._was_closed_in_order = False

    def deliver(self, events: Sequence[StoredEvent]) -> None:
        """Send the events and wait until TCP has confirmed them."""
        frames = [self._frame(event) for event in events]
        if self._socket is not None and self._is_closed_by_peer(self._socket):
            self._drop()
        again: list[StoredEvent] = []
        try:
            if self._socket is None:
                self._socket = self._connect()
                again = [event for event in self._unread() if event not in events]
                self._was_closed_in_order = False
            self._socket.sendall(b"".join([self._frame(event) for event in again] + frames))
            self._wait_until_confirmed(self._socket)
        except (OSError, ValueError) as exc:  # ValueError: an unusable host name, for which the event is not to blame
            self._drop()
            raise ConnectionError(f"syslog {self._config.host}:{self._config.port}: {exc}") from exc
        self._note_sent(events, frames)

    def _unread(self) -> list[StoredEvent]:
        """Return what the receiver of the last connection may not have read."""
        if self._was_closed_in_order:
            for _ in range(len(self._sent) - self._last_batch):
                self._sent_bytes -= self._sent.popleft()[1]
        return [event for event, _ in self._sent]

    def _note_sent(self, events: Sequence[StoredEvent], frames: Sequence[bytes]) -> None:
        kept = [(event, len(frame)) for event, frame in zip(events, frames, strict=True) if event.kind != HEARTBEAT]
        if not kept:
            return
        self._sent.extend(kept)
        self._sent_bytes += sum(size for _, size in kept)
        self._last_batch = len(kept)
        while self._sent_bytes > self._config.kept_bytes and len(self._sent) > self._last_batch:
            self._sent_bytes -= self._sent.popleft()[1]

    @property
    def first_unread(self) -> int | None:
        """Return the number of the oldest event of the journal that was sent and may not have been read."""
        return next((event.number for event, _ in self._sent if NOT_JOURNALED not in event.body), None)

    def close(self) -> None:
        """Close the connection; a receiver that closes it as well has read everything."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
                _wait_for_end(self._socket, min(_END_S, self._config.timeout_s))
                self._sent.clear()
                self._sent_bytes = self._last_batch = 0
        self._drop()

    def _drop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connect(self) -> socket.socket:
        config = self._config
        plain = socket.create_connection((config.host, config.port), timeout=config.timeout_s)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if config.tls is None:
            return plain
        try:
            return config.tls.context().wrap_socket(plain, server_hostname=config.host)
        except OSError:
            plain.close()
            raise

    def _is_closed_by_peer(self, sock: socket.socket) -> bool:
        """Return whether the receiver has closed; it sends no data, so all there is to read is an end or TLS."""
        sock.setblocking(False)
        try:
            self._was_closed_in_order = sock.recv(1024) == b""
            return self._was_closed_in_order
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        except OSError:
            return True
        finally:
            sock.settimeout(self._config.timeout_s)

    def _wait_until_confirmed(self, sock: socket.socket) -> None:
        """Wait until the kernel has no unconfirmed bytes left."""
        end = time.monotonic() + self._config.timeout_s
        while unconfirmed := _unconfirmed(sock):
            if time.monotonic() > end:
                raise TimeoutError(f"{unconfirmed} bytes were not confirmed within {self._config.timeout_s:g} s")
            time.sleep(0.005)

    def _frame(self, event: StoredEvent) -> bytes:
        message = syslog_message(event, hostname=self._hostname, enterprise=self._config.enterprise, pid=os.getpid())
        return b"%d %s" % (len(message), message)


def syslog_message(event: StoredEvent, *, hostname: str, enterprise: int, pid: int) -> bytes:
    """Return one RFC 5424 message, without framing."""
    priority = LOCAL0 * 8 + SEVERITY.get(str(event.body.get("priority")), INFORMATIONAL)
    pairs = {"key": event.key, "site": event.site, "kind": event.kind, "incident": event.body.get("id", "")}
    params = " ".join(f'{name}="{_param(value)}"' for name, value in pairs.items() if value != "")
    data = f"[graphghha@{enterprise} {params}]"
    head = f"<{priority}>1 {iso_ms(event.time_ms)} {hostname} graphghha {pid} {_ascii(event.kind, 32)} {data} "
    return (head + _BOM + cef_line(event)).encode("utf-8")


def _param(value: object) -> str:
    return re.sub(r'(["\\\]])', r"\\\1", clean(value, 200))


def _ascii(text: str, limit: int) -> str:
    """Return a header field: printable ASCII without spaces, or the nil value."""
    return re.sub(r"[^\x21-\x7e]", "_", text)[:limit] or "-"


def _wait_for_end(sock: socket.socket, timeout_s: float) -> None:
    """Wait until the receiver closes in order, which it can only do with nothing left to read; raise OSError if not."""
    end = time.monotonic() + timeout_s
    while True:
        sock.settimeout(max(0.01, end - time.monotonic()))
        if not sock.recv(1024):
            return
        if time.monotonic() > end:
            raise TimeoutError("the receiver goes on to send")


def _unconfirmed(sock: socket.socket) -> int:
    """Return how many bytes the receiver has not confirmed yet; 0 where the system does not report it."""
    try:
        count: int = struct.unpack("i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, b"\0" * 4))[0]
    except OSError:
        return 0
    return count
