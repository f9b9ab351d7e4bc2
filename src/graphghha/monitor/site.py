"""One monitored site: batches in, events and rows out. Deterministic: no clock, no I/O."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha._util.times import iso
from graphghha.alarms import AlarmBoard, ChangeKind, Command, Event, Incident, IsaState, PlannedStops
from graphghha.errors import ConfigError
from graphghha.monitor.building_incident import Changed, join_building
from graphghha.monitor.clock_events import clock_events
from graphghha.monitor.detector import Detector
from graphghha.monitor.incident_json import build_incident, incident_id, member_names
from graphghha.monitor.known_nodes import known_changes
from graphghha.monitor.pipeline import Pipeline, Step
from graphghha.monitor.point_watch import PointWatch
from graphghha.monitor.quantized import UNKNOWN, quantize
from graphghha.monitor.rehearsal import rehearse
from graphghha.monitor.row_clock import DAY_MS, RowClock
from graphghha.monitor.silence import Silence
from graphghha.monitor.site_config import SiteConfig
from graphghha.monitor.zone_incident import ZoneIncidents
from graphghha.monitor.zone_watch import ZoneWatch
from graphghha.sources import Batch
from graphghha.windows import RECENT_ROWS, Counters, Ring, Rows

log = logging.getLogger(__name__)
FORMAT = 2
AFTER_EFFECT_MS = 24 * 3_600_000  # rooms take hours to settle, and the detector's windows cover a day
LEARNING = "judged by the numbers that the model was shipped with"


@dataclass(slots=True)
class SiteUpdate:
    """What a batch led to: events and closed rows, for the journal."""

    events: list[Event] = field(default_factory=list)
    times_ms: list[int] = field(default_factory=list)
    rows: list[NDArray[np.float32]] = field(default_factory=list)  # [r p] blocks; NaN where a reading is not fresh
    scores: list[NDArray[np.uint8]] = field(default_factory=list)  # [r s] blocks of the same rows, see `quantize`


class Site:
    """A site with its detector, its row clock and its alarm board."""

    def __init__(self, name: str, detector: Detector, config: SiteConfig) -> None:
        self.name, self.config = name, config
        self.detector = detector
        self._clock = RowClock(detector.points, config.clock)
        self._board = AlarmBoard(frozenset(detector.graph.names), latching=config.latching)
        self._pipeline = detector.pipeline()
        self._recent = _recent_rows(detector)
        self._zone_incidents = ZoneIncidents(detector, self.config.display) if detector.zone_judgement else None
        self._silence = Silence(config.lost_after_ms, config.settle_rows)
        self._zones = ZoneWatch(_zones(detector))
        self.point_watch = PointWatch(detector.points, detector.absent_points)
        self._rows = 0
        self._origin_ms: int | None = None  # the time of the pipeline's step 0
        self._ids: dict[int, str] = {}  # of open incidents, by the grouping's number
        self._closed: dict[str | None, tuple[str, int]] = {}  # zone -> its incident that closed last, and when

    @property
    def time_ms(self) -> int:
        """Return the plant time of the newest closed row, 0 before the first."""
        closed_ms = self._clock.closed_ms
        return closed_ms if closed_ms is not None else 0

    @property
    def received_ms(self) -> int | None:
        """Return the receiver's time up to which silence has been counted, None before the first reading."""
        return self._clock.received_ms

    @property
    def is_adrift(self) -> bool:
        """Return whether most points state times that this site's grid cannot reach."""
        return self._clock.is_adrift

    @property
    def is_lost(self) -> bool:
        """Return whether the whole site has been silent for too long."""
        return self._silence.is_lost

    @property
    def slowness(self) -> str:
        """Return what is wrong with a source that sends too seldom to be judged; empty for any other."""
        return self._silence.slowness

    @property
    def silence_reason(self) -> str:
        """Return why nothing of what arrives at a lost site can be used; empty if nothing arrives."""
        return self._silence.reason

    @property
    def is_warm(self) -> bool:
        """Return whether scoring has started."""
        return self._rows >= self.config.warm_up_rows

    @property
    def is_learning(self) -> bool:
        """Return whether the model is still to be adapted to the site."""
        return self.config.learn_days > 0 and self.detector.commissioning is None

    @property
    def learning_until_ms(self) -> int | None:
        """Return the plant time at which the site has been watched for long enough; None if it is not learning."""
        first_ms = self.time_ms - self._rows * self.config.clock.step_ms
        return first_ms + self.config.learn_days * DAY_MS if self.is_learning and self._rows else None

    @property
    def is_flood(self) -> bool:
        """Return whether the site is in an alarm flood."""
        return self._board.is_flood

    @property
    def counters(self) -> Counters:
        """Return how many readings were accepted, late, duplicate and so on."""
        return self._clock.counters

    @property
    def rejected(self) -> dict[str, int]:
        """Return how many readings the source rejected, by reason."""
        return dict(self._clock.rejected)

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Return [s] whether a node's state is unknown now."""
        unknown = self._pipeline.alarms.unknown
        return np.ones_like(unknown) if self.is_lost else unknown

    @property
    def blind_zones(self) -> list[str]:
        """Return the zones that were seen and no longer are."""
        return [self._zones.zones[zone] for zone in np.flatnonzero(self._zones.is_blind).tolist()]

    @property
    def wrong_clocks(self) -> list[str]:
        """Return the devices whose readings are not used because their clocks are wrong."""
        clocks = self._clock.clocks
        return [clocks.names[device] for device in np.flatnonzero(clocks.is_wrong).tolist()]

    @property
    def steps(self) -> int:
        """Return how many rows have been scored."""
        return self._pipeline.alarms.step

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """Return the open incidents as the grouping sees them."""
        return self._pipeline.incidents

    @property
    def alarm_states(self) -> dict[str, IsaState]:
        """Return the state of every node whose alarm is not normal."""
        return self._board.states

    @property
    def board_incidents(self) -> dict[str, dict[str, Any]]:
        """Return the incidents on the alarm board by id: open ones, and closed ones that are not acknowledged."""
        return dict(self._board.incidents)

    @property
    def stops(self) -> PlannedStops:
        """Return the planned stops."""
        return self._board.stops

    def board_state(self) -> dict[str, Any]:
        """Return the alarm board for a checkpoint."""
        return self._board.to_dict()

    def stream(self, batch: Batch) -> Iterator[SiteUpdate]:
        """Score the rows that the batch allows to close, some at a time."""
        yield from self._follow(self._clock.take(batch))
        self.point_watch.take(batch)
        now_ms = self.time_ms or batch.received_ms
        seen = self.point_watch.report(now_ms, self._rows, batch.received_ms)
        yield SiteUpdate(clock_events(self._clock) + self._silence.report(self._clock) + seen)

    def stream_rest(self) -> Iterator[SiteUpdate]:
        """Score the rows that are still open, because the source has ended, some at a time."""
        yield from self._follow(self._clock.finish())
        received_ms = self.received_ms or 0
        yield SiteUpdate(self.point_watch.report(self.time_ms or received_ms, self._rows, received_ms, is_end=True))

    def take(self, batch: Batch) -> SiteUpdate:
        """Score the rows that the batch allows to close."""
        return _joined(self.stream(batch))

    def finish(self) -> SiteUpdate:
        """Score the rows that are still open, because the source has ended."""
        return _joined(self.stream_rest())

    def command(self, command: Command, past: dict[str, Any] | None = None) -> list[Event]:
        """Carry out an operator's command; `past` is the last body of an incident that has left the board."""
        return self._board.apply(command, self.time_ms, past)

    def inherit(self, board: Mapping[str, Any], now_ms: int) -> list[Event]:
        """Take over the alarm board of a site whose state can no longer be used, and close what is open on it."""
        self._load_board(board)
        return self._board.close_all(now_ms)

    def rehearse(self) -> bool:
        """Load now what describing an incident needs; return whether all of its evidence could be gathered."""
        return rehearse(self.detector, self._pipeline, self.config.display)

    def swap_model(self, detector: Detector, history: Rows, pipeline: Pipeline | None = None) -> None:
        """Use another model from the next row on; `history` are the site's newest rows, which fill its windows.

        A `pipeline` of the detector already holds the rows before them.
        """
        if detector.graph != self.detector.graph:
            raise ConfigError(f"{self.name}: the new model is made for another graph; the old one stays in use")
        pipeline = pipeline or detector.pipeline()
        pipeline.warm_up(history.values, history.fresh)
        pipeline.restore(self._pipeline.to_state())
        self.detector, self._pipeline = detector, pipeline
        self.point_watch.set_absent(detector.absent_points)
        self._zone_incidents = ZoneIncidents(detector, self.config.display) if detector.zone_judgement else None
        if (recent := _recent_rows(detector)).capacity != self._recent.capacity:
            recent.extend(history)
            self._recent = recent

    def _load_board(self, state: Mapping[str, Any]) -> None:
        names = frozenset(self.detector.graph.names)
        self._board = AlarmBoard.from_dict(state, names, latching=self.config.latching)

    def _follow(self, closed: Iterable[Rows]) -> Iterator[SiteUpdate]:
        for rows in closed:
            update = SiteUpdate()
            with np.errstate(over="ignore"):
                values = rows.values.astype(np.float32)  # score exactly what the journal keeps
            fresh = rows.fresh & np.isfinite(values)
            values[~fresh] = np.nan
            self._score_rows(Rows(rows.times_ms, values, fresh, rows.heard), update)
            update.times_ms += rows.times_ms.tolist()
            update.rows.append(values)
            yield update

    def _score_rows(self, rows: Rows, update: SiteUpdate) -> None:
        cold = min(len(rows), max(0, self.config.warm_up_rows - self._rows))
        self._rows += len(rows)
        self._pipeline.warm_up(rows.values[:cold], rows.fresh[:cold])
        silences = [self._silence.listen(*row) for row in zip(rows.times_ms.tolist(), rows.heard, strict=True)]
        judged = np.array([is_fit for is_fit, _ in silences[cold:]], np.bool_)
        scores = np.full((len(rows), self.detector.graph.num_nodes), UNKNOWN, np.uint8)
        update.scores.append(scores)
        steps = self._pipeline.push(rows.times_ms[cold:], rows.values[cold:], rows.fresh[cold:], judged)
        changes = self._zones.take(rows.times_ms, rows.fresh)
        for at, (time_ms, (_, events)) in enumerate(zip(rows.times_ms.tolist(), silences, strict=True)):
            self._recent.append(time_ms, rows.values[at], rows.fresh[at])
            update.events += events + [change.event(time_ms) for change in changes if change.row == at]
            if at >= cold:
                if self._origin_ms is None:
                    self._origin_ms = time_ms
                    update.events.append(Event(time_ms, "site.watching", {"model": self.detector.model}))
                    if self.is_learning:
                        body = {"days": self.config.learn_days, "meanwhile": LEARNING}
                        update.events.append(Event(time_ms, "site.learning", body))
                step = next(steps)
                scores[at] = quantize(1.0 - step.scores[:, 0].astype(np.float64))
                update.events += self._take_step(step)

    def _take_step(self, step: Step) -> list[Event]:
        names = self.detector.graph.names
        events = known_changes(self.detector.graph, step, is_first=self.steps == 1)
        raised = {names[node]: step.probability(node) for node in np.flatnonzero(step.transitions.raised).tolist()}
        cleared = [names[node] for node in np.flatnonzero(step.transitions.cleared).tolist()]
        events += self._board.update_alarms(step.time_ms, raised, cleared)
        closed, touched = [], {}
        for change in step.changes:
            incident = change.incident
            if change.kind is ChangeKind.CLOSED:
                if (key := self._ids.pop(incident.number, None)) is not None:
                    closed.append(key)
                    self._closed[self.detector.graph.zones[incident.root]] = key, step.time_ms
            elif incident.is_annunciated:
                touched[incident.number] = incident
        bodies = [self._changed_body(incident, step) for incident in touched.values()]
        changed = [each for each in bodies if each]
        changed += self._building_changes(changed, closed, step.time_ms)
        return events + self._board.update_incidents(step.time_ms, changed, closed)

    def _building_changes(self, changed: list[Changed], closed: list[str], now_ms: int) -> list[Changed]:
        """Return the incident of the building, if there is one; if that fails, its zones are announced one by one."""
        rule, zones, step_ms = (
            self.detector.group_rule.building,
            self.detector.graph.zone_names,
            self.config.clock.step_ms,
        )
        if rule is None or not changed:
            return []
        try:
            board, display = self._board.incidents, self.config.display
            return join_building(self.name, zones, rule, step_ms, board, changed, closed, now_ms, display)
        except Exception:
            log.exception("%s: the incidents of its zones could not be joined", self.name)
            return []

    def _changed_body(self, incident: Incident, step: Step) -> tuple[dict[str, Any], tuple[str, ...]] | None:
        """Return body and members of an incident that is new or has grown; None if only old members alarmed again."""
        assert self._origin_ms is not None
        members = tuple(self.detector.graph.names[node] for node in incident.members)
        since_ms = self._origin_ms + incident.since * self.config.clock.step_ms
        if incident.number not in self._ids:
            self._ids[incident.number] = incident_id(self.name, incident, step.time_ms)
            _, values, fresh = self._recent.last(RECENT_ROWS)
            follows = self._related(incident, step.time_ms)
            body = build_incident(
                self.name, incident, step, since_ms, follows, self.detector, values, fresh, self.config.display
            )
            if self._zone_incidents is not None:
                times_ms, values, fresh = self._recent.last()
                rows = Rows(times_ms, values, fresh, np.asarray(fresh.any(axis=1)))
                body = self._zone_incidents.complete(body, incident, self.incidents, step, rows)
            return body, members
        key, alarms = self._ids[incident.number], member_names(incident, self.detector)
        known = self._board.incidents.get(key)
        if known is None or known["alarms"] == alarms:
            return None
        return {"id": key, "alarms": alarms, "since": iso(since_ms)}, members

    def _related(self, incident: Incident, now_ms: int) -> dict[str, Any] | None:
        """Return the earlier incident this one may belong to. Both are annunciated, as it may be a new attack."""
        zone, known = self.detector.graph.zones[incident.root], self._board.incidents
        for key in self._ids.values():
            if key in known and known[key]["zone"] == zone:
                return {"id": key, "closed": None}
        key, closed_ms = self._closed.get(zone, ("", 0))
        return {"id": key, "closed": iso(closed_ms)} if key and now_ms - closed_ms <= AFTER_EFFECT_MS else None

    def to_state(self) -> dict[str, Any]:
        """Return the state for a checkpoint, without the board (kept apart) and the windows (rebuilt from rows)."""
        return {
            "format": FORMAT,
            "graph": self.detector.graph.content_hash,
            "intake": self._clock.to_state(),
            "pipeline": self._pipeline.to_state(),
            "silence": self._silence.to_state(),
            "zones": self._zones.to_state(),
            "points": self.point_watch.to_state(),
            "rows": self._rows,
            "origin_ms": self._origin_ms,
            "ids": [[number, key] for number, key in self._ids.items()],
            "over": [[zone, key, closed_ms] for zone, (key, closed_ms) in self._closed.items()],
        }

    @classmethod
    def from_state(
        cls,
        name: str,
        detector: Detector,
        config: SiteConfig,
        state: Mapping[str, Any],
        board: Mapping[str, Any],
        history: Rows,
    ) -> Self:
        """Return the site as it was; `history` are the journal's newest rows, at least as many as the windows need."""
        if state["format"] != FORMAT or state["graph"] != detector.graph.content_hash:
            raise ConfigError(f"{name}: the state in the journal belongs to another graph or version")
        site = cls(name, detector, config)
        site._clock = RowClock.from_state(state["intake"], detector.points, config.clock)
        site._load_board(board)
        site._pipeline.warm_up(history.values, history.fresh)
        site._pipeline.restore(state["pipeline"])
        site._recent.extend(history)
        site._silence = Silence.from_state(state["silence"], config.lost_after_ms, config.settle_rows)
        site._zones = ZoneWatch.from_state(state, _zones(detector))
        site.point_watch.load(state.get("points"))
        site._rows, site._origin_ms = state["rows"], state["origin_ms"]
        site._ids = {number: key for number, key in state["ids"]}
        site._closed = {zone: (key, closed_ms) for zone, key, closed_ms in state["over"]}
        return site


def _zones(detector: Detector) -> list[str]:
    """Return the zone of each point."""
    return [point.rpartition("/")[0] for point in detector.points]


def _joined(updates: Iterable[SiteUpdate]) -> SiteUpdate:
    whole = SiteUpdate()
    for update in updates:
        whole.events += update.events
        whole.times_ms += update.times_ms
        whole.rows += update.rows
        whole.scores += update.scores
    return whole


def _recent_rows(detector: Detector) -> Ring:
    """Return an empty ring for the rows that incidents are explained with; judging zones takes a day of them."""
    capacity = max(RECENT_ROWS, detector.history_rows) if detector.zone_judgement else RECENT_ROWS
    return Ring(capacity, len(detector.points), np.float32)
