"""The far side of every kind of sink: receivers that can be taken down, brought up again and asked what arrived."""

import json
import os
import sys
from pathlib import Path
from typing import Protocol, TextIO

from faults.broker import Broker, Certificates, free_port
from faults.syslog_receiver import SyslogReceiver
from graphghha._util.tls import Tls
from graphghha.monitor.sinks import (
    JsonLinesFile,
    JsonLinesStdout,
    MqttSink,
    MqttSinkConfig,
    Sink,
    SyslogConfig,
    SyslogSink,
)
from sink_builders import Listener


class Receiver(Protocol):
    """What a sink delivers to. It starts up."""

    repeats_last_batch: bool  # whether the sink sends its last batch again after an outage, for lack of confirmation

    def sink(self) -> Sink:
        """Return a new sink that delivers here."""

    def keys(self) -> list[str]:
        """Return the keys of the events that have arrived so far, in order."""

    def take_down(self) -> None: ...

    def bring_up(self) -> None: ...

    def close(self) -> None: ...


class FileReceiver:
    """A folder that disappears and comes back."""

    repeats_last_batch = False

    def __init__(self, folder: Path) -> None:
        self._folder, self._away = folder / "out", folder / "away"
        self._folder.mkdir()

    def sink(self) -> Sink:
        return JsonLinesFile("jsonl", self._folder / "events.jsonl")

    def keys(self) -> list[str]:
        file = self._folder / "events.jsonl"
        return [json.loads(line)["key"] for line in file.read_text().splitlines()] if file.exists() else []

    def take_down(self) -> None:
        self._folder.rename(self._away)

    def bring_up(self) -> None:
        self._away.rename(self._folder)

    def close(self) -> None: ...


class StdoutReceiver:
    """Standard output into a file, or into a pipe that nobody reads."""

    repeats_last_batch = False

    def __init__(self, folder: Path) -> None:
        self._file, self._is_up = folder / "stdout", True
        self._file.touch()
        self._streams: list[TextIO] = []

    def sink(self) -> Sink:
        self._redirect()  # here and not earlier: pytest sets standard output itself before a test begins
        return JsonLinesStdout("stdout", lambda: None)

    def keys(self) -> list[str]:
        return [json.loads(line)["key"] for line in self._file.read_text().splitlines()]

    def take_down(self) -> None:
        self._is_up = False
        self._redirect()

    def bring_up(self) -> None:
        self._is_up = True
        self._redirect()

    def close(self) -> None:
        for stream in self._streams:
            stream.close()

    def _redirect(self) -> None:
        if self._is_up:
            sys.stdout = self._file.open("a")
        else:
            reader, writer = os.pipe()
            os.close(reader)
            sys.stdout = os.fdopen(writer, "w")
        self._streams.append(sys.stdout)


class MqttReceiver:
    """A real broker, which keeps messages for a listener."""

    repeats_last_batch = False

    def __init__(self, folder: Path) -> None:
        self._broker, self._keys = Broker(folder), []
        self._collect()  # from now on the broker keeps messages for this listener

    def sink(self) -> Sink:
        return MqttSink("mqtt", MqttSinkConfig(host="127.0.0.1", port=self._broker.port, timeout_s=3))

    def keys(self) -> list[str]:
        self._collect()
        return list(self._keys)

    def take_down(self) -> None:
        self._broker.stop()

    def bring_up(self) -> None:
        self._broker.start()

    def close(self) -> None:
        self._broker.stop()

    def _collect(self) -> None:
        with Listener(self._broker.port, persistent=True) as listener:
            pass
        for message in listener.messages:
            key = json.loads(message.payload)["key"]
            # a listener that leaves before its receipt has arrived is sent the message again, marked as a duplicate
            if not (message.dup and key in self._keys):
                self._keys.append(key)


class SiemReceiver:
    """A syslog receiver over TCP or TLS."""

    repeats_last_batch = True

    def __init__(self, certificates: Certificates | None = None) -> None:
        self._certificates, self._port = certificates, free_port()
        self._receivers: list[SyslogReceiver] = []
        self.bring_up()

    def sink(self) -> Sink:
        tls = Tls(ca_file=self._certificates.ca) if self._certificates else None
        return SyslogSink("syslog", SyslogConfig(host="127.0.0.1", port=self._port, tls=tls, timeout_s=3))

    def keys(self) -> list[str]:
        messages = [message for receiver in self._receivers for message in receiver.messages]
        return [message.split('key="', 1)[1].split('"', 1)[0] for message in messages]

    def take_down(self) -> None:
        self._receivers[-1].close()

    def bring_up(self) -> None:
        self._receivers.append(SyslogReceiver(self._port, tls=self._certificates))

    def close(self) -> None:
        self._receivers[-1].close()
