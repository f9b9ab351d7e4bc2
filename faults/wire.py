"""What is at the other end of the wire: odd brokers, servers that cannot prove their name, clients with our id."""

import os
import signal
import time
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from faults.broker import Broker, Publisher
from faults.certificates import Authority, KeyPair
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, expect_none
from faults.odd_server import OddServer, announce_largest, confirm_only, listen_only, send_garbage
from faults.rig import PREFIX, Rig, memory_mb, until
from faults.toy_detector import SITE, START_MS
from graphghha._util.tls import Tls
from graphghha.alarms import StoredEvent
from graphghha.errors import DataError
from graphghha.monitor.sinks import SyslogConfig, SyslogSink
from graphghha.plants import load_plant
from graphghha.sources import Rejection, open_source, parse_address

PACKET, ODD, BROKER, TAKEN, RETAINED, TLS = (
    "broker announces a packet of 268 MB",
    "broker is silent, only accepts, or sends garbage",
    "kill -9 of the broker, 6 times",
    "another client under our client id",
    "12 retained messages of the year 2000 at the first connection",
    "TLS: another authority, expired, not yet valid, other host, no name, plain",
)
MAX_GROWTH_MB, MAX_CPU = 50.0, 20.0
POINT = f"{PREFIX}/zone-01/RM_TEMP"
READINGS, KILLS = 30, 6


