"""A syslog receiver over TCP or TLS for the syslog sink."""

import contextlib
import socket
import ssl
import threading
from pathlib import Path
from typing import BinaryIO, Protocol


class KeyPair(Protocol):
    """Files of a server certificate and its private key."""

    cert: Path
    key: Path


class SyslogReceiver:
    """Accepts connections one after another and collects the messages of octet-counted frames."""

    def __init__(self, port: int = 0, *, tls: KeyPair | None = None) -> None:
        self.messages: list[str] = []
        self._connections: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self._context: ssl.SSLContext | None = None
        if tls:
            self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self._context.load_cert_chain(tls.cert, tls.key)
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self) -> "SyslogReceiver":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError):
                if self._context:
                    connection = self._context.wrap_socket(connection, server_side=True)
                self._connections.append(connection)
                with connection.makefile("rb") as stream:
                    self._read(stream)
                connection.close()  # as a receiver does that has read everything

    def _read(self, stream: BinaryIO) -> None:
        while length := self._length(stream):
            message = stream.read(length)
            if len(message) == length:
                self.messages.append(message.decode("utf-8"))

    def _length(self, stream: BinaryIO) -> int:
        digits = b""
        while (byte := stream.read(1)) not in (b" ", b""):
            digits += byte
        return int(digits or b"0")
