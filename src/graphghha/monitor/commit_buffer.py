"""What a site has produced and the journal has not stored yet: bounded, and not yet acknowledged to the source."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import Event
from graphghha.monitor.journal import Commit
from graphghha.monitor.site import Site, SiteUpdate
from graphghha.sources import Batch, ReadingBatch, Source

log = logging.getLogger(__name__)
MOST_ROW_BYTES = 64_000_000
MOST_EVENTS = 100_000
MOST_BATCHES = 100_000


@dataclass(slots=True)
class CommitBuffer:
    """One site's part of the next commit."""

    events: list[Event] = field(default_factory=list)
    times_ms: list[int] = field(default_factory=list)
    rows: list[NDArray[np.float32]] = field(default_factory=list)
    scores: list[NDArray[np.uint8]] = field(default_factory=list)
    answers: list[tuple[int, str, str]] = field(default_factory=list)  # to commands: id, state, message
    batches: list[tuple[Source, Batch]] = field(default_factory=list)  # to be acknowledged after the commit
    dropped_rows: int = 0
    dropped_events: int = 0
    announced: int = 0  # events, of the oldest ones, that sinks have from memory
    is_dirty: bool = False

    def __bool__(self) -> bool:
        return self.is_dirty or bool(self.events or self.answers or self.batches)

    def add(self, update: SiteUpdate) -> None:
        """Take over what a site has produced."""
        self.events += update.events
        self.times_ms += update.times_ms
        self.rows += update.rows
        self.scores += update.scores
        self.is_dirty |= bool(update.events or update.times_ms)

    def hold(self, source: Source, batch: Batch) -> None:
        """Keep a batch, without its readings, to acknowledge it once it is stored."""
        self.batches.append((source, ReadingBatch.empty(batch.site, batch.received_ms, receipt=batch.receipt)))

    def to_commit(self, site: Site, summary: Mapping[str, Any], more: Sequence[Event]) -> Commit:
        """Return what is to be written, with the site's present state."""
        events = [*self.events, *more]
        if self.dropped_rows or self.dropped_events:
            lost = {"rows": self.dropped_rows, "events": self.dropped_events, "priority": "high"}
            events.append(Event(site.time_ms, "journal.dropped", lost))
        return Commit(
            site=site.name,
            time_ms=site.time_ms,
            events=events,
            times_ms=self.times_ms,
            rows=self.rows,
            scores=self.scores,
            state=site.to_state(),
            board=site.board_state(),
            summary=summary,
            answers=self.answers,
        )

    def settle(self) -> None:
        """Empty the buffer after a commit and acknowledge its batches in order."""
        batches, self.batches = self.batches, []
        self.events, self.times_ms, self.rows, self.scores, self.answers = [], [], [], [], []
        self.dropped_rows = self.dropped_events = self.announced = 0
        self.is_dirty = False
        for source, batch in batches:
            try:
                source.acknowledge(batch)
            except Exception:  # the batch is stored: if the source sends it again, it changes nothing
                log.exception("%s: a batch could not be acknowledged to its source", batch.site)

    def take_unannounced(self) -> list[Event]:
        """Return once the events that no sink can read in the journal."""
        events, self.announced = self.events[self.announced :], len(self.events)
        return events

    def bound(self) -> None:
        """Limit the memory in use: drop the oldest rows first, then the oldest events, and count every drop."""
        if len(self.batches) > MOST_BATCHES:  # a source without receipts does not wait for acknowledgements
            self.batches = [each for each in self.batches if each[1].receipt is not None]
        size = sum(block.nbytes for block in self.rows)
        while self.rows and size > MOST_ROW_BYTES:
            block = self.rows.pop(0)
            size -= block.nbytes
            self.dropped_rows += len(block)
            del self.scores[:1]  # each block of rows has one of scores
            del self.times_ms[: len(block)]
        if (excess := len(self.events) - MOST_EVENTS) > 0:
            self.dropped_events += excess
            self.announced = max(0, self.announced - excess)
            del self.events[:excess]
