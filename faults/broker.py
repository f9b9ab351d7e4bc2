"""A Mosquitto broker on a free port that a trial or a test starts, kills and restarts."""

import contextlib
import getpass
import json
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from paho.mqtt.client import Client, MQTTMessageInfo, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion

from graphghha.errors import EngineError

BINARY = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
MAX_PENDING = 20_000  # unconfirmed messages; an MQTT client can number at most 65,535
SIGNAL_AGAIN_S = 2.0
WAIT_S = 20


class Broker:
    """A running broker in a folder of its own. It keeps sessions over a clean restart, as a broker in a plant does."""

    def __init__(
        self,
        folder: Path,
        *,
        tls: "Certificates | None" = None,
        password: tuple[str, str] | None = None,
        settings: tuple[str, ...] = (),
    ) -> None:
        self.port = free_port()
        self.tls, self.password = tls, password
        self._log = folder / "mosquitto.log"
        lines = [
            f"listener {self.port} 127.0.0.1",
            "persistence true",
            f"persistence_location {folder}/",
            "max_inflight_messages 0",
            "max_queued_messages 0",
            f"user {getpass.getuser()}",  # otherwise Mosquitto drops its rights to this folder
            f"allow_anonymous {'false' if password else 'true'}",
            *settings,
        ]
        if tls:
            lines += [f"cafile {tls.ca}", f"certfile {tls.cert}", f"keyfile {tls.key}"]
        if password:
            file = folder / "passwords"
            file.touch(mode=0o600)
            subprocess.run(["mosquitto_passwd", "-b", str(file), *password], check=True, capture_output=True)
            lines.append(f"password_file {file}")
        self._config = folder / "mosquitto.conf"
        self._config.write_text("\n".join(lines) + "\n")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def address(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> None:
        assert self._process is None
        if BINARY is None:
            raise EngineError("the mosquitto broker is not installed (Debian: apt-get install mosquitto)")
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([BINARY, "-c", str(self._config)], stdout=log, stderr=log)
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError as exc:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise RuntimeError(f"mosquitto did not start:\n{self._log.read_text()}") from exc
                time.sleep(0.02)

    def stop(self, sig: int = signal.SIGTERM) -> None:
        """End the broker; a signal that comes just before its loop begins is forgotten by it, so it is sent again."""
        deadline = time.monotonic() + WAIT_S
        while self._process is not None:
            self._process.send_signal(sig)
            try:
                self._process.wait(SIGNAL_AGAIN_S)
                self._process = None
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    raise

    def restart(self) -> None:
        self.stop()
        self.start()

    def __enter__(self) -> "Broker":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @contextlib.contextmanager
    def publisher(self) -> Iterator["Publisher"]:
        publisher = Publisher(self)
        try:
            yield publisher
        finally:
            publisher.close()


class Publisher:
    """A device that publishes with QoS 1 and waits until the broker has confirmed the message."""

    def __init__(self, broker: Broker) -> None:
        self._client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5)
        if broker.password:
            self._client.username_pw_set(*broker.password)
        if broker.tls:
            self._client.tls_set(ca_certs=str(broker.tls.ca))
        self._pending: list[MQTTMessageInfo] = []
        self._client.connect("127.0.0.1", broker.port)
        self._client.loop_start()

    def send(self, topic: str, message: object, *, retain: bool = False, qos: int = 1) -> None:
        payload = message if isinstance(message, bytes) else json.dumps(message).encode()
        self._client.publish(topic, payload, qos=qos, retain=retain).wait_for_publish(WAIT_S)

    def post(self, topic: str, payload: bytes) -> None:
        """Publish without waiting for the confirmation; `flush` waits for all of them."""
        if len(self._pending) >= MAX_PENDING:
            self.flush()
        self._pending.append(self._client.publish(topic, payload, qos=1))

    def flush(self) -> None:
        pending, self._pending = self._pending, []
        for message in pending:
            message.wait_for_publish(WAIT_S)

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


class Certificates:
    """A certificate authority and a server certificate for 127.0.0.1, made by openssl."""

    def __init__(self, folder: Path) -> None:
        self.ca, self.cert, self.key = folder / "ca.pem", folder / "server.pem", folder / "server.key"
        ca_key, request, names = folder / "ca.key", folder / "server.csr", folder / "names.cnf"
        names.write_text("subjectAltName=IP:127.0.0.1\n")
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        sign = ["-CA", str(self.ca), "-CAkey", str(ca_key), "-CAcreateserial", "-days", "2", "-extfile", str(names)]
        for command in (
            ["req", "-x509", *key, "-keyout", str(ca_key), "-out", str(self.ca), "-days", "2", "-subj", "/CN=test ca"],
            ["req", *key, "-keyout", str(self.key), "-out", str(request), "-subj", "/CN=127.0.0.1"],
            ["x509", "-req", "-in", str(request), "-out", str(self.cert), *sign],
        ):
            subprocess.run(["openssl", *command], check=True, capture_output=True)


def free_port() -> int:
    """Return a TCP port that nothing listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
