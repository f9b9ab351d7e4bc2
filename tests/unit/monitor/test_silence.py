from graphghha.monitor.silence import Silence

MINUTE = 60_000
DAY = set(range(0, 1440, 15))


def listen(silence, heard, minutes, start=0):
    """Return the events of these minutes; `heard` are those with readings."""
    rows = [silence.listen(minute * MINUTE, minute in heard) for minute in range(start, minutes)]
    return [event for _, events in rows for event in events]


def a_silence():
    return Silence(lost_after_ms=5 * MINUTE, settle_rows=0)


def test_a_source_that_sends_every_quarter_of_an_hour_is_recognized_and_reported_once():
    events = listen(a_silence(), DAY | {minute + 1 for minute in DAY}, 1440)  # not all devices in the same minute
    assert [event.kind for event in events] == [*["source.lost", "source.found"] * 3, "source.slow"]
    slow = events[-1].body
    assert slow["every_s"] == 840 and slow["priority"] == "high" and "every 14 min" in slow["reason"]
    exactly = listen(a_silence(), DAY, 1440)[-1].body
    assert exactly["every_s"] == 900 and "stale_after_s = 1350 and lost_after_s = 1800" in exactly["reason"]


def test_a_slow_source_that_falls_silent_is_still_lost():
    silence = a_silence()
    listen(silence, set(range(0, 121, 15)), 125)
    assert [(event.kind, event.time_ms) for event in listen(silence, set(), 300, 125)] == [
        ("source.lost", 150 * MINUTE)
    ]


def test_a_slow_source_that_sends_every_minute_again_is_watched_as_before():
    silence = a_silence()
    listen(silence, set(range(0, 121, 15)), 125)
    events = listen(silence, set(range(130, 200)), 300, 125)
    assert [event.kind for event in events] == ["source.prompt", "source.lost"]
    assert events[-1].time_ms == (199 + 5) * MINUTE


def test_gaps_between_long_stretches_of_readings_are_no_interval():
    heard = {minute for minute in range(600) if minute % 60 < 45}
    assert {event.kind for event in listen(a_silence(), heard, 600)} == {"source.lost", "source.found"}
