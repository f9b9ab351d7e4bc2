"""What every sink promises: events in order and once, nothing lost over an outage, `OSError` on failure, no harm."""

import pytest

from faults.broker import Certificates
from graphghha.monitor.sinks import Cursor, Follower, FollowRule, stop_all
from graphghha.settings.tables import SINKS
from sink_builders import HOSTILE, MemoryLog, incident
from sink_receivers import FileReceiver, MqttReceiver, SiemReceiver, StdoutReceiver
from waiting import until

pytestmark = pytest.mark.slow

RECEIVERS = ("jsonl", "stdout", "mqtt", "syslog-tcp", "syslog-tls")
QUICK = FollowRule(poll_s=0.01, first_retry_s=0.01, longest_retry_s=0.05, batch=8)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(params=RECEIVERS)
def receiver(request, tmp_path):
    match request.param:
        case "jsonl":
            made = FileReceiver(tmp_path)
        case "stdout":
            made = StdoutReceiver(tmp_path)
        case "mqtt":
            request.getfixturevalue("mosquitto")
            made = MqttReceiver(tmp_path)
        case "syslog-tcp":
            made = SiemReceiver()
        case "syslog-tls":
            made = SiemReceiver(request.getfixturevalue("certificates"))
    yield made
    made.close()


@pytest.fixture
def follow(receiver, tmp_path):
    """Followers of one journal with one cursor, as in processes that are restarted."""

    def start(journal):
        follower = Follower(journal, receiver.sink(), Cursor(tmp_path / "cursor"), QUICK)
        follower.start()
        return follower

    return start


def keys(first, last):
    return [f"north:{number}" for number in range(first, last + 1)]


def arrived(receiver, count):
    """Return the keys once at least `count` of them have arrived."""
    until(lambda: len(receiver.keys()) >= count, f"{count} events")
    return receiver.keys()


def test_every_sink_that_can_be_configured_is_tested():
    assert set(SINKS) == {name.partition("-")[0] for name in RECEIVERS} - {"stdout"}


def test_events_arrive_in_order_and_once(receiver):
    sink = receiver.sink()
    for first in (1, 11, 21):
        sink.deliver([incident(number) for number in range(first, first + 10)])
    sink.close()
    assert arrived(receiver, 30) == keys(1, 30)


def test_a_failure_is_an_os_error_and_the_same_sink_recovers(receiver):
    sink = receiver.sink()
    receiver.take_down()
    for _ in range(2):
        with pytest.raises(OSError):
            sink.deliver([incident(1)])
    receiver.bring_up()
    sink.deliver([incident(1)])
    sink.close()
    assert arrived(receiver, 1) == keys(1, 1)


def test_a_sink_that_is_down_from_the_start_gets_everything_once(receiver, follow):
    receiver.take_down()
    follower = follow(MemoryLog(50))
    until(lambda: follower.stats.failures > 2, "attempts")
    assert follower.stats.delivered == 0 and follower.stats.last_error
    receiver.bring_up()
    until(lambda: follower.stats.delivered == 50, "delivery")
    assert stop_all([follower], 5) == []
    assert arrived(receiver, 50) == keys(1, 50)


def test_an_outage_loses_nothing(receiver, follow):
    journal = MemoryLog(20)
    follower = follow(journal)
    assert arrived(receiver, 20) == keys(1, 20)
    receiver.take_down()
    journal.append(20)
    until(lambda: follower.stats.failures > 2, "attempts")
    receiver.bring_up()
    until(lambda: follower.stats.delivered == 40, "delivery")
    assert stop_all([follower], 5) == []
    until(lambda: set(receiver.keys()) == set(keys(1, 40)), "all events")
    after = receiver.keys()[20:]
    repeated = after[:-20]
    assert after[-20:] == keys(21, 40)
    assert repeated == (keys(20 - len(repeated) + 1, 20) if receiver.repeats_last_batch else [])
    assert len(repeated) <= QUICK.batch


def test_a_restart_resumes_at_the_cursor(receiver, follow):
    journal = MemoryLog(20)
    assert stop_all([follow(journal)], 5) == []
    journal.append(5)
    assert stop_all([follow(journal)], 5) == []
    assert arrived(receiver, 25) == keys(1, 25)


def test_a_restart_during_an_outage_loses_nothing(receiver, follow):
    journal = MemoryLog(10)
    assert stop_all([follow(journal)], 5) == []
    arrived(receiver, 10)
    receiver.take_down()
    journal.append(10)
    (behind,) = stop_all([follow(journal)], 5)
    assert behind
    receiver.bring_up()
    assert stop_all([follow(journal)], 5) == []
    assert arrived(receiver, 20) == keys(1, 20)


def test_hostile_text_stays_inside_its_event(receiver):
    names = list(HOSTILE.values())
    sink = receiver.sink()
    sink.deliver(
        [
            incident(number, root=name, zone=name, text=name, action=name, id=name)
            for number, name in enumerate(names, 1)
        ]
    )
    sink.deliver([incident(len(names) + 1)])
    sink.close()
    assert arrived(receiver, len(names) + 1) == keys(1, len(names) + 1)


def test_closing_twice_or_unused_is_harmless(receiver):
    unused, used = receiver.sink(), receiver.sink()
    used.deliver([incident(1)])
    for sink in (unused, used):
        sink.close()
        sink.close()
    assert arrived(receiver, 1) == keys(1, 1)
