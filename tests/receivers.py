"""A real far side for the syslog sink."""

import contextlib
import socket
import ssl
import threading


class SyslogReceiver:
    """Accepts connections one after another and takes octet-counted frames apart."""

    def __init__(self, port=0, *, tls=None):
        self.messages, self._connections = [], []
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = self._listener.getsockname()[1]
        self._context = None
        if tls:
            self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self._context.load_cert_chain(tls.cert, tls.key)
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError):
                if self._context:
                    connection = self._context.wrap_socket(connection, server_side=True)
                self._connections.append(connection)
                self._read(connection.makefile("rb"))

    def _read(self, stream):
        while length := self._length(stream):
            message = stream.read(length)
            if len(message) == length:
                self.messages.append(message.decode("utf-8"))

    def _length(self, stream):
        digits = b""
        while (byte := stream.read(1)) not in (b" ", b""):
            digits += byte
        return int(digits or b"0")
