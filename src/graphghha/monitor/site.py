"""One site, watched: batches in, facts and rows out. Deterministic: no clock, no I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import ChangeKind, Command, Desk, Fact, Incident, iso
from graphghha.errors import ConfigError
from graphghha.monitor.detector import Detector
from graphghha.monitor.evidence import RECENT_ROWS
from graphghha.monitor.incident_json import alarms_of, incident_id, new_body
from graphghha.monitor.pipeline import Step
from graphghha.monitor.row_clock import Intake, IntakeConfig
from graphghha.sources import Batch
from graphghha.windows import Ring, Rows

FORMAT = 2
AFTERMATH_MS = 24 * 3_600_000  # rooms settle for hours, and the detector's windows remember for a day
MANY = 20  # nodes named one by one in a fact; beyond it zones stand for them


@dataclass(frozen=True, kw_only=True, slots=True)
class SiteConfig:
    """Rows count from the first one heard: judging begins when the windows have something to stand on."""

    intake: IntakeConfig = field(default_factory=IntakeConfig)
    warm_up_rows: int = 360
    lost_after_ms: int = 300_000  # silence of the whole site
    settle_rows: int = 10  # after such a silence nodes stay unknown: the first rows show the gap, not the plant
    latching: bool = False

    def __post_init__(self) -> None:
        for name in ("warm_up_rows", "settle_rows"):
            if getattr(self, name) < 0:
                raise ConfigError(f"site.{name} {getattr(self, name)} must not be negative")
        if self.lost_after_ms < self.intake.step_ms:
            raise ConfigError(f"site.lost_after_ms {self.lost_after_ms} must be at least one step")


@dataclass(slots=True)
class Outcome:
    """What a batch brought: for the journal."""

    facts: list[Fact] = field(default_factory=list)
    times_ms: list[int] = field(default_factory=list)
    rows: list[NDArray[np.float32]] = field(default_factory=list)  # [r p] blocks; NaN is not fresh


@dataclass(slots=True)
class _Silence:
    """Whether the site as a whole is heard."""

    heard_ms: int | None = None
    is_lost: bool = False
    settling: int = 0  # rows still to pass after a loss


class Site:
    """A name, a detector, a grid, a desk."""

    def __init__(self, name: str, detector: Detector, config: SiteConfig) -> None:
        self.name, self.config = name, config
        self.detector = detector
        self.intake = Intake(detector.points, config.intake)
        self.desk = Desk(frozenset(detector.graph.names), latching=config.latching)
        self._pipeline = detector.pipeline()
        self._recent = Ring(RECENT_ROWS, len(detector.points), np.float32)
        self._silence = _Silence()
        self._rows = 0
        self._origin_ms: int | None = None  # the time of step 0 of the pipeline
        self._ids: dict[int, str] = {}  # of open incidents, by the grouping's number
        self._over: dict[str | None, tuple[str, int]] = {}  # zone -> its incident that closed last, and when

    @property
    def time_ms(self) -> int:
        """Data as of."""
        closed = self.intake.closed_ms
        return closed if closed is not None else 0

    @property
    def is_lost(self) -> bool:
        return self._silence.is_lost

    @property
    def is_warm(self) -> bool:
        return self._rows >= self.config.warm_up_rows

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """[s] nodes about which nothing can be said now."""
        return self._pipeline.alarms.unknown

    @property
    def steps(self) -> int:
        """Rows judged so far."""
        return self._pipeline.alarms.step

    @property
    def incidents(self) -> tuple[Incident, ...]:
        return self._pipeline.incidents

    def take(self, batch: Batch) -> Outcome:
        """Judge what the batch allows to be judged."""
        return self._follow(self.intake.take(batch))

    def finish(self) -> Outcome:
        """The source has ended: judge the rows still open."""
        return self._follow(self.intake.finish())

    def command(self, command: Command, past: dict[str, Any] | None = None) -> list[Fact]:
        return self.desk.apply(command, self.time_ms, past)

    def inherit(self, desk: Mapping[str, Any], now_ms: int) -> list[Fact]:
        """Take over the desk of a site whose state no longer fits: what was open is over, and can be acknowledged."""
        self.desk = Desk.from_dict(desk, frozenset(self.detector.graph.names), latching=self.config.latching)
        return self.desk.let_go(now_ms)

    def swap(self, detector: Detector, history: Rows) -> None:
        """Another model from the next row on, with its windows filled from the site's own rows."""
        if detector.graph != self.detector.graph:
            raise ConfigError(f"{self.name}: the new model is made for another graph; it was not swapped in")
        pipeline = detector.pipeline()
        pipeline.warm_up(history.values, history.fresh)
        pipeline.restore(self._pipeline.to_state())
        self.detector, self._pipeline = detector, pipeline

    def _follow(self, closed: Iterable[Rows]) -> Outcome:
        outcome = Outcome()
        for rows in closed:
            with np.errstate(over="ignore"):
                values = rows.values.astype(np.float32)  # what the journal keeps is what is judged
            fresh = rows.fresh & np.isfinite(values)
            values[~fresh] = np.nan
            self._judge_rows(Rows(rows.times_ms, values, fresh, rows.heard), outcome)
            outcome.times_ms += rows.times_ms.tolist()
            outcome.rows.append(values)
        return outcome

    def _judge_rows(self, rows: Rows, outcome: Outcome) -> None:
        cold = min(len(rows), max(0, self.config.warm_up_rows - self._rows))
        self._rows += len(rows)
        self._pipeline.warm_up(rows.values[:cold], rows.fresh[:cold])
        silences = [self._listen(*row) for row in zip(rows.times_ms.tolist(), rows.heard, strict=True)]
        judged = np.array([is_fit for is_fit, _ in silences[cold:]], np.bool_)
        steps = self._pipeline.push(rows.times_ms[cold:], rows.values[cold:], rows.fresh[cold:], judged)
        for at, (time_ms, (_, facts)) in enumerate(zip(rows.times_ms.tolist(), silences, strict=True)):
            self._recent.append(time_ms, rows.values[at], rows.fresh[at])
            outcome.facts += facts
            if at >= cold:
                if self._origin_ms is None:
                    self._origin_ms = time_ms
                    outcome.facts.append(Fact(time_ms, "site.watching", {"model": self.detector.model}))
                outcome.facts += self._judge(next(steps))

    def _listen(self, time_ms: int, is_heard: bool) -> tuple[bool, list[Fact]]:
        """Follow the silence of the whole site; says whether the row is fit to be judged."""
        silence, facts = self._silence, []
        if is_heard:
            if silence.is_lost:
                since_ms = silence.heard_ms if silence.heard_ms is not None else time_ms
                gap = {"from": iso(since_ms), "to": iso(time_ms), "minutes": (time_ms - since_ms) / 60_000}
                facts.append(Fact(time_ms, "source.found", gap))
                silence.is_lost, silence.settling = False, self.config.settle_rows
            silence.heard_ms = time_ms
        elif not silence.is_lost and silence.heard_ms is not None:
            silence.is_lost = time_ms - silence.heard_ms >= self.config.lost_after_ms
            if silence.is_lost:
                facts.append(Fact(time_ms, "source.lost", {"since": iso(silence.heard_ms), "priority": "high"}))
        if silence.settling:
            silence.settling -= 1
            return False, facts
        return not silence.is_lost, facts

    def _judge(self, step: Step) -> list[Fact]:
        names = self.detector.graph.names
        facts = [] if self.steps == 1 else self._known(step)
        rose = {names[node]: step.probability(node) for node in np.flatnonzero(step.events.raised).tolist()}
        fell = [names[node] for node in np.flatnonzero(step.events.cleared).tolist()]
        facts += self.desk.process(step.time_ms, rose, fell)
        closed, touched = [], {}
        for change in step.changes:
            incident = change.incident
            if change.kind is ChangeKind.CLOSED:
                if (key := self._ids.pop(incident.number, None)) is not None:
                    closed.append(key)
                    self._over[self.detector.graph.zones[incident.root]] = key, step.time_ms
            elif incident.is_annunciated:
                touched[incident.number] = incident
        news = [self._news(incident, step) for incident in touched.values()]
        return facts + self.desk.report(step.time_ms, [each for each in news if each], closed)

    def _known(self, step: Step) -> list[Fact]:
        facts = []
        for kind, changed in (("nodes.unknown", step.events.lost), ("nodes.known", step.events.found)):
            if changed.any():
                facts.append(Fact(step.time_ms, kind, self._named(np.flatnonzero(changed))))
        return facts

    def _named(self, nodes: NDArray[np.int64]) -> dict[str, Any]:
        graph = self.detector.graph
        zones = sorted({graph.zones[node] or "" for node in nodes.tolist()})
        few = [graph.names[node] for node in nodes[:MANY].tolist()]
        return {"count": len(nodes), "zones": zones, "nodes": few}

    def _news(self, incident: Incident, step: Step) -> tuple[dict[str, Any], tuple[str, ...]] | None:
        """The body of an incident that is new or has grown; None for one whose old members came back."""
        assert self._origin_ms is not None
        members = tuple(self.detector.graph.names[node] for node in incident.members)
        since_ms = self._origin_ms + incident.since * self.config.intake.step_ms
        if incident.number not in self._ids:
            self._ids[incident.number] = incident_id(self.name, incident, step.time_ms)
            _, values, fresh = self._recent.last()
            follows = self._follows(incident, step.time_ms)
            return new_body(self.name, incident, step, since_ms, follows, self.detector, values, fresh), members
        key, alarms = self._ids[incident.number], alarms_of(incident, self.detector)
        known = self.desk.incidents.get(key)
        if known is None or known["alarms"] == alarms:
            return None
        return {"id": key, "alarms": alarms, "since": iso(since_ms)}, members

    def _follows(self, incident: Incident, now_ms: int) -> dict[str, Any] | None:
        """The incident this one may belong to. It is announced all the same: it may be a fresh attack."""
        zone, known = self.detector.graph.zones[incident.root], self.desk.incidents
        for key in self._ids.values():
            if key in known and known[key]["zone"] == zone:
                return {"id": key, "closed": None}
        key, closed_ms = self._over.get(zone, ("", 0))
        return {"id": key, "closed": iso(closed_ms)} if key and now_ms - closed_ms <= AFTERMATH_MS else None

    def to_state(self) -> dict[str, Any]:
        """All but the desk and the windows: the first is kept apart, the second are rebuilt from rows."""
        silence = self._silence
        return {
            "format": FORMAT,
            "graph": self.detector.graph.content_hash,
            "intake": self.intake.to_state(),
            "pipeline": self._pipeline.to_state(),
            "silence": [silence.heard_ms, silence.is_lost, silence.settling],
            "rows": self._rows,
            "origin_ms": self._origin_ms,
            "ids": [[number, key] for number, key in self._ids.items()],
            "over": [[zone, key, closed_ms] for zone, (key, closed_ms) in self._over.items()],
        }

    @classmethod
    def from_state(
        cls,
        name: str,
        detector: Detector,
        config: SiteConfig,
        state: Mapping[str, Any],
        desk: Mapping[str, Any],
        history: Rows,
    ) -> Self:
        """As it was; `history` are the newest rows of the journal, at least as many as the windows look back on."""
        if state["format"] != FORMAT or state["graph"] != detector.graph.content_hash:
            raise ConfigError(f"{name}: the journal's state belongs to another graph or version")
        site = cls(name, detector, config)
        site.intake = Intake.from_state(state["intake"], detector.points, config.intake)
        site.desk = Desk.from_dict(desk, frozenset(detector.graph.names), latching=config.latching)
        site._pipeline.warm_up(history.values, history.fresh)
        site._pipeline.restore(state["pipeline"])
        site._recent.extend(history)
        site._silence = _Silence(*state["silence"])
        site._rows, site._origin_ms = state["rows"], state["origin_ms"]
        site._ids = {number: key for number, key in state["ids"]}
        site._over = {zone: (key, closed_ms) for zone, key, closed_ms in state["over"]}
        return site
