"""Against a real Mosquitto: formats, credentials, hostile messages."""

import gc
import json
import threading
from contextlib import closing

import pytest

from faults.broker import Broker, Certificates
from graphghha.errors import ConfigError, DataError
from graphghha.sources import Rejection, open_source, parse_address
from source_builders import NINE, PLANT, POINTS, collect, listen, readings
from waiting import until

ROOM = "bms/zone-01/RM_TEMP"


def reading(value, **more):
    return {"time": "2018-07-02T09:00:00Z", "value": value} | more


def test_a_topic_per_point_and_a_message_per_device_become_readings_in_si(broker):
    with closing(listen(broker.port)) as source, broker.publisher() as device:
        until(lambda: source.status.is_connected)
        device.send(ROOM, reading(68.0, unit="degF"))
        device.send(
            "bms/zone-02", {"time": 1530522000, "values": {"RM_TEMP": 21.5, "FCU_CVLV": {"value": 40, "unit": "%"}}}
        )
        device.send("bms/zone-02", {"time": NINE, "FCU_DAT": 13.5})
        result = []
        while len(result) < 4:
            result += readings(source.poll(5))
    assert result == [
        ("zone-01/RM_TEMP", NINE, 20.0),
        ("zone-02/RM_TEMP", NINE, 21.5),
        ("zone-02/FCU_CVLV", NINE, 0.4),
        ("zone-02/FCU_DAT", NINE, 13.5),
    ]


def test_a_bare_value_was_measured_when_it_was_received(broker):
    with closing(listen(broker.port)) as source, broker.publisher() as device:
        until(lambda: source.status.is_connected)
        device.send(ROOM, b"21.5")
        batch = source.poll(5)
    assert batch.values.tolist() == [21.5]
    assert batch.times_ms.tolist() == [batch.received_ms]


HOSTILE = {
    b"\xff\xfe": Rejection.MALFORMED,
    b"{": Rejection.MALFORMED,
    b"[" * 100_000: Rejection.MALFORMED,
    b"": Rejection.MALFORMED,
    json.dumps(reading("warm")).encode(): Rejection.MALFORMED,
    json.dumps(reading(float("nan"))).encode(): Rejection.MALFORMED,
    json.dumps(reading(float("inf"))).encode(): Rejection.OUT_OF_LIMITS,
    json.dumps(reading(1e308)).encode(): Rejection.OUT_OF_LIMITS,
    json.dumps(reading(10**400)).encode(): Rejection.OUT_OF_LIMITS,
    json.dumps(reading(None)).encode(): Rejection.BAD_QUALITY,
    json.dumps(reading(21.0, quality="bad")).encode(): Rejection.BAD_QUALITY,
    json.dumps(reading(21.0, unit="bar")).encode(): Rejection.WRONG_UNIT,
    json.dumps(reading(21.0, time="tomorrow")).encode(): Rejection.BAD_TIME,
    json.dumps(reading(21.0, time=4102444800)).encode(): Rejection.BAD_TIME,
    json.dumps(reading(21.0, site="elsewhere")).encode(): Rejection.UNMAPPED,
}


def test_every_hostile_message_is_counted_under_its_reason_and_the_next_good_one_arrives(broker):
    with closing(listen(broker.port)) as source, broker.publisher() as device:
        until(lambda: source.status.is_connected)
        for message in HOSTILE:
            device.send(ROOM, message)
        device.send("bms/cellar/RM_TEMP", b"3")
        device.send(ROOM, b" " * (10 << 20))
        device.send(ROOM, reading(21.0))
        values, rejected = collect(source, len(HOSTILE) + 3)
    assert values == [21.0]
    expected = [*HOSTILE.values(), Rejection.UNMAPPED, Rejection.TOO_LARGE]
    assert rejected == {why: expected.count(why) for why in set(expected)}


