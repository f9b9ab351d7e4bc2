"""A journal in memory, an MQTT listener, and names that a hostile plant might choose."""

import json
from threading import Lock

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from graphghha.alarms import StoredEvent
from graphghha.monitor.journal.unwritten import UnwrittenEvents
from waiting import until

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
    """A journal in memory, with retention."""

    def __init__(self, count=0):
        self._lock, self._events, self._first = Lock(), [], 1
        self.unwritten = UnwrittenEvents()
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

    def unwritten_after(self, number):
        return self.unwritten.after(number)


class Listener:
    """A subscriber to all topics; for a persistent one the broker keeps messages while it is away."""

    def __init__(self, port, *, persistent=False):
        self.messages = []
        self.client = paho.Client(CallbackAPIVersion.VERSION2, client_id="listener", clean_session=not persistent)
        self.client.on_message = lambda _client, _data, message: self.messages.append(message)
        self._granted = []
        self.client.on_subscribe = lambda *_: self._granted.append(True)
        self.client.on_connect = lambda client, *_: client.subscribe("#", qos=1)
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        until(lambda: self._granted, "subscription")  # what the broker kept has arrived before it

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.disconnect()
        self.client.loop_stop()
        self.client.on_message = self.client.on_subscribe = self.client.on_connect = None


def keys(lines):
    return [json.loads(line)["key"] for line in lines]
