"""The condition of a monitor at one moment: the content of health answers, heartbeats and metrics."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphghha.monitor.feed import Durations
from graphghha.monitor.sinks import FollowStats

MOST_NAMED = 20  # devices named in a reason
STUCK_AFTER_S = 60.0  # since the monitor's loop last polled a source


@dataclass(frozen=True, kw_only=True, slots=True)
class SiteHealth:
    """The condition of one site. Every mapping has a small fixed set of keys, because they become metric labels."""

    name: str
    model: str  # name and hash; empty while none is loaded
    refused_model: str = ""  # why the model in the site's directory is not the one in use
    is_connected: bool
    is_lost: bool = False  # no reading for too long, connected or not
    detail: str = ""
    failure: str = ""  # why the source could not be read
    silence: str = ""  # why nothing of what arrives can be used
    data_time_s: float | None = None  # plant time of the newest closed row, since 1970
    readings: Mapping[str, int] = field(default_factory=dict)  # accepted, late, duplicate, ...
    rejected: Mapping[str, int] = field(default_factory=dict)  # by reason
    wrong_clocks: tuple[str, ...] = ()  # devices whose readings are not used
    blind_zones: tuple[str, ...] = ()  # zones that were seen and no longer are
    unseen: tuple[str, ...] = ()  # what else keeps parts of the site from being seen, in sentences
    rows_scored: int = 0
    nodes: Mapping[str, int] = field(default_factory=dict)  # known and unknown ones
    incidents: Mapping[str, int] = field(default_factory=dict)  # open ones by priority
    durations: Durations = field(default_factory=Durations)


@dataclass(frozen=True, kw_only=True, slots=True)
class HealthSnapshot:
    """The condition of a monitor at one moment."""

    loop_age_s: float  # since the loop last polled a source
    is_journal_writable: bool
    journal_bytes: int = 0
    disk_free_bytes: int = 0
    sites: tuple[SiteHealth, ...] = ()
    sinks: tuple[FollowStats, ...] = ()
    last_event: int = 0  # number of the journal's newest event
    exhausted: Mapping[str, str] = field(default_factory=dict)  # what there is none left of, with the error

    @property
    def is_live(self) -> bool:
        """Return whether the monitor's loop runs."""
        return self.loop_age_s < STUCK_AFTER_S

    @property
    def is_ready(self) -> bool:
        """Return whether the monitor can score and store. A lost source or sink only degrades it, see `reasons`."""
        return self.is_live and self.is_journal_writable and all(site.model for site in self.sites)

    def reasons(self) -> Iterator[str]:
        """Yield everything that is not as it should be."""
        if not self.is_live:
            yield f"the monitor's loop has not run for {self.loop_age_s:.0f} s"
        if not self.is_journal_writable:
            yield "the journal cannot be written"
        for what, error in self.exhausted.items():
            yield f"no {what} left: {error}"
        for site in self.sites:
            if not site.model:
                yield f"site {site.name}: no model is loaded"
            if site.refused_model:
                yield f"site {site.name}: the model in its directory was refused ({site.refused_model})"
            if not site.is_connected:
                yield f"site {site.name}: the source is not connected{f' ({site.detail})' if site.detail else ''}"
            elif site.failure:
                yield f"site {site.name}: the source fails ({site.failure})"
            elif site.is_lost:
                yield f"site {site.name}: {site.silence or 'the source is silent'}"
            elif site.data_time_s is None:
                yield f"site {site.name}: no reading has arrived yet"
            if site.wrong_clocks:
                yield f"site {site.name}: wrong clock at {', '.join(site.wrong_clocks[:MOST_NAMED])}"
            if site.blind_zones:
                yield f"site {site.name}: no usable readings from {', '.join(site.blind_zones[:MOST_NAMED])}"
            for text in site.unseen:
                yield f"site {site.name}: {text}"
        for sink in self.sinks:
            if sink.last_error:
                yield f"sink {sink.name}: {sink.last_error}"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer to `/readyz`."""
        reasons = list(self.reasons())
        status = "not ready" if not self.is_ready else "degraded" if reasons else "ready"
        return {"status": status, "ready": self.is_ready, "reasons": reasons}
