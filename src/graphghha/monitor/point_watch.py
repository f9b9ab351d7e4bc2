"""What has been heard of each point of a site, and what arrived and could not be used. Reads no clock, no I/O.

Points that were never heard, zones without any point, points whose readings are all rejected and names that lead to no
point are events, and conditions for as long as they last. Arrays are [p].
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import Event
from graphghha.monitor.conditions import Condition
from graphghha.sources import Batch, ReadingBatch, Rejection

MOST_NAMED = 20  # points and zones named one by one in an event
MOST_NAMES = 1_000  # foreign names remembered
ZONES_AFTER_ROWS = 10  # rows after which a zone that sent nothing is reported
POINTS_AFTER_ROWS = 60  # a point that reports on change may take a while
REJECTED_AFTER = 10  # readings in a row
NAMES_AFTER_MS = 10_000  # of the receiver's time, if nothing at all can be used
NEVER = -1
# a wrong clock is an event of its own, and what a broker or a flood left out says nothing about a point
_NOT_OF_A_POINT = (Rejection.BAD_TIME, Rejection.RETAINED, Rejection.FLOOD)
_WORDS = {
    "malformed": "not a number",
    "wrong_unit": "in a unit that does not fit",
    "out_of_limits": "beyond the limits of the instrument",
    "bad_quality": "marked bad by the sender",
    "bad_time": "with an impossible time",
}


class PointWatch:
    """Follows the readings of one site, batch by batch."""

    def __init__(self, points: Sequence[str], absent: Sequence[str] = ()) -> None:
        """`absent` are points that the site is known to lack."""
        self.points = tuple(points)
        self._zone_of = [point.rpartition("/")[0] for point in self.points]
        self.set_absent(absent)
        count = len(self.points)
        self.heard_ms = np.full(count, NEVER)  # time of the last usable reading
        self.value = np.full(count, np.nan)
        self.step_ms = np.zeros(count)  # usual time between two readings, 0 while unknown
        self._refused_since = np.zeros(count, np.int64)  # readings since the last usable one
        self._unheard = np.zeros(count, np.bool_)  # reported as never heard
        self._rejected = np.zeros(count, np.bool_)  # reported as rejected
        self.refused: dict[int, dict[str, list[Any]]] = {}  # column -> reason -> count, example
        self.names: dict[str, list[Any]] = {}  # a sender's name that leads to no point -> reason, count
        self._names_reported = 0
        self._first_received_ms: int | None = None
        self._since: dict[str, int] = {}  # kind of a condition -> when it was reported
        self._is_checked = [False, False]  # zones, points

    def set_absent(self, absent: Sequence[str]) -> None:
        """Expect all points but these."""
        without = frozenset(absent)
        self._is_expected = np.array([point not in without for point in self.points], np.bool_)

    @property
    def unheard_zones(self) -> list[str]:
        """Return the zones of which no point was ever heard: no site is known to lack a whole zone that it has."""
        heard = {zone for zone, time_ms in zip(self._zone_of, self.heard_ms.tolist(), strict=True) if time_ms >= 0}
        return [zone for zone in dict.fromkeys(self._zone_of) if zone not in heard]

    def take(self, batch: Batch) -> None:
        """Take over what a batch says about its points."""
        if self._first_received_ms is None and (len(batch) or batch.rejected):
            self._first_received_ms = batch.received_ms
        for (key, reason), refused in batch.refused.items():
            if isinstance(key, int):
                own = self.refused.setdefault(key, {})
                before = own.get(str(reason), [0, ""])[0]
                own[str(reason)] = [before + refused.count, refused.example]
                if reason not in _NOT_OF_A_POINT:
                    self._refused_since[key] += refused.count
            elif key in self.names or len(self.names) < MOST_NAMES:
                before = self.names.get(key, ["", 0])[1]
                self.names[key] = [str(reason), before + refused.count]
        if len(batch):
            self._take_readings(batch)

    def _take_readings(self, batch: Batch) -> None:
        columns, times, values = batch.readings()
        if not len(columns):
            return
        is_new = times > self.heard_ms[columns]
        columns, times, values = columns[is_new], times[is_new], values[is_new]
        if isinstance(batch, ReadingBatch):
            order = np.argsort(times, kind="stable")
            columns, times, values = columns[order], times[order], values[order]
        count = np.bincount(columns, minlength=len(self.points))
        before, first = self.heard_ms.copy(), np.full(len(self.points), np.iinfo(np.int64).max)
        np.minimum.at(first, columns, times)
        self.heard_ms[columns], self.value[columns] = times, values
        own = count > 0
        self._refused_since[own] = 0
        start = np.where(before >= 0, before, first)
        intervals = np.where(before >= 0, count, count - 1)
        measured = own & (intervals > 0)
        step = (self.heard_ms[measured] - start[measured]) / intervals[measured]
        known = self.step_ms[measured]
        # a gap counts as at most two steps, so that one of them does not change what is usual
        self.step_ms[measured] = np.where(known > 0, 0.8 * known + 0.2 * np.minimum(step, 2 * known), step)

    def report(self, time_ms: int, rows: int, received_ms: int, *, is_end: bool = False) -> list[Event]:
        """Return what is worth an event now; `rows` have been closed since the site began."""
        events = self._heard_again(time_ms)
        rejected = (self._refused_since >= REJECTED_AFTER) & ~self._rejected & ~self._unheard
        if rejected.any():
            self._rejected |= rejected
            events.append(self._event(time_ms, "points.rejected", self._rejected_body(np.flatnonzero(rejected))))
        is_heard = bool((self.heard_ms >= 0).any())
        if is_heard and not self._is_checked[0] and (rows >= ZONES_AFTER_ROWS or is_end):
            self._is_checked[0] = True
            if zones := self.unheard_zones:
                self._unheard |= np.isin(self._zone_of, zones) & ~self._rejected
                events.append(self._event(time_ms, "zones.unheard", self._zones_body(zones)))
        if is_heard and not self._is_checked[1] and (rows >= POINTS_AFTER_ROWS or is_end):
            self._is_checked[1] = True
            silent = (self.heard_ms < 0) & self._is_expected & ~self._unheard & ~self._rejected
            if silent.any():
                self._unheard |= silent
                events.append(self._event(time_ms, "points.unheard", self._points_body(np.flatnonzero(silent))))
        waited_ms = received_ms - (received_ms if self._first_received_ms is None else self._first_received_ms)
        is_due = is_end or (rows >= ZONES_AFTER_ROWS if is_heard else waited_ms >= NAMES_AFTER_MS)
        if is_due and len(self.names) >= max(1, 2 * self._names_reported):
            self._names_reported = len(self.names)
            events.append(self._event(time_ms, "readings.unmapped", self._names_body()))
        return events

    def conditions(self, site: str) -> list[Condition]:
        """Return what keeps parts of the site of this name from being seen now."""
        found = []
        unheard = np.flatnonzero(self._unheard)
        zones = self.unheard_zones if len(unheard) else []
        if zones:
            found.append(self._condition(site, "zones.unheard", self._zones_body(zones)))
        if rest := [column for column in unheard.tolist() if self._zone_of[column] not in zones]:
            found.append(self._condition(site, "points.unheard", self._points_body(np.array(rest))))
        if self._rejected.any():
            found.append(self._condition(site, "points.rejected", self._rejected_body(np.flatnonzero(self._rejected))))
        if self._names_reported and (body := self._names_body())["priority"] != "low":
            found.append(self._condition(site, "readings.unmapped", body))
        return found

    def describe_refusals(self) -> str:
        """Return in words what arrived and could not be used; empty if nothing was refused."""
        parts = []
        if self.names:
            parts.append(str(self._names_body()["text"]))
        if self.refused:
            parts.append(str(self._rejected_body(np.array(sorted(self.refused)))["text"]))
        return "; ".join(parts)

    def _heard_again(self, time_ms: int) -> list[Event]:
        back = (self._unheard | self._rejected) & (self.heard_ms >= 0) & (self._refused_since == 0)
        if not back.any():
            return []
        self._unheard &= ~back
        self._rejected &= ~back
        body = self._name(np.flatnonzero(back))
        body["text"] = f"{_points(body['count'])} can be used now, such as {body['points'][0]}"
        return [Event(time_ms, "points.heard", body)]

    def _event(self, time_ms: int, kind: str, body: dict[str, Any]) -> Event:
        self._since[kind] = time_ms
        return Event(time_ms, kind, body)

    def _condition(self, site: str, kind: str, body: Mapping[str, Any]) -> Condition:
        return Condition(kind, site, "", self._since.get(kind, 0), str(body["priority"]), str(body["text"]))

    def _name(self, columns: NDArray[np.integer]) -> dict[str, Any]:
        names = [self.points[column] for column in columns.tolist()]
        zones = sorted({self._zone_of[column] for column in columns.tolist()})
        return {"count": len(names), "of": len(self.points), "zones": zones[:MOST_NAMED], "points": names[:MOST_NAMED]}

    def _zones_body(self, zones: list[str]) -> dict[str, Any]:
        every = len(dict.fromkeys(self._zone_of))
        columns = [column for column, zone in enumerate(self._zone_of) if zone == zones[0]]
        example, reason = self.points[columns[0]], self._why(np.array(columns))
        what = f"zone {zones[0]} was" if len(zones) == 1 else f"{len(zones)} of {every} zones were"
        body = {"count": len(zones), "of": every, "zones": zones[:MOST_NAMED], "example": example, "reason": reason}
        return {**body, "text": f"{what} never heard, such as {example}: {reason}", "priority": "high"}

    def _points_body(self, columns: NDArray[np.integer]) -> dict[str, Any]:
        body = self._name(columns)
        example, reason = body["points"][0], self._why(columns)
        was = "was" if body["count"] == 1 else "were"
        text = f"{body['count']} of {body['of']} points {was} never heard, such as {example}: {reason}"
        return {**body, "example": example, "reason": reason, "text": text, "priority": "medium"}

    def _rejected_body(self, columns: NDArray[np.integer]) -> dict[str, Any]:
        body = self._name(columns)
        reason, count, example = self._commonest(columns)
        body |= {"readings": count, "reason": reason, "example": example}
        of_all = "all" if body["count"] == body["of"] else f"{body['count']} of {body['of']}"
        text = f"every reading of {of_all} points is rejected, {count:,} as {_in_words(reason)}, such as {example}"
        return {**body, "text": text, "priority": "high" if body["count"] == body["of"] else "medium"}

    def _names_body(self) -> dict[str, Any]:
        name = max(self.names, key=lambda each: self.names[each][1])
        reason, readings = self.names[name][0], sum(count for _, count in self.names.values())
        is_heard, is_whole = (self.heard_ms >= 0).any(), not (self._unheard | self._rejected).any()
        why = "come in a unit that does not fit" if reason == Rejection.WRONG_UNIT else "lead to no point"
        none = "" if is_heard else "; nothing that arrived can be used"
        count = len(self.names)
        whose = "of a name that" if count == 1 else f"of {count} names that"
        why = why.replace("come", "comes").replace("lead ", "leads ") if count == 1 else why
        text = f"{readings:,} readings {whose} {why}, such as {name!r}{none}; `watch --check` shows all names"
        body = {"count": readings, "names": count, "reason": reason, "example": name, "text": text}
        return {**body, "priority": "high" if not is_heard else "low" if is_whole else "medium"}

    def _why(self, columns: NDArray[np.integer]) -> str:
        if not any(column in self.refused for column in columns.tolist()):
            return "nothing arrived"
        reason, count, example = self._commonest(columns)
        return f"{count:,} readings were {_in_words(reason)}, such as {example}"

    def _commonest(self, columns: NDArray[np.integer]) -> tuple[str, int, str]:
        """Return the commonest reason for which readings of these points were refused, how many, and an example."""
        counts: dict[str, int] = {}
        examples: dict[str, str] = {}
        for column in columns.tolist():
            for reason, (count, example) in self.refused.get(column, {}).items():
                counts[reason] = counts.get(reason, 0) + count
                examples.setdefault(reason, f"{self.points[column]} = {example}" if example else self.points[column])
        reason = max(counts, key=lambda each: counts[each])
        return reason, counts[reason], examples[reason]

    def to_state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {
            "arrays": [getattr(self, name).copy() for name in _ARRAYS],
            "refused": [[column, why, *each] for column, own in self.refused.items() for why, each in own.items()],
            "names": [[name, *each] for name, each in self.names.items()],
            "reported": [self._names_reported, self._first_received_ms, *self._is_checked],
            "since": dict(self._since),
        }

    def load(self, state: Mapping[str, Any] | None) -> None:
        """Take over the state of a checkpoint; one of an earlier version holds none."""
        if state is None:
            return
        for name, array in zip(_ARRAYS, state["arrays"], strict=True):
            setattr(self, name, array.copy())
        for column, why, count, example in state["refused"]:
            self.refused.setdefault(column, {})[why] = [count, example]
        self.names = {name: [reason, count] for name, reason, count in state["names"]}
        self._names_reported, self._first_received_ms, *self._is_checked = state["reported"]
        self._since = dict(state["since"])


def _points(count: int) -> str:
    return "1 point" if count == 1 else f"{count} points"


def _in_words(reason: str) -> str:
    return _WORDS.get(reason, reason.replace("_", " "))


_ARRAYS = ("heard_ms", "value", "step_ms", "_refused_since", "_unheard", "_rejected")
