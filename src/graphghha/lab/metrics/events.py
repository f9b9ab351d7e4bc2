"""Attacks as events: were they announced, how soon, at the right node, and at what price in false alarms.

Incidents come from `alarms.replay`, the logic the monitor runs. Steps are steps of that recording.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import NONE, Incident, Proximity
from graphghha.errors import DataError, SchemaError
from graphghha.lab.runs.recording import AttackEvent

Bools = NDArray[np.bool_]

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class EventOutcome:
    """What became of one attack. Ranks count from 1; an undetected attack has the worst rank there is."""

    attack: AttackEvent
    incident: Incident | None  # the first one announced in an attacked zone while the attack was active
    steps_to_detect: int  # from the first observable step, at least 0; NONE when undetected or that step is unknown
    rank: int
    strict_rank: int

    @property
    def is_detected(self) -> bool:
        return self.incident is not None

    @property
    def is_observable(self) -> bool:
        return self.attack.observable_from != NONE


@dataclass(frozen=True, slots=True)
class Judgement:
    """One recording, judged."""

    outcomes: tuple[EventOutcome, ...]
    false_alarms: tuple[Incident, ...]  # announced, root neither attacked nor recovering
    misplaced: tuple[Incident, ...]  # those of them in a zone that was under attack: right zone, wrong root
    late: tuple[Incident, ...]  # announced, root recovering and under no attack: neither found nor false
    step_s: float
    days: float

    def minutes_to_detect(self) -> list[float]:
        """Of the attacks that were found and whose first observable step is known."""
        return [o.steps_to_detect * self.step_s / 60.0 for o in self.outcomes if o.steps_to_detect != NONE]


def judge(
    incidents: Sequence[Incident],
    attacks: Sequence[AttackEvent],
    near: Proximity,
    *,
    num_steps: int,
    step_s: float,
    recovering: Bools | None = None,
) -> Judgement:
    """Judge the incidents of one recording; `recovering` [t s] marks node-steps in recovery after an attack."""
    shape = (num_steps, near.graph.num_nodes)
    if recovering is not None and recovering.shape != shape:
        raise SchemaError(f"events: recovering has shape {recovering.shape}, the recording {shape}")
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
    outcomes = tuple(_outcome(attack, announced, near) for attack in attacks)
    days = num_steps * step_s / DAY_S
    return Judgement(outcomes, tuple(false_alarms), tuple(misplaced), tuple(late), step_s, days)


def _concerns(incident: Incident, attack: AttackEvent, near: Proximity) -> bool:
    """Same zone, or a target among its members. Whether the node is right is the rank's business."""
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
    """The events' part of the report card. Shares are of observable events; NaN where there are none."""

    events: int
    observable_events: int
    event_recall: float
    event_recall_all: float  # unobservable events counted as well
    median_ttd_min: float  # of detected events, from their first observable minute
    p90_ttd_min: float
    false_alarms_per_day: float
    misplaced_per_day: float  # the part of them that named an attacked zone but the wrong node
    late_per_day: float  # not among them: alarms in a zone that was recovering
    hit_at_1: float  # undetected = miss; any node of the equivalence set is a hit
    hit_at_1_strict: float  # the target itself
    hit_at_3: float
    mean_rank: float
    days: float


def event_scores(judgements: Sequence[Judgement]) -> EventScores:
    """Pool recordings: events are counted together, false alarms over all days."""
    days = sum(judgement.days for judgement in judgements)
    if not days:
        raise DataError("events: no recorded time to judge")
    every = [outcome for judgement in judgements for outcome in judgement.outcomes]
    minutes = [minutes for judgement in judgements for minutes in judgement.minutes_to_detect()]
    seen = [outcome for outcome in every if outcome.is_observable]
    return EventScores(
        events=len(every),
        observable_events=len(seen),
        event_recall=_share(o.is_detected for o in seen),
        event_recall_all=_share(o.is_detected for o in every),
        median_ttd_min=float(np.median(minutes)) if minutes else float("nan"),
        p90_ttd_min=float(np.quantile(minutes, 0.9)) if minutes else float("nan"),
        false_alarms_per_day=sum(len(j.false_alarms) for j in judgements) / days,
        misplaced_per_day=sum(len(j.misplaced) for j in judgements) / days,
        late_per_day=sum(len(j.late) for j in judgements) / days,
        hit_at_1=_share(o.is_detected and o.rank == 1 for o in seen),
        hit_at_1_strict=_share(o.is_detected and o.strict_rank == 1 for o in seen),
        hit_at_3=_share(o.is_detected and o.rank <= 3 for o in seen),
        mean_rank=_share(o.rank for o in seen),
        days=days,
    )


def event_scores_by(judgements: Sequence[Judgement], what: Literal["case", "family"]) -> dict[str, EventScores]:
    """Scores of the events of each case or family; false alarms belong to none and are those of the whole."""
    names = sorted({getattr(o.attack, what) for j in judgements for o in j.outcomes})
    return {
        name: event_scores(
            [replace(j, outcomes=tuple(o for o in j.outcomes if getattr(o.attack, what) == name)) for j in judgements]
        )
        for name in names
    }


def _share(values: Iterable[float]) -> float:
    numbers = [float(value) for value in values]
    return sum(numbers) / len(numbers) if numbers else float("nan")