def try_wire(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    figures: list[Figure] = []
    for number, (name, trial) in enumerate(
        (
            (PACKET, _packet),
            (ODD, _odd),
            (BROKER, _broker),
            (TAKEN, _taken),
            (RETAINED, _retained),
            (TLS, _tls),
        )
    ):
        progress(name)
        own = folder / str(number)
        own.mkdir(parents=True)
        figures += trial(own, effort)
    return figures


def _open(port: int, ca: Path | None = None) -> Any:
    plant = load_plant("fcu")
    config: Any = parse_address(f"{'mqtts' if ca else 'mqtt'}://127.0.0.1:{port}/{PREFIX}?keepalive_s=5")
    config = replace(config, ca_file=ca)
    return open_source(config, site=SITE, points=plant.template.replicate(2).points, plant=plant)


def _send(device: Publisher, first: int, count: int) -> None:
    for number in range(first, first + count):
        device.send(POINT, {"time": START_MS // 1000 + 60 * number, "value": 20.0 + number / 100})


def _collect(source: Any, got: set[float], counted: dict[str, int]) -> None:
    """Take and acknowledge what is there; count what was rejected or reported."""
    try:
        batch = source.poll(0.1)
    except DataError as exc:
        counted["reports"] = counted.get("reports", 0) + ("another client" in str(exc))
        return
    if batch is not None:
        got.update(batch.values.tolist())
        retained = batch.rejected.get(Rejection.RETAINED, 0)
        counted["retained"] = counted.get("retained", 0) + retained
        source.acknowledge(batch)


def _packet(folder: Path, effort: Effort) -> list[Figure]:
    before = highest = memory_mb(os.getpid())
    with OddServer(announce_largest) as server, closing(_open(server.port)) as source:
        end = time.monotonic() + effort.odd_broker_s
        until(lambda: server.connections > 0, "a connection")
        while time.monotonic() < end:
            with suppress(DataError):
                source.poll(0.02)
            highest = max(highest, memory_mb(os.getpid()))
        attempts = server.connections
    return [
        expect_at_most(PACKET, "memory growth", highest - before, MAX_GROWTH_MB, " MB"),
        expect_at_most(PACKET, "connections a second", attempts / effort.odd_broker_s, 2),
    ]


def _odd(folder: Path, effort: Effort) -> list[Figure]:
    with ExitStack() as stack:
        servers = [stack.enter_context(OddServer(serve)) for serve in (listen_only, confirm_only, send_garbage)]
        sources = [stack.enter_context(closing(_open(server.port))) for server in servers]
        until(lambda: all(server.connections for server in servers), "connections")
        began, used, connected = time.monotonic(), time.process_time(), 0
        while time.monotonic() < began + effort.odd_broker_s:
            for source in sources:
                with suppress(DataError):
                    source.poll(0.1)
            connected += sum(source.status.is_connected for source in sources)
        share = 100 * (time.process_time() - used) / (time.monotonic() - began)
        named = sum(bool(source.status.detail) for source in sources)
    return [
        expect_none(ODD, "looks at which one counts as connected", connected),
        expect_all(ODD, "sources that say what they wait for", named, len(sources)),
        expect_at_most(ODD, "processor time, all three", share, MAX_CPU, " %"),
    ]


def _broker(folder: Path, effort: Effort) -> list[Figure]:
    got: set[float] = set()
    counted: dict[str, int] = {}
    back = sent = 0
    with Broker(folder) as broker, closing(_open(broker.port)) as source:
        for _ in range(KILLS):
            until(lambda: source.status.is_connected, "a connection")
            broker.stop(signal.SIGKILL)
            until(lambda: not source.status.is_connected, "the loss of the connection")
            broker.start()
            until(lambda: source.status.is_connected, "a new connection")
            back += 1
            with broker.publisher() as device:
                _send(device, sent, 5)
            sent += 5
            end = time.monotonic() + 30
            while len(got) < sent and time.monotonic() < end:
                _collect(source, got, counted)
    return [
        expect_all(BROKER, "connections that come back by themselves", back, KILLS),
        expect_none(BROKER, "readings lost that were sent after it", sent - len(got), str(sent)),
    ]


def _taken(folder: Path, effort: Effort) -> list[Figure]:
    got: set[float] = set()
    counted: dict[str, int] = {}
    with Broker(folder) as broker, closing(_open(broker.port)) as source, broker.publisher() as device:
        until(lambda: source.status.is_connected, "a connection")
        _send(device, 0, READINGS // 3)
        with closing(_open(broker.port)) as other:
            until(lambda: other.status.is_connected, "a second client")
            _send(device, READINGS // 3, READINGS // 3)
            end = time.monotonic() + 60
            while not counted.get("reports") and time.monotonic() < end:
                _collect(source, got, counted)
        _send(device, READINGS - READINGS // 3, READINGS // 3)
        end = time.monotonic() + 30
        while len(got) < READINGS and time.monotonic() < end:
            _collect(source, got, counted)
    return [
        expect_all(TAKEN, "reported as a failure of the source", counted.get("reports", 0), 1),
        expect_none(TAKEN, "readings lost, if it acknowledges none", READINGS - len(got), str(READINGS)),
    ]


def _retained(folder: Path, effort: Effort) -> list[Figure]:
    got: set[float] = set()
    counted: dict[str, int] = {}
    with Broker(folder) as broker, broker.publisher() as device:
        for number in range(12):
            message = {"time": 946_684_800 + 60 * number, "value": 5.0}
            device.send(f"{POINT}/{number}" if number else POINT, message, retain=True)
        with closing(_open(broker.port)) as source:
            until(lambda: source.status.is_connected, "a connection")
            _send(device, 0, READINGS)
            end = time.monotonic() + 30
            while len(got) < READINGS and time.monotonic() < end:
                _collect(source, got, counted)
    return [
        expect_all(RETAINED, "refused and counted", counted.get("retained", 0), 12),
        expect_all(RETAINED, "live readings taken", len(got - {5.0}), READINGS),
    ]


def _tls(folder: Path, effort: Effort) -> list[Figure]:
    ours, theirs = Authority(folder / "ours"), Authority(folder / "theirs")
    wrong: list[tuple[str, KeyPair | None]] = [
        ("another authority", theirs.issue("server")),
        ("expired", ours.issue("expired", begins_in=-8, days=4)),
        ("not yet valid", ours.issue("early", begins_in=2)),
        ("other host", ours.issue("other", host="other.example")),
        ("no name", ours.issue("nameless", host=None)),
        ("plain", None),
    ]
    reached = named = 0
    event = StoredEvent(1, SITE, START_MS, "incident.annunciated", {"id": "a secret incident"})
    for _, pair in wrong:
        for connect in (_deliver, _listen):
            with OddServer(listen_only, tls=pair) as server:
                named += bool(connect(server.port, ours.ca, event))
                reached += b"secret" in server.got or b"MQTT" in server.got
    with OddServer(listen_only, tls=ours.issue("right")) as server:
        _deliver(server.port, ours.ca, event)
        until(lambda: b"secret" in server.got, "what a server gets that proves its name")
    return [
        expect_none(TLS, "servers that were sent anything", reached, str(2 * len(wrong))),
        expect_all(TLS, "refusals that say why (syslog, mqtts)", named, 2 * len(wrong)),
    ]


def _deliver(port: int, ca: Path, event: StoredEvent) -> str:
    """Return why an event is not delivered over syslog."""
    sink = SyslogSink("siem", SyslogConfig(host="127.0.0.1", port=port, tls=Tls(ca_file=ca), timeout_s=2))
    try:
        sink.deliver([event])
        return ""
    except ConnectionError as exc:
        return str(exc)
    finally:
        sink.close()


def _listen(port: int, ca: Path, event: StoredEvent) -> str:
    """Return why there is no connection to a broker."""
    with closing(_open(port, ca)) as source:
        end = time.monotonic() + 10
        while "cannot reach" not in source.status.detail and time.monotonic() < end:
            time.sleep(0.05)
        return str(source.status.detail) if "cannot reach" in source.status.detail else ""
