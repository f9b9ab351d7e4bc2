"""Real far sides for sinks: a syslog receiver over TCP or TLS, a certificate for it, a Mosquitto broker."""

import contextlib
import getpass
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

import pytest


def needs(program):
    """The path of a program; without it the test skips, and fails in CI."""
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/sbin")
    if found:
        return found
    if os.environ.get("CI"):
        pytest.fail(f"{program} is not installed: in CI no test may skip")
    pytest.skip(f"needs {program} (Debian: apt-get install {program})")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def certificate(folder: Path, name="localhost"):
    """A self-signed certificate of `name` and its key."""
    cert, key = folder / f"{name}.crt", folder / f"{name}.key"
    subject = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name},IP:127.0.0.1"]
    command = [needs("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    subprocess.run(
        [*command, "-nodes", "-days", "2", "-keyout", key, "-out", cert, *subject], check=True, capture_output=True
    )
    return cert, key


class SyslogReceiver:
    """Accepts connections one after another and takes octet-counted frames apart."""

    def __init__(self, port=0, *, tls=None):
        self.messages, self._connections = [], []
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = self._listener.getsockname()[1]
        self._context = None
        if tls:
            self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self._context.load_cert_chain(*tls)
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


class Mosquitto:
    """A broker of its own on a free port; settings are lines of its configuration file."""

    def __init__(self, folder: Path, *settings, port=None):
        self.port, self._folder, self._settings = port or free_port(), folder, settings
        self._process = None
        self._program = needs("mosquitto")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        config = self._folder / "mosquitto.conf"
        # started by root it would change to a user that cannot read the test's folder
        lines = [f"user {getpass.getuser()}", f"listener {self.port} 127.0.0.1", *self._settings]
        config.write_text("\n".join(lines) + "\n")
        self._process = subprocess.Popen(
            [self._program, "-c", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._wait_until_open()

    def stop(self):
        if self._process:
            self._process.terminate()
            self._process.wait(10)
            self._process = None

    def _wait_until_open(self):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            assert self._process.poll() is None, "mosquitto did not start"
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.02)
        raise AssertionError("mosquitto does not listen")
