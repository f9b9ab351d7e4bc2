"""Events as lines on the terminal: alarms that are not journaled yet are marked."""

import pytest

from graphghha.alarms import Event, StoredEvent
from graphghha.cli._event_lines import TextSink
from graphghha.monitor.journal.unwritten import UnwrittenEvents

BLIND = Event(1_530_540_480_000, "zone.blind", {"zone": "zone-07", "priority": "high"})
FAILING = Event(1_530_540_480_000, "journal.failing", {"reason": "disk is full", "priority": "high"})
ATTACK = Event(1_530_540_480_000, "incident.annunciated", {"text": "Zone 7: cooling valve", "priority": "high"})


@pytest.mark.parametrize("event", [BLIND, FAILING, ATTACK], ids=lambda event: event.kind)
def test_an_alarm_from_memory_is_marked_once_and_one_of_the_journal_is_not(event, capsys):
    unwritten = UnwrittenEvents()
    unwritten.add("office", [event])
    sink = TextSink(lambda: None)
    sink.deliver([StoredEvent(1, "office", event.time_ms, event.kind, event.body), *unwritten.after(0)])
    journaled, early = capsys.readouterr().out.splitlines()
    assert "not" not in journaled and early == f"{journaled} (not journaled yet)"
