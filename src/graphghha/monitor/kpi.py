"""The performance figures of ISA-18.2 for an alarm system, from its journal. Their targets: `kpi_targets`."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphghha.alarms import StoredEvent
from graphghha.errors import JournalError, NotFoundError
from graphghha.monitor.journal import Reader
from graphghha.monitor.kpi_targets import verdicts
from graphghha.monitor.probability import SiteRate, estimate_rate

TEN_MINUTES, HOUR, DAY = 600_000, 3_600_000, 86_400_000
FLOOD_ABOVE = 10
CHATTER_TIMES, CHATTER_MS = 3, 60_000
PAGE = 10_000
REAL = ("attack", "fault", "maintenance")  # dispositions that mean that something had happened
PLANT_TIMED = ("site.watching", "alarm.", "incident.", "flood.")  # kinds whose time is certainly plant time


@dataclass(slots=True)
class _Tally:
    """The counts for one site, collected in one pass over its events."""

    annunciated: list[int] = field(default_factory=list)
    priorities: Counter[str] = field(default_factory=Counter)
    roots: Counter[str] = field(default_factory=Counter)
    raises: dict[str, list[int]] = field(default_factory=dict)
    chattering: set[str] = field(default_factory=set)
    standing: dict[str, int] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)
    flood_ms: int = 0
    flood_since: int | None = None
    first_ms: int | None = None
    last_ms: int = 0
    suspended: int = 0
    dispositions: dict[str, str] = field(default_factory=dict)  # incident -> what it was, by the last word on it

    @property
    def span_ms(self) -> int:
        """Return the time from the first event to the newest data."""
        return 0 if self.first_ms is None else self.last_ms - self.first_ms

    def take(self, event: StoredEvent) -> None:
        """Count one event."""
        time_ms, body = event.time_ms, event.body
        if event.kind.startswith(PLANT_TIMED):
            self.first_ms = time_ms if self.first_ms is None else min(self.first_ms, time_ms)
            self.last_ms = max(self.last_ms, time_ms)
        match event.kind:
            case "incident.annunciated":
                self.annunciated.append(time_ms)
                self.priorities[body["priority"]] += 1
                self.roots[f"{body['zone'] or ''}/{body['root']}"] += 1
            case "alarm.raised":
                node = body["node"]
                recent = [each for each in self.raises.get(node, []) if time_ms - each < CHATTER_MS] + [time_ms]
                self.raises[node] = recent
                if len(recent) >= CHATTER_TIMES:
                    self.chattering.add(node)
                self.standing.setdefault(node, time_ms)
            case "alarm.cleared":
                self._settle(body["node"], time_ms)
            case "flood.started":
                self.flood_since = time_ms
            case "flood.ended" if self.flood_since is not None:
                self.flood_ms, self.flood_since = self.flood_ms + time_ms - self.flood_since, None
            case "alarm.shelved" | "alarm.suppressed" | "alarm.out-of-service":
                self.suspended += 1
            case "incident.disposed":
                self.dispositions[body["id"]] = body["disposition"]["is"]

    def finish(self, end_ms: int) -> None:
        """Close the alarms and floods that still stand at the end of the data."""
        if self.first_ms is not None:
            self.last_ms = max(self.last_ms, end_ms)
        for node in list(self.standing):
            self._settle(node, self.last_ms)
        if self.flood_since is not None:
            self.flood_ms += self.last_ms - self.flood_since

    def _settle(self, node: str, time_ms: int) -> None:
        since = self.standing.pop(node, time_ms)
        if time_ms - since > DAY:
            self.stale.add(node)


def kpi(reader: Reader, site: str | None = None) -> dict[str, Any]:
    """Return the figures of a site, or of all sites together.

    Rates refer to the time from the first event to the newest data of the site that was monitored longest. Each site
    is counted separately, because sites share names of nodes and their clocks need not agree.
    """
    known = reader.sites()
    if site is not None and site not in known:
        raise NotFoundError(f"{reader.path}: there is no site {site!r}; the journal has {', '.join(known) or 'none'}")
    tallies = {name: _Tally() for name in ([site] if site else known)}
    for event in _events(reader):
        if event.site in tallies:
            try:
                tallies[event.site].take(event)
            except (KeyError, TypeError, AttributeError) as exc:
                raise JournalError(
                    f"{reader.path}: event {event.number} is not one that a monitor writes: {exc!r}"
                ) from exc
    for name, tally in tallies.items():
        tally.finish(int(reader.summary(name).get("time_ms", 0)))
    return _figures(list(tallies.values()))


def site_rate(reader: Reader, site: str) -> SiteRate | None:
    """Return how often zones of a site have real events, as far as operators recorded it; None while that is unknown.

    An incident that is part of one of the building and has no disposition of its own has that of the building.
    """
    bodies = {body["id"]: body for body in reader.incidents(site=site, limit=PAGE)}
    zones = len(reader.sites().get(site, {}).get("zones") or [""])
    own = [body for body in bodies.values() if "members" not in body]
    notes = [body.get("disposition") or bodies.get(body.get("part_of"), {}).get("disposition") for body in own]
    kinds = [note["is"] for note in notes if note]
    real = sum(kind in REAL for kind in kinds)
    return estimate_rate(real, len(kinds), len(own), zones * float(kpi(reader, site)["days"]))


def _figures(tallies: Sequence[_Tally]) -> dict[str, Any]:
    span = max([1, *(tally.span_ms for tally in tallies)])
    annunciated = [time for tally in tallies for time in tally.annunciated]
    periods = Counter(time // TEN_MINUTES for time in annunciated)
    roots = [n for tally in tallies for n in tally.roots.values()]
    count, top = len(annunciated), sum(sorted(roots, reverse=True)[:10])
    priorities = sum((tally.priorities for tally in tallies), Counter[str]())
    dispositions = Counter(kind for tally in tallies for kind in tally.dispositions.values())
    figures = {
        "days": round(span / DAY, 3),
        "annunciated": count,
        "per_10_min": round(count * TEN_MINUTES / span, 4),
        "per_hour": round(count * HOUR / span, 3),
        "per_day": round(count * DAY / span, 2),
        "most_in_10_min": _most_within(annunciated, TEN_MINUTES),
        "share_of_periods_above_10": round(
            sum(n > FLOOD_ABOVE for n in periods.values()) / max(1, -(-span // TEN_MINUTES)), 5
        ),
        "share_of_time_in_flood": round(max((tally.flood_ms for tally in tallies), default=0) / span, 5),
        "top_10_share": round(top / count, 3) if count else None,
        "chattering": sum(len(tally.chattering) for tally in tallies),
        "stale": sum(len(tally.stale) for tally in tallies),
        "priorities": {name: round(n / count, 3) for name, n in sorted(priorities.items())},
        "suspensions": sum(tally.suspended for tally in tallies),
        "dispositions": dict(sorted(dispositions.items())),
    }
    return {**figures, "verdicts": verdicts(figures)}


def _events(reader: Reader) -> Iterable[StoredEvent]:
    number = 0
    while page := reader.events_after(number, PAGE):
        yield from page
        number = page[-1].number


def _most_within(times: list[int], window_ms: int) -> int:
    """Return the largest number of times within any interval of this length."""
    times, begin, most = sorted(times), 0, 0
    for end, time in enumerate(times):
        while time - times[begin] >= window_ms:
            begin += 1
        most = max(most, end - begin + 1)
    return most
