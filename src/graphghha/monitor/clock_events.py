"""Events about the clocks of a site's devices and about readings that came too late. Reads no clock, no I/O."""

from typing import Any

from graphghha.alarms import Event
from graphghha.monitor.row_clock import RowClock

SECONDS_PER_DAY = 86_400
MOST_NAMED = 20  # devices named one by one in an event


def clock_events(clock: RowClock) -> list[Event]:
    """Report clocks that are wrong or right again, steps of the plant's clock, and readings that came too late."""
    events, now_ms = [], clock.majority_ms or 0
    for change in clock.take_changes():
        body: dict[str, Any] = {"device": change.device, "state": "wrong" if change.is_wrong else "right"}
        body["offset_s"] = round(change.offset_ms / 1000)
        if change.is_wrong:
            body |= {"kind": change.kind, "priority": "high"}
        if change.drift is not None:
            body["drift_s_per_day"] = round(change.drift * SECONDS_PER_DAY, 1)
        events.append(Event(now_ms, "device.clock", body))
    for step_ms in clock.take_shifts():
        body = {"device": None, "state": "stepped", "offset_s": round(step_ms / 1000), "priority": "medium"}
        events.append(Event(now_ms, "device.clock", body))
    if late := clock.take_late():
        body = {"count": sum(late.values()), "devices": dict(list(late.items())[:MOST_NAMED]), "priority": "low"}
        events.append(Event(now_ms, "readings.late", body))
    return events
