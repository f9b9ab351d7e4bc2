"""Events of priority that the journal could not take yet, for sinks to deliver. Safe to use from any thread."""

import secrets
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from graphghha.alarms import Event, StoredEvent

NOT_JOURNALED = "not_journaled_yet"  # the key that marks such an event in its body
MARK = "not journaled yet"
MOST = 10_000


class UnwrittenEvents:
    """The newest events of priority since the journal began to fail, numbered by themselves."""

    def __init__(self) -> None:
        self._era = f"memory-{secrets.token_hex(4)}"  # so that no key is that of an event of the journal
        self._events: deque[StoredEvent] = deque(maxlen=MOST)
        self._last = 0
        self._lock = threading.Lock()

    def add(self, site: str, events: Iterable[Event]) -> None:
        """Take the events that have a priority."""
        with self._lock:
            for event in events:
                if event.body.get("priority"):
                    self._last += 1
                    body = _marked(event.body)
                    self._events.append(StoredEvent(self._last, site, event.time_ms, event.kind, body, self._era))

    def after(self, number: int) -> list[StoredEvent]:
        """Return the events after this one, in order."""
        with self._lock:
            return [event for event in self._events if event.number > number]

    def clear(self) -> None:
        """Forget all of them, because the journal has them."""
        with self._lock:
            self._events.clear()


def _marked(body: Mapping[str, Any]) -> dict[str, Any]:
    marked = {**body, NOT_JOURNALED: True}
    for name in ("text", "reason"):
        if isinstance(text := marked.get(name), str):
            marked[name] = f"{text} ({MARK})"
    return marked
