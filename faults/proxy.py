"""A TCP proxy that injects connection faults on command: resets, black holes, delays."""

import contextlib
import selectors
import socket
import struct
import threading
import time

BLOCK_BYTES = 1 << 16
_RESET = struct.pack("ii", 1, 0)  # linger for 0 s, so that close() sends RST


class FaultProxy:
    """Forwards connections between a client and `target`. Faults apply to open and to new connections."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self.delay_s = 0.0  # added to every block, in both directions
        self._is_black_hole = False
        self._refuses = False
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._lock = threading.Lock()
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._selector.register(self._listener, selectors.EVENT_READ)
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        self.sent_bytes = 0  # passed on from clients to the target
        self._clients: set[socket.socket] = set()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def reset(self) -> None:
        """Close every connection with RST."""
        with self._lock:
            for end in list(self._pairs):
                with contextlib.suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                self._drop(end)

    def black_hole(self, is_on: bool = True) -> None:
        """Keep connections open but drop all data; switching it off resets these connections."""
        if not is_on:
            self.reset()
        self._is_black_hole = is_on

    def refuse(self, is_on: bool = True) -> None:
        """Reset new connections at once."""
        self._refuses = is_on

    def close(self) -> None:
        self._is_closed = True
        self._thread.join(5)
        self.reset()
        self._listener.close()
        self._selector.close()

    def __enter__(self) -> "FaultProxy":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _run(self) -> None:
        while not self._is_closed:
            for key, _ in self._selector.select(0.05):
                with self._lock:
                    if key.fileobj is self._listener:
                        self._accept()
                    elif key.fileobj in self._pairs:
                        self._pass_on(key.fileobj)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        self.connections += 1
        try:
            if self._refuses:
                raise ConnectionRefusedError
            server = socket.create_connection(self.target, timeout=5)
        except OSError:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            client.close()
            return
        self._clients.add(client)
        for end, other in ((client, server), (server, client)):
            end.settimeout(5)
            self._pairs[end] = other
            self._selector.register(end, selectors.EVENT_READ)

    def _pass_on(self, end: socket.socket) -> None:
        try:
            block = end.recv(BLOCK_BYTES)
            if not block:
                raise ConnectionResetError
            if self._is_black_hole:
                return
            if self.delay_s:
                time.sleep(self.delay_s)
            self._pairs[end].sendall(block)
            self.sent_bytes += len(block) if end in self._clients else 0
        except OSError:
            self._drop(end)

    def _drop(self, end: socket.socket) -> None:
        for each in (end, self._pairs.pop(end, None)):
            if each is None:
                continue
            self._pairs.pop(each, None)
            self._clients.discard(each)
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(each)
            each.close()
