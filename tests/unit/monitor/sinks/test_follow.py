"""The follower: nothing lost while a sink is down, nothing slowed, everything counted."""

import logging
import threading

import pytest

from graphghha.alarms import Event
from graphghha.errors import JournalError
from graphghha.monitor.sinks import Follower, FollowRule, stop_all
from graphghha.monitor.sinks.cursor import Cursor, Position
from sink_builders import MemoryLog, incident
from waiting import until

QUICK = FollowRule(poll_s=0.005, first_retry_s=0.005, longest_retry_s=0.02, batch=10)


class Station:
    """A sink that can be taken down."""

    name = "station"

    def __init__(self, *, is_up=True, inexpressible=()):
        self.is_up, self.inexpressible, self.got, self.is_closed = is_up, inexpressible, [], False

    def deliver(self, events):
        if not self.is_up:
            raise ConnectionRefusedError("station is closed")
        if any(event.number in self.inexpressible for event in events):
            raise ValueError("cannot be expressed")
        self.got += events

    def close(self):
        self.is_closed = True

    @property
    def numbers(self):
        return [event.number for event in self.got]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "station.cursor"


def test_a_sink_down_for_the_whole_run_gets_everything_once_it_is_up(path):
    log, station = MemoryLog(), Station(is_up=False)
    follower = Follower(log, station, Cursor(path), QUICK)
    follower.start()
    log.append(137)
    until(lambda: follower.stats.failures > 3, "attempts")
    assert station.got == [] and follower.stats.last_error == "station is closed"
    station.is_up = True
    until(lambda: follower.stats.delivered == 137, "delivery")
    assert stop_all([follower], 5) == []
    assert station.numbers == list(range(1, 138)) and station.is_closed and follower.stats.dropped == 0


def test_a_restart_continues_where_the_last_process_stopped(path):
    log, first, second = MemoryLog(25), Station(), Station()
    for station in (first, second):
        follower = Follower(log, station, Cursor(path), QUICK)
        follower.start()
        assert stop_all([follower], 5) == []
        log.append(5)
    assert first.numbers == list(range(1, 26)) and second.numbers == list(range(26, 31))


def test_stopping_drains_the_journal_and_leaves_the_rest_of_a_dead_sink_for_later(path):
    log, dead = MemoryLog(35), Station(is_up=False)
    follower = Follower(log, dead, Cursor(path), QUICK)
    follower.start()
    assert stop_all([follower], 5) == ["station"]
    alive = Station()
    again = Follower(log, alive, Cursor(path), QUICK)
    again.start()
    assert stop_all([again], 5) == [] and alive.numbers == list(range(1, 36))


def test_a_sink_that_hangs_does_not_delay_the_shutdown():
    class Hanging(Station):
        def deliver(self, events):
            release.wait()

    release = threading.Event()
    follower = Follower(MemoryLog(1), Hanging(), Cursor(None), QUICK)
    follower.start()
    assert stop_all([follower], 0.1) == ["station"]
    release.set()


def test_what_retention_took_is_announced_and_counted(path, caplog):
    log, station = MemoryLog(40), Station()
    Cursor(path).move(Position.from_event(incident(10)))
    log.drop(30)
    follower = Follower(log, station, Cursor(path), QUICK)
    follower.start()
    assert stop_all([follower], 5) == []
    notice, *rest = station.got
    assert notice.kind == "monitor.events_dropped" and notice.body["count"] == 20 == follower.stats.dropped
    assert (notice.body["first"], notice.body["last"], notice.key) == (11, 30, "monitor:30")
    assert [event.number for event in rest] == list(range(31, 41))
    assert "retention dropped 20 events" in caplog.text


def test_a_hole_in_the_journal_is_announced_where_it_is(path):
    log, station = MemoryLog(20), Station()
    log.lose(5, 6, 7)
    follower = Follower(log, station, Cursor(path), QUICK)
    follower.start()
    assert stop_all([follower], 5) == []
    assert station.numbers == [1, 2, 3, 4, 7, *range(8, 21)] and station.got[4].body["count"] == 3


def test_a_new_sink_begins_with_the_oldest_event_kept_and_misses_nothing(path):
    log, station = MemoryLog(40), Station()
    log.drop(30)
    follower = Follower(log, station, Cursor(path), QUICK)
    follower.start()
    stop_all([follower], 5)
    assert station.numbers == list(range(31, 41)) and follower.stats.dropped == 0


@pytest.mark.parametrize("content", ['{"numb', "", '{"number": 99, "key": "north:99", "time_ms": 1}'])
def test_a_torn_cursor_or_one_of_another_journal_costs_repetition_not_events(path, content, caplog):
    path.write_text(content)
    log, station = MemoryLog(12), Station()
    follower = Follower(log, station, Cursor(path), QUICK)
    follower.start()
    stop_all([follower], 5)
    assert station.numbers == list(range(1, 13)) and "delivery starts at the oldest event" in caplog.text


