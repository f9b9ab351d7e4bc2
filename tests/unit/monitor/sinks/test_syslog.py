"""Syslog against real receivers, in the clear and over TLS."""

import socket

import pytest

from faults.broker import Certificates
from faults.syslog_receiver import SyslogReceiver
from graphghha._util.tls import Tls
from graphghha.monitor.sinks import Cursor, Follower, FollowRule, SyslogConfig, SyslogSink, stop_all
from sink_builders import HOSTILE, MemoryLog, incident
from waiting import until

QUICK = FollowRule(poll_s=0.01, first_retry_s=0.01, longest_retry_s=0.05, batch=16)


def sink_to(port, **more):
    return SyslogSink("siem", SyslogConfig(host="127.0.0.1", port=port, timeout_s=3, hostname="plant host", **more))


def event_keys(messages):
    return [message.split('key="', 1)[1].split('"', 1)[0] for message in messages]


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("ours"))


def test_frames_arrive_whole_with_hostile_names_in_them():
    events = [incident(n, root=name, site=name) for n, name in enumerate(HOSTILE.values(), 1)]
    with SyslogReceiver() as receiver:
        sink = sink_to(receiver.port)
        sink.deliver(events)
        sink.close()
        until(lambda: len(receiver.messages) == len(events), "all messages")
    assert all(message.startswith("<131>1 2018-07-02T14:") for message in receiver.messages)
    assert all(" plant_host graphghha " in message for message in receiver.messages)


def test_tls_refuses_a_receiver_we_do_not_trust(ours, tmp_path):
    with SyslogReceiver(tls=ours) as receiver:
        sink = sink_to(receiver.port, tls=Tls(ca_file=Certificates(tmp_path).ca))
        with pytest.raises(ConnectionError, match="certificate"):
            sink.deliver([incident(1)])
        assert receiver.messages == []


def test_a_receiver_that_dies_misses_nothing_it_was_sent(tmp_path):
    log, got = MemoryLog(), []
    first = SyslogReceiver()
    follower = Follower(log, sink_to(first.port), Cursor(tmp_path / "siem.cursor"), QUICK)
    follower.start()
    log.append(30)
    until(lambda: len(first.messages) >= 30, "the first part")
    first.close()
    log.append(30)
    with SyslogReceiver(first.port) as second:
        until(lambda: set(event_keys(first.messages + second.messages)) == {f"north:{n}" for n in range(1, 61)}, "all")
        assert stop_all([follower], 5) == []
        got = event_keys(second.messages)
    assert got[0] in {f"north:{n}" for n in range(15, 31)}, "the batch nobody can be sure of comes again"
    assert len(got) == len(set(got))


def test_a_receiver_that_never_reads_and_is_replaced_gets_everything_again():
    everything = [incident(number) for number in range(1, 31)]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        sink = sink_to(port)
        for event in everything:
            sink.deliver([event])  # the kernel of the receiver confirms what nobody reads
        hanging, _ = listener.accept()
        hanging.close()
    with SyslogReceiver(port) as second:
        until(lambda: is_delivered(sink, incident(31)), "a connection")
        until(lambda: len(second.messages) >= 31, "everything")
        assert event_keys(second.messages) == [f"north:{number}" for number in range(1, 32)]
    sink.close()


def test_what_is_kept_for_a_receiver_that_never_reads_is_bounded():
    with SyslogReceiver() as receiver:
        sink = sink_to(receiver.port, kept_bytes=5_000)
        for number in range(1, 31):
            sink.deliver([incident(number)])
        assert sum(size for _, size in sink._sent) == sink._sent_bytes <= 5_000
        assert [event.number for event, _ in sink._sent][-1] == 30
        sink.close()


def test_what_a_hanging_receiver_may_not_have_read_comes_again_after_our_own_restart(tmp_path):
    log, cursor = MemoryLog(), tmp_path / "siem.cursor"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        follower = Follower(log, sink_to(port), Cursor(cursor), QUICK)
        follower.start()
        log.append(30)
        until(lambda: follower.stats.cursor == 30, "what nobody reads")
        hanging, _ = listener.accept()
        stop_all([follower], 10)
        hanging.close()
    assert delivered_by_a_new_process(log, cursor, port, 40) == [f"north:{number}" for number in range(1, 41)]
    assert delivered_by_a_new_process(log, cursor, port, 41) == ["north:41"], "this receiver had read everything"


def delivered_by_a_new_process(log, cursor, port, last):
    log.append(last - len(log.events_after(0, 10**6)))
    with SyslogReceiver(port) as receiver:
        follower = Follower(log, sink_to(port), Cursor(cursor), QUICK)
        follower.start()
        until(lambda: follower.stats.cursor == last, "all events")
        assert stop_all([follower], 10) == []
        until(lambda: f"north:{last}" in event_keys(receiver.messages), "the last one")
        return event_keys(receiver.messages)


def is_delivered(sink, event):
    try:
        sink.deliver([event])
    except ConnectionError:
        return False
    return True
