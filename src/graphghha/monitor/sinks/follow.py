"""Followers: one thread per sink reads the journal at the sink's own pace and retries until it is delivered."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from threading import Event as Flag
from threading import Thread
from typing import Any

from graphghha.alarms import StoredEvent
from graphghha.errors import GraphGHHAError
from graphghha.monitor.backoff import BackOff
from graphghha.monitor.sinks.base import DROPPED, HEARTBEAT, MONITOR, EventLog, Sink, Unconfirmed
from graphghha.monitor.sinks.cursor import Cursor, Position, start_number

log = logging.getLogger(__name__)

JOURNAL_RETRY_S = 1.0  # while the journal cannot be read: alarms from memory must not wait for longer
_LAST_ATTEMPTS = 3  # failures in a row after which a sink is given up when the process ends


@dataclass(frozen=True, kw_only=True, slots=True)
class FollowRule:
    """Which events a sink receives, and how often its follower polls and retries."""

    kinds: tuple[str, ...] = ("*",)  # patterns of the event kinds that the sink receives
    batch: int = 200
    poll_s: float = 0.25
    first_retry_s: float = 0.5
    longest_retry_s: float = 30.0
    heartbeat_s: float | None = None

    def wants(self, event: StoredEvent) -> bool:
        """Return whether the sink is to receive the event."""
        return any(fnmatchcase(event.kind, pattern) for pattern in self.kinds)


@dataclass(frozen=True, slots=True)
class FollowStats:
    """What a sink has done since the process started."""

    name: str
    cursor: int  # last event taken
    delivered: int
    failures: int  # attempts that were repeated
    refused: int  # events this sink cannot express, skipped
    dropped: int  # events that retention removed before they were delivered
    last_error: str  # empty while the sink works


class Follower:
    """Drives one sink: delivers in batches, retries with back-off, keeps a cursor, drains the journal at the end."""

    def __init__(
        self,
        journal: EventLog,
        sink: Sink,
        cursor: Cursor,
        rule: FollowRule,
        *,
        pulse: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        """`pulse` returns the body of a heartbeat: the monitor's condition, not merely that this thread runs."""
        self.name, self._journal, self._sink, self._cursor, self._rule = sink.name, journal, sink, cursor, rule
        self._pulse = pulse if rule.heartbeat_s else None
        self._stop, self._give_up = Flag(), Flag()
        self._thread = Thread(target=self._run, name=f"sink-{sink.name}", daemon=True)
        self._number: int | None = None  # of the last event taken; unknown until the journal can be read
        self._unwritten = 0  # the last event taken from memory, by its own number
        with suppress(GraphGHHAError):
            self._number = start_number(cursor, journal)
        self._delivered = self._failures = self._refused = self._dropped = 0
        self._sink_error = self._journal_error = ""
        self._is_behind, self._next_beat = False, 0.0
        self._back_off = BackOff(rule.first_retry_s, rule.longest_retry_s, seed=sink.name)

    @property
    def stats(self) -> FollowStats:
        """Return what has been delivered so far."""
        return FollowStats(
            self.name,
            self._number or 0,
            self._delivered,
            self._failures,
            self._refused,
            self._dropped,
            self._sink_error or self._journal_error,
        )

    def start(self) -> None:
        """Start the follower's thread."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Make the thread deliver what the journal holds and then end."""
        self._stop.set()

    def join(self, deadline_s: float) -> bool:
        """Wait for the thread; return whether it ended in time with everything delivered."""
        self._thread.join(deadline_s)
        self._give_up.set()
        return not self._thread.is_alive() and not self._is_behind

    def _run(self) -> None:
        try:
            while not self._give_up.is_set():
                is_last_round = self._stop.is_set()
                try:
                    did_something = self._step()
                except Exception as exc:  # neither a failing journal nor a failing sink may end this thread
                    self._wait_after(exc)
                    continue
                if not did_something:
                    if is_last_round:
                        return
                    self._stop.wait(self._rule.poll_s)
        finally:
            self._sink.close()
            if self._cursor.position is not None:
                self._save(self._cursor.position)  # closing may have shown that everything was read

    def _step(self) -> bool:
        """Deliver one batch of the journal, and what it could not take yet; return False if there was nothing."""
        unreadable, found = None, False
        try:
            found = self._take_journal()
        except GraphGHHAError as exc:  # alarms do not wait for the journal
            unreadable = exc
        found |= self._take_unwritten()
        self._beat()
        if unreadable is not None:
            raise unreadable
        self._journal_error, self._is_behind = "", False
        self._back_off.reset()
        return found

    def _take_journal(self) -> bool:
        if self._number is None:
            self._number = start_number(self._cursor, self._journal)
        events = self._journal.events_after(self._number, self._rule.batch)
        if events and events[0].number > self._number + 1:
            self._report_dropped(self._number, events[0].number)
        events = [event for at, event in enumerate(events) if event.number == events[0].number + at]
        if events:
            self._deliver([event for event in events if self._rule.wants(event)])
            self._advance(Position.from_event(events[-1]))
        return bool(events)

    def _take_unwritten(self) -> bool:
        """Deliver events of priority from memory; they come again, with their numbers, once they are in the journal."""
        events = self._journal.unwritten_after(self._unwritten)
        if events:
            self._deliver([event for event in events if self._rule.wants(event)])
            self._unwritten = events[-1].number
        return bool(events)

    def _deliver(self, events: Sequence[StoredEvent]) -> None:
        if not events:
            return
        try:
            self._sink.deliver(events)
        except OSError:
            raise
        except Exception as exc:  # the connection works, but the sink cannot express an event
            if len(events) > 1:
                for event in events:
                    self._deliver([event])
                return
            self._refused += 1
            log.exception(
                "sink %s: event %s cannot be delivered and is skipped", self.name, events[0].key, exc_info=exc
            )
            return
        self._delivered += len(events)
        self._note_delivery()

    def _advance(self, position: Position) -> None:
        self._number = position.number
        self._save(position)

    def _save(self, position: Position) -> None:
        unread = self._sink.first_unread if isinstance(self._sink, Unconfirmed) else None
        try:
            self._cursor.move(replace(position, unread=unread))
        except OSError as exc:
            log.error("sink %s: the cursor was not saved (%s); a restart delivers again", self.name, exc)

    def _report_dropped(self, number: int, first: int) -> None:
        """Report which events the receiver will never get, under a key that stays the same if this is repeated."""
        count = first - 1 - number
        body = {"sink": self.name, "first": number + 1, "last": first - 1, "count": count, "priority": "high"}
        notice = StoredEvent(first - 1, MONITOR, _now_ms(), DROPPED, body)
        self._sink.deliver([notice])
        self._note_delivery()
        log.error("sink %s: retention dropped %d events before they were delivered", self.name, count)
        self._dropped += count
        self._advance(Position.from_event(notice))

    def _beat(self) -> None:
        """Send a heartbeat if it is due; it is never repeated, because a late one would be wrong."""
        if self._pulse is None or time.monotonic() < self._next_beat or self._stop.is_set():
            return
        assert self._rule.heartbeat_s is not None
        self._next_beat = time.monotonic() + self._rule.heartbeat_s
        now_ms = _now_ms()
        body = {**self._pulse(), "last_event": self._number}
        self._sink.deliver([StoredEvent(now_ms, MONITOR, now_ms, HEARTBEAT, body)])
        self._note_delivery()

    def _note_delivery(self) -> None:
        """Note that the sink works: only a delivery shows it."""
        if self._sink_error:
            log.info("sink %s works again", self.name)
        self._sink_error = ""

    def _wait_after(self, exc: Exception) -> None:
        self._is_behind = True
        delay_s, reason = self._back_off.next_delay_s(), str(exc) or type(exc).__name__
        is_known = reason in (self._sink_error, self._journal_error)
        if not is_known:  # once per cause, not once per attempt
            is_expected = isinstance(exc, (OSError, GraphGHHAError))
            log.warning("sink %s: %s; trying again", self.name, exc, exc_info=not is_expected)
        if isinstance(exc, GraphGHHAError):
            self._journal_error = reason
            delay_s = min(delay_s, JOURNAL_RETRY_S)
        else:
            self._sink_error = reason
        self._failures += 1  # last, so that a reader that sees the number also sees the reason
        if not self._stop.is_set():
            self._stop.wait(delay_s)
        elif self._back_off.failures < _LAST_ATTEMPTS:
            self._give_up.wait(delay_s)
        else:
            self._give_up.set()


def stop_all(followers: Sequence[Follower], deadline_s: float) -> list[str]:
    """End all followers at once and return the names of sinks that did not receive everything."""
    for follower in followers:
        follower.ask_to_stop()
    end = time.monotonic() + deadline_s
    return [follower.name for follower in followers if not follower.join(max(0.0, end - time.monotonic()))]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
