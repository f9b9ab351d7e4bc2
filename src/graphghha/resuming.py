"""Simulated sites after a restart: they go on where they stood, with the attacks that were injected or ended."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graphghha.errors import ConfigError, JournalError, NotFoundError
from graphghha.monitor.journal import PageReader
from graphghha.plants import CaseSpec
from graphghha.sources import SimulatedConfig

MOST_EVENTS = 500  # of the studio that are looked at


def resume_simulation(config: SimulatedConfig, site: str, journal: Path) -> SimulatedConfig:
    """Return the settings with which a simulated site goes on after what its journal holds."""
    try:
        with PageReader(journal) as reader:
            newest_ms, _ = reader.last_commit(site)
            events = reader.events_before(None, MOST_EVENTS, ("studio.injected", "studio.withdrawn"))
    except (JournalError, NotFoundError):  # nothing to go on from
        return config
    newest = datetime.fromtimestamp(newest_ms / 1000, UTC).replace(tzinfo=None)
    if not config.start <= newest < config.start + timedelta(days=config.days):
        return config  # nothing yet, or the settings describe another simulation
    cases = list(config.cases)
    for event in reversed(events):
        spec = _parse(str(event.body.get("case", "")))
        if event.site != site or spec is None:
            continue
        if event.kind == "studio.injected":
            cases += [] if spec in cases else [spec]
        elif spec in cases:
            ended = _parse(str(event.body.get("became", "")))
            cases[cases.index(spec) : cases.index(spec) + 1] = [] if ended is None else [ended]
    return replace(config, after=newest, cases=tuple(cases))


def _parse(text: str) -> CaseSpec | None:
    try:
        return CaseSpec.parse(text)
    except ConfigError:
        return None
