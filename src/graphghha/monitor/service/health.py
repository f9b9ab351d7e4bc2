"""How a monitor is, at one moment: what the health port, the heartbeats and the metrics tell."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphghha.monitor.sinks.follow import FollowStats
from graphghha.monitor.watched import Durations

STUCK_AFTER_S = 60.0  # without a turn of the monitor's loop


@dataclass(frozen=True, kw_only=True, slots=True)
class SiteHealth:
    """One site at a glance. Every mapping has a small fixed set of keys: they become labels."""

    name: str
    model: str  # its identity; empty while none is loaded
    is_connected: bool
    is_lost: bool = False  # connected or not: nothing has come for too long
    detail: str = ""
    data_time_s: float | None = None  # plant time of the newest closed row, since 1970
    readings: Mapping[str, int] = field(default_factory=dict)  # taken, late, duplicate, ...
    rejected: Mapping[str, int] = field(default_factory=dict)  # by reason
    rows_scored: int = 0
    nodes: Mapping[str, int] = field(default_factory=dict)  # by what is known of them
    incidents: Mapping[str, int] = field(default_factory=dict)  # open ones by priority
    durations: Durations = field(default_factory=Durations)


@dataclass(frozen=True, kw_only=True, slots=True)
class HealthSnapshot:
    """What a monitor tells about itself at one moment."""

    loop_age_s: float  # since the last turn of the loop
    is_journal_writable: bool
    journal_bytes: int = 0
    disk_free_bytes: int = 0
    sites: tuple[SiteHealth, ...] = ()
    sinks: tuple[FollowStats, ...] = ()
    last_event: int = 0  # newest number in the journal

    @property
    def is_live(self) -> bool:
        return self.loop_age_s < STUCK_AFTER_S

    @property
    def is_ready(self) -> bool:
        """Able to judge and to remember. A lost source or a dead sink is a degradation, and said so."""
        return self.is_live and self.is_journal_writable and all(site.model for site in self.sites)

    def reasons(self) -> Iterator[str]:
        """Everything that is not as it should be."""
        if not self.is_live:
            yield f"the monitor has not moved for {self.loop_age_s:.0f} s"
        if not self.is_journal_writable:
            yield "the journal cannot be written"
        for site in self.sites:
            if not site.model:
                yield f"site {site.name}: no model is loaded"
            if not site.is_connected:
                yield f"site {site.name}: source not connected{f' ({site.detail})' if site.detail else ''}"
            elif site.is_lost:
                yield f"site {site.name}: its source is silent"
            elif site.data_time_s is None:
                yield f"site {site.name}: nothing heard yet"
        for sink in self.sinks:
            if sink.last_error:
                yield f"sink {sink.name}: {sink.last_error}"

    def to_dict(self) -> dict[str, Any]:
        reasons = list(self.reasons())
        status = "not ready" if not self.is_ready else "degraded" if reasons else "ready"
        return {"status": status, "ready": self.is_ready, "reasons": reasons}