def test_a_retained_message_is_never_a_fresh_sample(broker):
    with broker.publisher() as device:
        device.send(ROOM, b"19.0", retain=True)
        with closing(listen(broker.port)) as source:
            assert collect(source, 1) == ([], {Rejection.RETAINED: 1})
            device.send(ROOM, b"20.0", retain=True)
            assert collect(source, 1) == ([20.0], {})


def test_a_slow_reader_holds_the_broker_back_and_loses_nothing(broker):
    with closing(listen(broker.port, max_queue_bytes=2_000)) as source, broker.publisher() as device:
        until(lambda: source.status.is_connected)
        for number in range(100):
            device.send(ROOM, reading(number / 10))
        first = source.poll(5)
        assert 0 < len(first) < 10
        source.acknowledge(first)
        rest, _ = collect(source, 100 - len(first))
    assert [*first.values.tolist(), *rest] == [number / 10 for number in range(100)]


def test_no_more_messages_are_under_way_than_the_receive_maximum(broker):
    with closing(listen(broker.port, receive_maximum=5)) as source, broker.publisher() as device:
        until(lambda: source.status.is_connected)
        for number in range(12):
            device.send(ROOM, reading(float(number)))
        first, _ = collect(source, 5, acknowledge=False)
        assert first == [0.0, 1.0, 2.0, 3.0, 4.0]
        assert source.poll(0.3) is None


@pytest.fixture
def guarded(mosquitto, tmp_path):
    broker = Broker(tmp_path, tls=Certificates(tmp_path), password=("monitor", "s3cret"))
    yield broker
    broker.stop()


def test_tls_and_a_password_from_a_file(guarded, tmp_path):
    broker, secret = guarded, tmp_path / "secret"
    secret.write_text("s3cret\n")
    settings = {"use_tls": True, "ca_file": broker.tls.ca, "username": "monitor"}
    with closing(listen(broker.port, **settings, password_file=secret)) as source, broker.publisher() as device:
        until(lambda: source.status.is_connected)
        device.send(ROOM, reading(21.0))
        assert collect(source, 1)[0] == [21.0]
    secret.write_text("guessed")
    with closing(listen(broker.port, **settings, password_file=secret)) as source:
        until(lambda: "Not authorized; check username and password_file" in source.status.detail)
        assert not source.status.is_connected


# paho leaves the socket of a failed handshake to the garbage collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_broker_whose_certificate_nobody_vouches_for_is_not_trusted(guarded):
    with closing(listen(guarded.port, use_tls=True)) as source:
        until(lambda: "certificate verify failed" in source.status.detail)
        assert "with a certificate that ca_file knows?" in source.status.detail
        assert not source.status.is_connected
    del source
    gc.collect()


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("mqtts://host/bms?ca_file=absent.pem", ConfigError),
        ("mqtt://eve@host/bms?password_file=absent", DataError),
        ("mqtt://host/bms?password_file=absent", ConfigError),
    ],
)
def test_credentials_that_cannot_be_used_are_refused_with_a_reason(address, error):
    with pytest.raises(error, match="absent|password_file needs a username"):
        open_source(parse_address(address), site="site", points=POINTS, plant=PLANT)


@pytest.mark.parametrize("is_started", [True, False], ids=["died", "never started"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_network_thread_that_has_ended_is_reported_and_replaced_and_nothing_is_lost(broker, is_started):
    def run_out_of_memory(*_):
        raise MemoryError

    with closing(listen(broker.port)) as source, broker.publisher() as device:
        until(lambda: source.status.is_connected)
        source._client.on_message = run_out_of_memory
        device.send(ROOM, reading(20.0))
        until(lambda: source._client._thread is None, "the end of the thread")
        if not is_started:
            source._client._thread = threading.Thread()  # as paho leaves it when no thread can be started
        with pytest.raises(DataError, match="had ended; it was started again"):
            source.poll(0)
        assert not source.status.is_connected
        values, _ = collect(source, 1)
        device.send(ROOM, reading(21.0, time="2018-07-02T09:01:00Z"))
        assert values + collect(source, 1)[0] == [20.0, 21.0] and source.status.is_connected
