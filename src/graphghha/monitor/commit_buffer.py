"""What a site has said and the journal has not taken yet: bounded, and unacknowledged to the source."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import Fact
from graphghha.monitor.journal.journal import Entry
from graphghha.monitor.site import Outcome, Site
from graphghha.sources import Batch, ReadingBatch, Source

log = logging.getLogger(__name__)
MOST_ROW_BYTES = 64_000_000
MOST_FACTS = 100_000
MOST_HELD = 100_000


@dataclass(slots=True)
class Pending:
    """One site's part of the next commit."""

    facts: list[Fact] = field(default_factory=list)
    times_ms: list[int] = field(default_factory=list)
    rows: list[NDArray[np.float32]] = field(default_factory=list)
    answers: list[tuple[int, str, str]] = field(default_factory=list)
    held: list[tuple[Source, Batch]] = field(default_factory=list)
    dropped_rows: int = 0
    dropped_facts: int = 0
    is_dirty: bool = False

    def __bool__(self) -> bool:
        return self.is_dirty or bool(self.facts or self.answers or self.held)

    def add(self, outcome: Outcome) -> None:
        self.facts += outcome.facts
        self.times_ms += outcome.times_ms
        self.rows += outcome.rows
        self.is_dirty = True

    def hold(self, source: Source, batch: Batch) -> None:
        """To be acknowledged once it is written; its readings are no longer needed for that."""
        self.held.append((source, ReadingBatch.empty(batch.site, batch.received_ms, receipt=batch.receipt)))

    def entry(self, site: Site, summary: Mapping[str, Any], more: Sequence[Fact]) -> Entry:
        facts = [*self.facts, *more]
        if self.dropped_rows or self.dropped_facts:
            lost = {"rows": self.dropped_rows, "events": self.dropped_facts, "priority": "high"}
            facts.append(Fact(site.time_ms, "journal.dropped", lost))
        return Entry(
            site=site.name,
            time_ms=site.time_ms,
            facts=facts,
            times_ms=self.times_ms,
            rows=self.rows,
            state=site.to_state(),
            desk=site.desk.to_dict(),
            summary=summary,
            answers=self.answers,
        )

    def settle(self) -> None:
        """It is written: acknowledge, in order, and forget."""
        held, self.held = self.held, []
        self.facts, self.times_ms, self.rows, self.answers = [], [], [], []
        self.dropped_rows = self.dropped_facts = 0
        self.is_dirty = False
        for source, batch in held:
            try:
                source.acknowledge(batch)
            except Exception:  # it is written: should it come again, it changes nothing
                log.exception("%s: a batch could not be acknowledged", batch.site)

    def bound(self) -> None:
        """Memory is not a disk: raw rows go first, the oldest first, and every drop is counted."""
        if len(self.held) > MOST_HELD:  # a source without receipts waits for nothing
            self.held = [each for each in self.held if each[1].receipt is not None]
        size = sum(block.nbytes for block in self.rows)
        while self.rows and size > MOST_ROW_BYTES:
            block = self.rows.pop(0)
            size -= block.nbytes
            self.dropped_rows += len(block)
            del self.times_ms[: len(block)]
        if (excess := len(self.facts) - MOST_FACTS) > 0:
            self.dropped_facts += excess
            del self.facts[:excess]
