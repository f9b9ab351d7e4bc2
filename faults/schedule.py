"""What a building's devices send, when it arrives and which times they state; played into a site without waiting.

The receiver's clock is the true time, which is the telemetry's. One message per device and row.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from faults.toy_detector import SITE, STEP_MS, Telemetry
from graphghha.alarms import Event
from graphghha.monitor import Detector, Site, SiteConfig, SiteUpdate
from graphghha.sources import Batch, ReadingBatch

TICK_MS = 5_000  # of silence between two empty batches
SPREAD_MS = 400  # between the messages of two devices
DELAY_MS = 700


@dataclass(frozen=True, slots=True)
class Message:
    """One message: the row it was measured in, when it arrives and the time that it states."""

    device: int
    row: int
    arrives_ms: int
    stated_ms: int


Change = Callable[[Message], Message]


def regular(telemetry: Telemetry, devices: int) -> list[Message]:
    """Return the messages of an undisturbed run: every device sends every row shortly after it was measured."""
    return [
        Message(device, row, time_ms + DELAY_MS + SPREAD_MS * device, time_ms)
        for row, time_ms in enumerate(telemetry.times_ms.tolist())
        for device in range(devices)
    ]


def off_by(device: int, offset_ms: int, first: int = 0, end: int = 10**9) -> Change:
    """Return a change: the device's clock is off, from a row to another."""

    def change(message: Message) -> Message:
        if message.device != device or not first <= message.row < end:
            return message
        return replace(message, stated_ms=message.stated_ms + offset_ms)

    return change


def stuck(device: int, at_ms: int, first: int = 0) -> Change:
    """Return a change: the device's clock stands still."""

    def change(message: Message) -> Message:
        is_stuck = message.device == device and message.row >= first
        return replace(message, stated_ms=at_ms) if is_stuck else message

    return change


def step_all(offset_ms: int, first: int, end: int = 10**9) -> Change:
    """Return a change: the clocks of all devices are set."""

    def change(message: Message) -> Message:
        return replace(message, stated_ms=message.stated_ms + offset_ms) if first <= message.row < end else message

    return change


def stored(first: int, end: int, until_ms: int) -> Change:
    """Return a change: what is measured in these rows arrives later, in the order in which it was measured."""

    def change(message: Message) -> Message:
        if not first <= message.row < end:
            return message
        return replace(message, arrives_ms=until_ms + message.row - first)

    return change


def forwarded(first: int, end: int, begin_ms: int, every_ms: int) -> Change:
    """Return a change: each device stores these rows, and forwards them when its turn comes, oldest first."""

    def change(message: Message) -> Message:
        if message.row < first:
            return message
        turn_ms = begin_ms + message.device * every_ms
        if message.row >= end:
            return replace(message, arrives_ms=max(message.arrives_ms, turn_ms + every_ms // 2 + message.row - end))
        return replace(message, arrives_ms=turn_ms + every_ms // 2 * (message.row - first) // (end - first))

    return change


def applied(messages: Iterable[Message], *changes: Change) -> list[Message]:
    """Return the messages with all changes."""
    changed = list(messages)
    for change in changes:
        changed = [change(message) for message in changed]
    return changed


class Play:
    """A site that is fed with messages; collects its events and rows."""

    def __init__(self, telemetry: Telemetry, detector: Detector, config: SiteConfig) -> None:
        self.telemetry, self.config = telemetry, config
        self.site = Site(SITE, detector, config)
        owners = [name.rpartition("/")[0] for name in telemetry.names]
        names = list(dict.fromkeys(owners))
        self.columns = [np.array([at for at, own in enumerate(owners) if own == name], np.int32) for name in names]
        self.events: list[Event] = []
        self.times_ms: list[int] = []
        self._rows: list[np.ndarray] = []

    @property
    def values(self) -> np.ndarray:
        """The values of all closed rows [r p]."""
        return np.concatenate(self._rows) if self._rows else np.empty((0, len(self.telemetry.names)), np.float32)

    def take(self, batch: Batch) -> None:
        self._keep(self.site.take(batch))

    def finish(self) -> None:
        self._keep(self.site.finish())

    def _keep(self, update: SiteUpdate) -> None:
        self.events += update.events
        self.times_ms += update.times_ms
        self._rows += update.rows

    def run(self, messages: Iterable[Message], *, tick_ms: int = TICK_MS) -> None:
        """Feed the messages in the order of their arrival, with empty batches while nothing arrives."""
        for batch in self.batches(messages, tick_ms):
            self.take(batch)

    def batches(self, messages: Iterable[Message], tick_ms: int = TICK_MS) -> Iterator[Batch]:
        """Yield the batches: messages that arrive at the same time come in one."""
        now_ms: int | None = None
        together: list[Message] = []
        for message in sorted(messages, key=lambda each: each.arrives_ms):
            if together and message.arrives_ms != together[0].arrives_ms:
                yield self.batch(together)
                together = []
            if now_ms is not None:
                for tick in range(now_ms + tick_ms, message.arrives_ms, tick_ms):
                    yield ReadingBatch.empty(SITE, tick)
            together.append(message)
            now_ms = message.arrives_ms
        if together:
            yield self.batch(together)

    def batch(self, messages: list[Message]) -> Batch:
        """Return messages as one batch."""
        columns = [self.columns[each.device] for each in messages]
        values = [self.telemetry.values[each.row, own] for each, own in zip(messages, columns, strict=True)]
        times = [np.full(len(own), each.stated_ms) for each, own in zip(messages, columns, strict=True)]
        received_ms = messages[-1].arrives_ms
        return ReadingBatch(SITE, received_ms, np.concatenate(times), np.concatenate(values), np.concatenate(columns))

    def lost(self, devices: Iterable[int], rows: int) -> int:
        """Count readings of the first rows that these devices sent and that are in no row of the site."""
        chosen = np.concatenate([self.columns[device] for device in devices])
        sent = self.telemetry.values[:rows][:, chosen].astype(np.float32)
        kept = np.full_like(sent, np.nan)
        at = (np.array(self.times_ms, np.int64) - int(self.telemetry.times_ms[0])) // STEP_MS
        inside = (at >= 0) & (at < rows)
        kept[at[inside]] = self.values[inside][:, chosen]
        return int((kept != sent).sum())

    def incidents(self, zones: Iterable[str]) -> list[tuple[str, str, str, int]]:
        """Return kind, zone, root and time of what became known about incidents in these zones."""
        chosen = set(zones)
        return [
            (event.kind, event.body["zone"], event.body["root"], event.time_ms)
            for event in self.events
            if event.kind in ("incident.annunciated", "incident.closed") and event.body["zone"] in chosen
        ]

    def kinds(self, start: str) -> list[Event]:
        """Return the events of a kind."""
        return [event for event in self.events if event.kind.startswith(start)]
