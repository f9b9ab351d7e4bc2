"""Servers that do not do what their clients expect: they stay silent, send garbage, or announce too much."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable

from faults.certificates import KeyPair

CONNACK = b"\x20\x03\x00\x00\x00"
LARGEST_PACKET = b"\x30\xff\xff\xff\x7f\x00\x03bms\x00"  # a message of 268,435,455 bytes begins so
BLOCK = bytes(1 << 16)


class OddServer:
    """Accepts connections one after another, hands each to `serve`, and keeps what clients send in the clear."""

    def __init__(self, serve: Callable[["OddServer", socket.socket], None], *, tls: KeyPair | None = None) -> None:
        self.got = b""
        self.connections = 0
        self._serve = serve
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._context: ssl.SSLContext | None = None
        if tls:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(tls.cert, tls.key)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "OddServer":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            with contextlib.suppress(OSError), connection:
                connection.settimeout(10)
                if self._context:
                    connection = self._context.wrap_socket(connection, server_side=True)
                with connection:
                    self._serve(self, connection)

    def receive(self, connection: socket.socket) -> bytes:
        """Return what a client sends next; empty at the end."""
        block = connection.recv(1 << 16)
        self.got += block
        return block


def listen_only(server: OddServer, connection: socket.socket) -> None:
    """Take everything and answer nothing."""
    while server.receive(connection):
        pass


def confirm_only(server: OddServer, connection: socket.socket) -> None:
    """Accept an MQTT client and answer nothing else."""
    server.receive(connection)
    connection.sendall(CONNACK)
    listen_only(server, connection)


def send_garbage(server: OddServer, connection: socket.socket) -> None:
    """Answer with bytes that are no MQTT."""
    server.receive(connection)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + bytes(range(256)) * 16)


def announce_largest(server: OddServer, connection: socket.socket) -> None:
    """Accept a subscription, then send the largest message that MQTT can express, as far as it is taken."""
    server.receive(connection)
    connection.sendall(CONNACK)
    subscribe = server.receive(connection)
    connection.sendall(b"\x90\x05" + subscribe[2:4] + b"\x00\x01\x01")
    connection.sendall(LARGEST_PACKET)
    for _ in range(268_000_000 // len(BLOCK)):
        connection.sendall(BLOCK)
    listen_only(server, connection)
