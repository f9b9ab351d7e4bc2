"""Attacks as events: whether they were announced, how soon, at which node, and how many alarms were false.

Incidents come from `alarms.replay`, the alarm logic that the monitor runs. Steps are those of the recording.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import NONE, BuildingRule, Incident, Proximity
from graphghha.errors import DataError, SchemaError
from graphghha.lab.metrics.intervals import poisson_interval, wilson_interval
from graphghha.lab.runs.recording import AttackEvent

Bools = NDArray[np.bool_]

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class EventOutcome:
    """How one attack was detected. Ranks count from 1; an undetected attack has the worst possible rank."""

    attack: AttackEvent
    incident: Incident | None  # the first one announced in an attacked zone while the attack was active
    steps_to_detect: int  # from the first observable step, at least 0; NONE when undetected or that step is unknown
    rank: int
    strict_rank: int

    @property
    def is_detected(self) -> bool:
        """Whether an incident was announced for the attack while it was active."""
        return self.incident is not None

    @property
    def is_observable(self) -> bool:
        """Whether the attack is visible in the readings at any time."""
        return self.attack.observable_from != NONE


@dataclass(frozen=True, slots=True)
class EventMatches:
    """The incidents of one recording matched with its attacks."""

    outcomes: tuple[EventOutcome, ...]
    false_alarms: tuple[Incident, ...]  # announced while their root was neither attacked nor recovering
    misplaced: tuple[Incident, ...]  # the false alarms in a zone under attack: right zone, wrong root
    late: tuple[Incident, ...]  # announced while their root was recovering; neither detections nor false alarms
    step_s: float
    days: float

    def minutes_to_detect(self) -> list[float]:
        """Return the minutes to detection of the detected attacks whose first observable step is known."""
        return [o.steps_to_detect * self.step_s / 60.0 for o in self.outcomes if o.steps_to_detect != NONE]

    def select(self, chosen: Callable[[AttackEvent], bool]) -> "EventMatches":
        """Return the matches with the outcomes of the chosen attacks only; false alarms stay."""
        return replace(self, outcomes=tuple(outcome for outcome in self.outcomes if chosen(outcome.attack)))


def match_incidents(
    incidents: Sequence[Incident],
    attacks: Sequence[AttackEvent],
    near: Proximity,
    *,
    num_steps: int,
    step_s: float,
    recovering: Bools | None = None,
    building: BuildingRule | None = None,
) -> EventMatches:
    """Match the incidents of one recording with its attacks; `recovering` [t s] marks nodes after an attack.

    False alarms of so many zones at once that the rule for a building joins them count as one, as operators see them.
    """
    shape = (num_steps, near.graph.num_nodes)
    if recovering is not None and recovering.shape != shape:
        raise SchemaError(f"events: recovering has shape {recovering.shape}, but the recording has shape {shape}")
    announced = sorted((i for i in incidents if i.is_annunciated), key=lambda i: (i.annunciated, i.number))
    false_alarms, misplaced, late = [], [], []
    for incident in announced:
        active = [attack for attack in attacks if attack.is_active(incident.annunciated)]
        if any(incident.root in attack.hits for attack in active):
            continue
        if recovering is not None and recovering[incident.annunciated, incident.root]:
            late.append(incident)
            continue
        false_alarms.append(incident)
        if any(_concerns(incident, attack, near) for attack in active):
            misplaced.append(incident)
    if building is not None:
        false_alarms = _of_buildings(false_alarms, near, building)
        misplaced = [incident for incident in misplaced if incident in false_alarms]
    outcomes = tuple(_outcome(attack, announced, near) for attack in attacks)
    days = num_steps * step_s / DAY_S
    return EventMatches(outcomes, tuple(false_alarms), tuple(misplaced), tuple(late), step_s, days)


def _of_buildings(incidents: Sequence[Incident], near: Proximity, rule: BuildingRule) -> list[Incident]:
    """Return announced incidents, in time order, with only the first of those that are one of the building."""
    least = rule.least(len(near.graph.zone_names))
    kept, rest = [], list(incidents)
    while rest:
        first = rest[0]
        together = [each for each in rest if each.since <= first.since + rule.within]
        is_building = len({near.zone(each.root) for each in together}) >= least
        kept.append(first)
        rest = [each for each in rest[1:] if not (is_building and each in together)]
    return kept


def _concerns(incident: Incident, attack: AttackEvent, near: Proximity) -> bool:
    """Return whether the incident lies in an attacked zone or has a target among its members, whatever its root."""
    zones = {near.zone(node) for node in attack.targets}
    return near.zone(incident.root) in zones or not attack.hits.isdisjoint(incident.members)


def _outcome(attack: AttackEvent, announced: Sequence[Incident], near: Proximity) -> EventOutcome:
    first = next((i for i in announced if attack.is_active(i.annunciated) and _concerns(i, attack, near)), None)
    if first is None:
        worst = len(near.candidates(near.zone(attack.targets[0])))
        return EventOutcome(attack, None, NONE, worst, worst)
    is_timed = attack.observable_from != NONE and not attack.has_shown
    waited = max(0, first.annunciated - attack.observable_from) if is_timed else NONE
    return EventOutcome(attack, first, waited, _rank(first, attack.hits), _rank(first, frozenset(attack.targets)))


def _rank(incident: Incident, wanted: frozenset[int]) -> int:
    places = (place for place, node in enumerate(incident.ranking, start=1) if node in wanted)
    return next(places, len(incident.ranking) + 1)


@dataclass(frozen=True, slots=True)
class EventScores:
    """The part of the report card about events. Shares are of observable events; NaN if there are none."""

    events: int
    observable_events: int
    event_recall: float
    event_recall_all: float  # of all events, unobservable ones included
    median_ttd_min: float  # of detected events, from their first observable minute
    p90_ttd_min: float
    false_alarms_per_day: float
    misplaced_per_day: float  # the false alarms that named an attacked zone but the wrong node
    quiet_false_alarms_per_day: float  # the others, in zones that were not under attack then
    misplaced_per_attack: float  # attacks are denser in some tests than in others, and these alarms with them
    late_per_day: float  # alarms in a recovering zone; not counted as false
    hit_at_1: float  # an undetected attack is a miss; any node of the equivalence set is a hit
    hit_at_1_strict: float  # only the target itself is a hit
    hit_at_3: float
    mean_rank: float
    days: float
    event_recall_interval: tuple[float, float]  # of 95 %, as the other two
    hit_at_1_interval: tuple[float, float]
    false_alarms_per_day_interval: tuple[float, float]


def event_scores(matches: Sequence[EventMatches]) -> EventScores:
    """Pool recordings: all events together, and false alarms over all days."""
    days = sum(each.days for each in matches)
    if not days:
        raise DataError("events: the recordings are empty; record at least one step")
    every = [outcome for each in matches for outcome in each.outcomes]
    minutes = [minutes for each in matches for minutes in each.minutes_to_detect()]
    false, misplaced = (sum(len(getattr(each, name)) for each in matches) for name in ("false_alarms", "misplaced"))
    observable = [outcome for outcome in every if outcome.is_observable]
    found, named = sum(o.is_detected for o in observable), sum(o.is_detected and o.rank == 1 for o in observable)
    return EventScores(
        events=len(every),
        observable_events=len(observable),
        event_recall=_share(o.is_detected for o in observable),
        event_recall_all=_share(o.is_detected for o in every),
        median_ttd_min=float(np.median(minutes)) if minutes else float("nan"),
        p90_ttd_min=float(np.quantile(minutes, 0.9)) if minutes else float("nan"),
        false_alarms_per_day=false / days,
        misplaced_per_day=misplaced / days,
        quiet_false_alarms_per_day=(false - misplaced) / days,
        misplaced_per_attack=misplaced / len(every) if every else float("nan"),
        late_per_day=sum(len(each.late) for each in matches) / days,
        hit_at_1=_share(o.is_detected and o.rank == 1 for o in observable),
        hit_at_1_strict=_share(o.is_detected and o.strict_rank == 1 for o in observable),
        hit_at_3=_share(o.is_detected and o.rank <= 3 for o in observable),
        mean_rank=_share(o.rank for o in observable),
        days=days,
        event_recall_interval=wilson_interval(found, len(observable)),
        hit_at_1_interval=wilson_interval(named, len(observable)),
        false_alarms_per_day_interval=poisson_interval(false, days),
    )


def _share(values: Iterable[float]) -> float:
    numbers = [float(value) for value in values]
    return sum(numbers) / len(numbers) if numbers else float("nan")
