"""The commit buffer: bounded in memory, acknowledged in order, every drop counted."""

import numpy as np

from graphghha.alarms import Event
from graphghha.monitor import commit_buffer
from graphghha.monitor.commit_buffer import CommitBuffer
from graphghha.monitor.site import Site, SiteUpdate
from monitor_builders import CONFIG, ListSource, detector, telemetry, wide

TIMES, VALUES = telemetry(6)


def update(first, rows=2):
    block = np.zeros((rows, 4), np.float32)
    return SiteUpdate([Event(first, "alarm.raised", {"n": first})], [first + at for at in range(rows)], [block])


def test_batches_are_acknowledged_in_order_after_the_commit():
    source, buffer = ListSource(), CommitBuffer()
    for at in range(3):
        buffer.hold(source, wide(TIMES[at : at + 1], VALUES[at : at + 1]))
    assert buffer and source.acknowledged == []
    buffer.settle()
    assert source.acknowledged == sorted(source.acknowledged) and len(source.acknowledged) == 3 and not buffer


def test_the_oldest_rows_and_events_are_dropped_and_counted(monkeypatch):
    monkeypatch.setattr(commit_buffer, "MOST_ROW_BYTES", 3 * 2 * 4 * 4)
    monkeypatch.setattr(commit_buffer, "MOST_EVENTS", 4)
    buffer = CommitBuffer()
    for first in range(0, 20, 2):
        buffer.add(update(first))
        buffer.bound()
    assert buffer.times_ms == [14, 15, 16, 17, 18, 19] and len(buffer.rows) == 3 and buffer.dropped_rows == 14
    assert [event.time_ms for event in buffer.events] == [12, 14, 16, 18] and buffer.dropped_events == 6
    written = buffer.to_commit(Site("office", detector(), CONFIG), {}, [])
    assert written.events[-1].kind == "journal.dropped"
    assert written.events[-1].body == {"rows": 14, "events": 6, "priority": "high"}


def test_a_source_that_cannot_be_acknowledged_does_not_stop_the_others(caplog):
    class Broken(ListSource):
        def acknowledge(self, batch):
            raise OSError("connection reset")

    working, buffer = ListSource(), CommitBuffer()
    for source in (Broken(), working):
        buffer.hold(source, wide(TIMES, VALUES))
    buffer.settle()
    assert len(working.acknowledged) == 1 and "could not be acknowledged" in caplog.text
