"""Simulated sites after a restart: they go on where they stood, with the attacks that were injected."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graphghha.errors import ConfigError, JournalError, NotFoundError
from graphghha.monitor.journal import PageReader
from graphghha.plants import CaseSpec
from graphghha.sources import SimulatedConfig

MOST_EVENTS = 500  # of injected attacks that are looked at


def resume_simulation(config: SimulatedConfig, site: str, journal: Path) -> SimulatedConfig:
    """Return the settings with which a simulated site goes on after what its journal holds."""
    try:
        with PageReader(journal) as reader:
            newest_ms, _ = reader.last_commit(site)
            events = reader.events_before(None, MOST_EVENTS, ("studio.injected",))
    except (JournalError, NotFoundError):  # nothing to go on from
        return config
    newest = datetime.fromtimestamp(newest_ms / 1000, UTC).replace(tzinfo=None)
    if not config.start <= newest < config.start + timedelta(days=config.days):
        return config  # nothing yet, or the settings describe another simulation
    texts = [str(event.body.get("case", "")) for event in reversed(events) if event.site == site]
    injected = [spec for text in texts if (spec := _parse(text)) is not None and spec not in config.cases]
    return replace(config, after=newest, cases=(*config.cases, *dict.fromkeys(injected)))


def _parse(text: str) -> CaseSpec | None:
    try:
        return CaseSpec.parse(text)
    except ConfigError:
        return None