def test_an_event_the_sink_cannot_express_is_skipped_and_counted(path, caplog):
    log, station = MemoryLog(12), Station(inexpressible={5})
    follower = Follower(log, station, Cursor(path), QUICK)
    follower.start()
    stop_all([follower], 5)
    assert station.numbers == [n for n in range(1, 13) if n != 5]
    assert follower.stats.refused == 1 and "north:5 cannot be delivered" in caplog.text


def test_a_sink_receives_only_the_kinds_it_wants(path):
    log, station = MemoryLog(3), Station()
    follower = Follower(log, station, Cursor(path), FollowRule(kinds=("source.*", "alarm.raised")))
    follower.start()
    stop_all([follower], 5)
    assert station.got == [] and follower.stats.cursor == 3


def test_an_unwritable_cursor_does_not_stop_delivery(tmp_path, caplog):
    log, station = MemoryLog(12), Station()
    follower = Follower(log, station, Cursor(tmp_path / "missing" / "station.cursor"), QUICK)
    follower.start()
    stop_all([follower], 5)
    assert station.numbers == list(range(1, 13)) and "cursor was not saved" in caplog.text


def test_heartbeats_say_how_the_monitor_is_and_are_never_late(path):
    station = Station(is_up=False)
    rule = FollowRule(poll_s=0.005, first_retry_s=0.005, longest_retry_s=0.005, heartbeat_s=0.02)
    follower = Follower(MemoryLog(), station, Cursor(path), rule, pulse=lambda: {"ready": False})
    follower.start()
    until(lambda: follower.stats.failures > 3, "attempts")
    station.is_up = True
    until(lambda: len(station.got) >= 3, "heartbeats")
    stop_all([follower], 5)
    assert {event.kind for event in station.got} == {"monitor.heartbeat"} and not station.got[0].body["ready"]
    assert len({event.key for event in station.got}) == len(station.got)
    assert not path.exists(), "heartbeats are not events of the journal"


def test_one_cause_is_logged_once(path, caplog):
    caplog.set_level(logging.WARNING)
    follower = Follower(MemoryLog(1), Station(is_up=False), Cursor(path), QUICK)
    follower.start()
    until(lambda: follower.stats.failures > 5, "attempts")
    stop_all([follower], 5)
    assert caplog.text.count("station is closed") == 1


def test_a_sink_whose_heartbeats_fail_is_not_up_again_before_something_is_delivered(path):
    station = Station(is_up=False)
    rule = FollowRule(poll_s=0.005, first_retry_s=0.005, longest_retry_s=0.005, heartbeat_s=0.3)
    follower = Follower(MemoryLog(), station, Cursor(path), rule, pulse=lambda: {"ready": True})
    follower.start()
    until(lambda: follower.stats.failures == 1, "a heartbeat that fails")
    before = follower.stats.failures
    until(lambda: follower.stats.failures > before or not follower.stats.last_error, "the next heartbeat")
    assert follower.stats.last_error == "station is closed"
    station.is_up = True
    until(lambda: not follower.stats.last_error, "a heartbeat that arrives")
    assert stop_all([follower], 5) == [] and station.got


class UnreadableLog(MemoryLog):
    """A journal that can be unreadable."""

    is_readable = False

    def events_after(self, number, limit):
        if not self.is_readable:
            raise JournalError("database disk image is malformed")
        return super().events_after(number, limit)


def test_alarms_that_the_journal_cannot_take_come_from_memory_and_then_from_the_journal(path):
    log, station = UnreadableLog(3), Station()
    follower = Follower(log, station, Cursor(path), QUICK)
    follower.start()
    until(lambda: follower.stats.last_error, "a failure")
    low, high = Event(5, "nodes.unknown", {}), Event(6, "zone.blind", {"zone": "zone-01", "priority": "high"})
    log.unwritten.add("north", [low, high, Event(7, "incident.annunciated", dict(incident(4).body))])
    until(lambda: len(station.got) == 2, "events from memory")
    blind, announced = station.got
    assert blind.kind == "zone.blind" and blind.body["not_journaled_yet"] and ":memory-" in blind.key
    assert announced.body["text"].endswith("(not journaled yet)")
    log.is_readable = True
    until(lambda: len(station.got) == 5, "the journal")
    assert stop_all([follower], 5) == [] and station.numbers == [1, 2, 1, 2, 3]
    assert not follower.stats.last_error and len({event.key for event in station.got}) == 5


def test_a_sink_that_starts_before_the_journal_can_be_read_misses_nothing(path):
    log, station = UnreadableLog(3), Station()
    log.first_event_number = lambda: log.events_after(0, 1)[0].number
    follower = Follower(log, station, Cursor(path), QUICK)
    follower.start()
    assert follower.stats.cursor == 0
    until(lambda: follower.stats.last_error, "a failure")
    log.is_readable = True
    until(lambda: len(station.got) == 3, "the journal")
    assert stop_all([follower], 5) == []
