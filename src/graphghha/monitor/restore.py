"""A site as the journal holds it: its state, its alarm board and the rows that fill the windows of its detector."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from graphghha.alarms import Event, StoredEvent, board_from_events
from graphghha.errors import GraphGHHAError
from graphghha.monitor.detector import Detector
from graphghha.monitor.journal import Journal
from graphghha.monitor.site import Site
from graphghha.monitor.site_config import SiteConfig
from graphghha.windows import Rows

log = logging.getLogger(__name__)
MOST_REASON = 1_000  # characters


def restore_site(journal: Journal, name: str, detector: Detector, config: SiteConfig) -> tuple[Site, list[Event], str]:
    """Return the site as stored in the journal, or a new one with events and the reason why that cannot be used."""
    checkpoint, is_unread = None, False
    try:
        checkpoint = journal.reader.checkpoint(name)
        if checkpoint is not None:
            history = read_history(journal, name, detector)
            return Site.from_state(name, detector, config, *checkpoint, history), [], ""
        reason = "it is not in the journal"
    except Exception as exc:  # any process that may write the journal may have written the checkpoint
        reason = (str(exc) if isinstance(exc, GraphGHHAError) else repr(exc))[:MOST_REASON]
        is_unread = journal.path.is_file() and journal.path.stat().st_size > 0
    site, events = Site(name, detector, config), _past_events(journal, name)
    note = f"saved state is unusable; starting fresh: {reason}"
    if not events:
        return site, [], note if checkpoint is not None or is_unread else ""
    boards: list[Callable[[], Mapping[str, Any]]] = [
        # incidents and operators' commands are also in the events, whatever happened to the checkpoint
        lambda: board_from_events(
            ((event.kind, event.body) for event in events), detector.graph.names, latching=config.latching
        ).to_dict()
    ]
    if checkpoint is not None:
        boards.insert(0, lambda: checkpoint[1])
    for board in boards:
        try:
            return site, site.inherit(board(), events[-1].time_ms), note
        except Exception:
            log.warning("%s: a stored alarm board cannot be used", name, exc_info=True)
            site = Site(name, detector, config)
    return site, [], f"{note}; open incidents and operators' commands are lost"


def read_history(journal: Journal, name: str, detector: Detector, after_ms: int | None = None) -> Rows:
    """Return the newest rows that fill the windows of a detector; only those after a time, if one is given."""
    newest, from_ms = detector.history_rows, -(2**62) if after_ms is None else after_ms + 1
    rows = journal.reader.rows(name, newest=newest, from_ms=from_ms) if newest else None
    if rows is not None and rows.values.shape[1] == len(detector.points):
        return rows
    none = np.empty((0, len(detector.points)))
    return Rows(np.empty(0, np.int64), none, none.astype(np.bool_), np.empty(0, np.bool_))


def _past_events(journal: Journal, name: str) -> list[StoredEvent]:
    try:
        return journal.reader.site_events(name)
    except GraphGHHAError:
        if not journal.problem:
            raise
        return []  # a first start on a full disk: there is no journal yet
