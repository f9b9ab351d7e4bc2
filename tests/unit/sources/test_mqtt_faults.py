"""Against a real Mosquitto: what is lost, kept and reported when connections fail."""

from contextlib import closing

import pytest

from faults.broker import free_port
from faults.proxy import FaultProxy
from graphghha.errors import DataError
from source_builders import collect, listen
from waiting import until

ROOM = "bms/zone-01/RM_TEMP"
PUBACK_BYTES = 4  # of the shortest acknowledgement


@pytest.fixture
def proxy(broker):
    with FaultProxy(("127.0.0.1", broker.port)) as between:
        yield between


def send(device, *values):
    for value in values:
        device.send(ROOM, {"time": "2018-07-02T09:00:00Z", "value": value})


def test_what_was_not_acknowledged_comes_again_after_a_reset_and_the_rest_does_not(broker, proxy):
    with closing(listen(proxy.port)) as source, broker.publisher() as device:
        until(lambda: source.status.is_connected)
        before = proxy.sent_bytes
        send(device, 1.0, 2.0)
        assert collect(source, 2)[0] == [1.0, 2.0]
        until(lambda: proxy.sent_bytes >= before + 2 * PUBACK_BYTES)
        send(device, 3.0, 4.0)
        assert collect(source, 2, acknowledge=False)[0] == [3.0, 4.0]
        proxy.reset()
        assert collect(source, 2)[0] == [3.0, 4.0]
        send(device, 5.0)
        assert collect(source, 1)[0] == [5.0]


def test_an_acknowledgement_of_an_older_connection_is_not_sent(broker, proxy):
    with closing(listen(proxy.port)) as source, broker.publisher() as device:
        until(lambda: source.status.is_connected)
        send(device, 1.0)
        before = source.poll(5)
        proxy.reset()
        again = source.poll(10)
        source.acknowledge(before)
        since_ms = source.status.since_ms
        proxy.reset()
        until(lambda: source.status.is_connected and source.status.since_ms > since_ms)
        assert before.values.tolist() == again.values.tolist() == collect(source, 1)[0] == [1.0]


def test_messages_sent_while_we_are_away_wait_for_the_next_start(broker):
    with closing(listen(broker.port)) as source:
        until(lambda: source.status.is_connected)
    with broker.publisher() as device:
        send(device, 1.0, 2.0)
    with closing(listen(broker.port)) as source:
        assert collect(source, 2)[0] == [1.0, 2.0]


def test_a_broker_that_restarts_is_found_again(broker):
    with closing(listen(broker.port)) as source:
        until(lambda: source.status.is_connected)
        broker.stop()
        until(lambda: not source.status.is_connected)
        assert "trying again" in source.status.detail
        assert source.poll(0.1) is None
        broker.start()
        until(lambda: source.status.is_connected)
        with broker.publisher() as device:
            send(device, 1.0)
        assert collect(source, 1)[0] == [1.0]


def test_a_dead_broker_at_the_start_is_waited_for():
    with closing(listen(free_port())) as source:
        until(lambda: "cannot reach" in source.status.detail)
        assert not source.status.is_connected
        assert source.poll(0.1) is None


def test_a_black_hole_is_noticed_and_nothing_is_lost(broker, proxy):
    with closing(listen(proxy.port, keepalive_s=1)) as source, broker.publisher() as device:
        until(lambda: source.status.is_connected)
        proxy.black_hole()
        send(device, 1.0)
        until(lambda: not source.status.is_connected)
        proxy.black_hole(False)
        assert collect(source, 1)[0] == [1.0]


def test_a_delay_only_delays(broker, proxy):
    proxy.delay_s = 0.05
    with closing(listen(proxy.port)) as source, broker.publisher() as device:
        until(lambda: source.status.is_connected)
        send(device, 1.0, 2.0)
        assert collect(source, 2)[0] == [1.0, 2.0]


def test_a_session_that_another_client_takes_over_is_reported(broker):
    """The broker disconnects whoever had the id before."""
    with closing(listen(broker.port)) as source:
        until(lambda: source.status.is_connected)
        with closing(listen(broker.port)) as other:
            until(lambda: other.status.is_connected)

            def is_reported():
                try:
                    source.poll(0.1)
                except DataError as exc:
                    assert "another client seems to use the id" in str(exc)
                    return True
                return False

            until(is_reported)
