"""A journal in memory, a source that is laid out beforehand, and names a hostile plant might choose."""

import json
import time
from collections import deque
from threading import Lock

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from graphghha.alarms import StoredEvent
from graphghha.sources import SourceStatus

HOSTILE = {
    "pipe": "valve|0|0|",
    "equals": "valve=open cs2=T0000",
    "backslash": "C:\\valve\\",
    "newline": "valve\r\n<11>1 forged",
    "long": "v" * 10_240,
    "right-to-left": "צמ\u05dd\u202eevlav",
    "formula": "=cmd|' /C calc'!A0",
    "quote": 'a"] [b@1 c="',
    "nul": "valve\x00\x1b[31m",
    "wildcards": "a/+/#/$SYS",
    "surrogate": "valve\ud800",
}


def incident(number, *, kind="incident.annunciated", site="north", root="FCU_CVLV", **more):
    body = {
        "id": f"inc-{number}",
        "zone": "zone-07",
        "root": root,
        "class": "actuator",
        "probability": 0.97,
        "since": "2018-07-02T14:07:00Z",
        "state": "unacknowledged",
        "priority": "high",
        "consistent_with": ["T1692.001", "T0836"],
        "text": "Zone 7: cooling valve, actuator attack, p = 0.97\nvalve reads closed, coil is cold",
        "action": "Compare the valve's position with its command.",
        "version": 3,
    }
    return StoredEvent(number, site, 1_530_540_480_000 + number * 60_000, kind, {**body, **more})


class MemoryLog:
    """Keeps events as the journal does, retention included."""

    def __init__(self, count=0):
        self._lock, self._events, self._first = Lock(), [], 1
        self.append(count)

    def append(self, count=1):
        with self._lock:
            for _ in range(count):
                self._events.append(incident(self._first + len(self._events)))

    def drop(self, count):
        with self._lock:
            del self._events[:count]
            self._first += count

    def lose(self, *numbers):
        with self._lock:
            self._events = [event for event in self._events if event.number not in numbers]

    def events_after(self, number, limit):
        with self._lock:
            return [event for event in self._events if event.number > number][:limit]

    def first_event_number(self):
        return self._first


class Belt:
    """A source that hands over what was laid on it."""

    def __init__(self, batches=(), *, ends=True):
        self.batches, self.ends, self.acknowledged, self.is_closed = deque(batches), ends, 0, False

    def poll(self, timeout_s):
        return self.batches.popleft() if self.batches else None

    def acknowledge(self, batch):
        self.acknowledged += 1

    @property
    def status(self):
        return SourceStatus(is_connected=True, is_finished=self.ends and not self.batches)

    def close(self):
        self.is_closed = True


class Listener:
    """A subscriber to everything."""

    def __init__(self, port, *, persistent=False):
        self.messages = []
        self.client = paho.Client(CallbackAPIVersion.VERSION2, client_id="listener", clean_session=not persistent)
        self.client.on_message = lambda _client, _data, message: self.messages.append(message)
        self._granted = []
        self.client.on_subscribe = lambda *_: self._granted.append(True)
        self.client.on_connect = lambda client, *_: client.subscribe("#", qos=1)
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        until(lambda: self._granted, "subscription")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.disconnect()
        self.client.loop_stop()


def until(is_true, what, seconds=10.0):
    """Wait for another thread or process; fails when it never happens."""
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.01)


def keys(lines):
    return [json.loads(line)["key"] for line in lines]
