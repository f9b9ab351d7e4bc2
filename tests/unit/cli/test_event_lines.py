"""Events as lines on the terminal: alarms that are not journaled yet are marked."""

import pytest

from graphghha.alarms import Event, StoredEvent
from graphghha.cli._event_lines import TextSink
from graphghha.monitor import Site
from graphghha.monitor.journal.unwritten import UnwrittenEvents
from monitor_builders import CONFIG, START, detector, telemetry, wide


def announced():
    events = Site("office", detector(), CONFIG).take(wide(*telemetry(40))).events
    return next(event for event in events if event.kind == "incident.annunciated")


EVENTS = [
    Event(START, "zone.blind", {"zone": "zone-07", "priority": "high"}),
    Event(START, "journal.failing", {"reason": "disk is full", "priority": "high"}),
    announced(),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_an_alarm_from_memory_is_marked_once_and_one_of_the_journal_is_not(event, capsys):
    unwritten = UnwrittenEvents()
    unwritten.add("office", [event])
    sink = TextSink(lambda: None, {})
    sink.deliver([StoredEvent(1, "office", event.time_ms, event.kind, event.body), *unwritten.after(0)])
    journaled, early = capsys.readouterr().out.splitlines()
    assert "journaled" not in journaled and early == f"{journaled} (not journaled yet)"
