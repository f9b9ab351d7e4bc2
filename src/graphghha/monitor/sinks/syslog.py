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
from collections.abc import Sequence
from dataclasses import dataclass

from graphghha.monitor.sinks.base import HEARTBEAT, Event
from graphghha.monitor.sinks.cef import cef_line
from graphghha.monitor.sinks.text import clean, utc
from graphghha.monitor.sinks.tls import Tls

LOCAL0 = 16
SEVERITY = {"critical": 2, "high": 3, "medium": 4, "low": 5}  # of an event without priority: 6, informational
ENTERPRISE = 32473  # the number RFC 5612 keeps for those without one of their own
_BOM = "\ufeff"


@dataclass(frozen=True, kw_only=True, slots=True)
class SyslogConfig:
    host: str
    port: int
    tls: Tls | None = None
    timeout_s: float = 5.0
    hostname: str = ""  # how this machine calls itself in messages; its own name when empty
    enterprise: int = ENTERPRISE


class SyslogSink:
    """One connection, opened when needed.

    Syslog has no acknowledgement. We wait until the far side's TCP has confirmed every byte, and after a connection
    broke we send its last batch again, because the receiver may have died with that batch unread.
    """

    def __init__(self, name: str, config: SyslogConfig) -> None:
        self.name, self._config = name, config
        self._hostname = _ascii(config.hostname or socket.gethostname(), 255)
        self._socket: socket.socket | None = None
        self._unsure: tuple[Event, ...] = ()  # the last batch, sent again if the connection breaks

    def deliver(self, events: Sequence[Event]) -> None:
        frames = [self._frame(event) for event in events]
        if self._socket is not None and self._is_closed_by_peer(self._socket):
            self._drop()
        try:
            if self._socket is None:
                self._socket = self._connect()
                frames = [self._frame(event) for event in self._unsure if event not in events] + frames
            self._socket.sendall(b"".join(frames))
            self._wait_until_confirmed(self._socket)
        except (OSError, ValueError) as exc:  # an unusable host name is no fault of the event
            self._drop()
            raise ConnectionError(f"syslog {self._config.host}:{self._config.port}: {exc}") from exc
        self._unsure = tuple(event for event in events if event.kind != HEARTBEAT) or self._unsure

    def close(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
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
        """A receiver sends nothing back, so anything readable is an end or a TLS message."""
        sock.setblocking(False)
        try:
            return sock.recv(1024) == b""
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        except OSError:
            return True
        finally:
            sock.settimeout(self._config.timeout_s)

    def _wait_until_confirmed(self, sock: socket.socket) -> None:
        """Until the kernel's queue of unconfirmed bytes is empty."""
        end = time.monotonic() + self._config.timeout_s
        while unconfirmed := _unconfirmed(sock):
            if time.monotonic() > end:
                raise TimeoutError(f"{unconfirmed} bytes were not confirmed within {self._config.timeout_s:g} s")
            time.sleep(0.005)

    def _frame(self, event: Event) -> bytes:
        message = syslog_message(event, hostname=self._hostname, enterprise=self._config.enterprise, pid=os.getpid())
        return b"%d %s" % (len(message), message)


def syslog_message(event: Event, *, hostname: str, enterprise: int, pid: int) -> bytes:
    """One RFC 5424 message, without framing."""
    priority = LOCAL0 * 8 + SEVERITY.get(str(event.body.get("priority")), 6)
    pairs = {"key": event.key, "site": event.site, "kind": event.kind, "incident": event.body.get("id", "")}
    params = " ".join(f'{name}="{_param(value)}"' for name, value in pairs.items() if value != "")
    data = f"[graphghha@{enterprise} {params}]"
    head = f"<{priority}>1 {utc(event.time_ms)} {hostname} graphghha {pid} {_ascii(event.kind, 32)} {data} "
    return (head + _BOM + cef_line(event)).encode("utf-8")


def _param(value: object) -> str:
    return re.sub(r'(["\\\]])', r"\\\1", clean(value, 200))


def _ascii(text: str, limit: int) -> str:
    """A header field: printable ASCII without spaces, or the nil value."""
    return re.sub(r"[^\x21-\x7e]", "_", text)[:limit] or "-"


def _unconfirmed(sock: socket.socket) -> int:
    """Bytes written and not yet confirmed by the far side; 0 where the system does not say."""
    try:
        count: int = struct.unpack("i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, b"\0" * 4))[0]
    except OSError:
        return 0
    return count
