"""Feeds: silence becomes empty batches, failures become pauses, acknowledgements become durations."""

import pytest

from graphghha.monitor.feed import Durations, Feed
from graphghha.sources import ReadingBatch, Rejection
from monitor_builders import ListSource, telemetry, wide

TIMES, VALUES = telemetry(3)
BATCH = wide(TIMES, VALUES)


@pytest.fixture
def clock(monkeypatch):
    """A monotonic clock that stands still unless it is set."""
    now = [1000.0]
    monkeypatch.setattr("graphghha.monitor.feed.time.monotonic", lambda: now[0])
    return now


def test_silence_after_a_batch_is_an_empty_batch_every_second(clock):
    feed = Feed("office", ListSource([BATCH], ends=False), None)
    assert feed.poll(0) is BATCH and feed.poll(0) is None
    clock[0] += 1.5
    empty = feed.poll(0)
    assert len(empty) == 0 and empty.received_ms == BATCH.received_ms + 1500 and feed.poll(0) is None


def test_a_silence_is_counted_on_over_a_restart(clock):
    feed = Feed("office", ListSource(ends=False), 5_000)
    clock[0] += 2
    assert feed.poll(0).received_ms == 7_000


def test_a_pause_of_this_process_is_no_silence_of_the_source(clock):
    feed = Feed("office", ListSource([BATCH], ends=False), None)
    feed.poll(0)
    clock[0] += 420.0  # a stopped process, or a virtual machine that was moved
    assert feed.poll(0).received_ms == BATCH.received_ms + 5_000


def test_batches_without_a_usable_reading_continue_the_silence(clock):
    junk = ReadingBatch.empty("office", BATCH.received_ms + 10**9, {Rejection.UNMAPPED: 1}, receipt="seventeen")
    feed = Feed("office", ListSource([BATCH, junk], ends=False), None)
    feed.poll(0)
    clock[0] += 3.0
    batch = feed.poll(0)
    assert batch.received_ms == BATCH.received_ms + 3_000
    assert batch.rejected == junk.rejected and batch.receipt == "seventeen"


def test_a_source_that_ended_gives_no_empty_batches(clock):
    feed = Feed("office", ListSource([BATCH]), None)
    feed.poll(0)
    clock[0] += 60
    assert feed.poll(0) is None and feed.status.is_finished


def test_a_source_that_never_sends_is_overdue_once(clock):
    feed = Feed("office", ListSource(ends=False), None)
    assert not feed.is_overdue(30)
    clock[0] += 31
    assert feed.is_overdue(30) and not feed.is_overdue(30)
    assert not Feed("office", ListSource(), 5_000).is_overdue(0), "it has sent readings before the restart"


def test_a_failing_source_is_left_alone_for_longer_each_time_until_it_works(clock):
    feed = Feed("office", ListSource([OSError("no route"), BATCH]), None)
    with pytest.raises(OSError):
        feed.poll(0)
    assert not feed.is_failing
    first, second = feed.note_failure("no route"), feed.note_failure("no route")
    assert feed.is_failing and feed.pause_s == pytest.approx(second) and first <= 1.0 <= 2 * second
    clock[0] += 1.001 * second
    assert feed.pause_s <= 0
    feed.poll(0)
    assert not feed.is_failing


def test_an_acknowledgement_is_passed_on_and_timed(clock):
    source = ListSource([BATCH])
    feed = Feed("office", source, None)
    batch = feed.poll(0)
    clock[0] += 0.03
    feed.acknowledge(batch)
    assert source.acknowledged == [batch.received_ms] and feed.durations == Durations().plus(clock[0] - 1000.0)
