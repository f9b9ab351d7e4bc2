"""The report card broken down by class, family and case, and by the distance of the named node from the right one.

Node scores of a family or case are those of the attacked zones while its attacks last.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import NONE
from graphghha.classes import CLASSES
from graphghha.lab.metrics.card import EvaluatedRecording
from graphghha.lab.metrics.classification import binary_scores, class_scores
from graphghha.lab.metrics.events import EventOutcome, event_scores
from graphghha.lab.runs.recording import AttackEvent

FARTHEST = 4  # hops; longer distances are counted together


def by_class(confusion: NDArray[np.int64]) -> dict[str, dict[str, float]]:
    """Return precision, recall, F1 and support of every attack class of a confusion matrix."""
    scores = class_scores(confusion, zero_division=float("nan"))
    return {
        name: {
            "p": float(scores.p[number]),
            "r": float(scores.r[number]),
            "f1": float(scores.f1[number]),
            "support": int(scores.support[number]),
        }
        for number, name in enumerate(CLASSES)
        if number
    }


def by_attack(evaluated: Sequence[EvaluatedRecording], what: Literal["case", "family"]) -> dict[str, dict[str, Any]]:
    """Return the node scores and event scores of each case or family.

    False alarms belong to no attack: their rate is that of all recordings.
    """
    names = sorted({getattr(attack, what) for each in evaluated for attack in each.recording.attacks})

    def is_named(name: str) -> Callable[[AttackEvent], bool]:
        return lambda attack: getattr(attack, what) == name

    return {name: _scores(evaluated, is_named(name)) for name in names}


def for_cases(evaluated: Sequence[EvaluatedRecording], cases: Collection[str]) -> dict[str, Any]:
    """Return the scores of the attacks of some cases, for example of those that training never saw."""
    return _scores(evaluated, lambda attack: attack.case in cases)


def _scores(evaluated: Sequence[EvaluatedRecording], chosen: Callable[[AttackEvent], bool]) -> dict[str, Any]:
    events = event_scores([each.matches.select(chosen) for each in evaluated])
    return node_scores(evaluated, chosen) | asdict(events)


def node_scores(evaluated: Sequence[EvaluatedRecording], chosen: Callable[[AttackEvent], bool]) -> dict[str, float]:
    """Return precision, recall and F1 in the zones of the chosen attacks while they last."""
    truth, alarmed = [np.zeros(0, np.bool_)], [np.zeros(0, np.bool_)]
    for each in evaluated:
        near, kept, attacked = each.recording.near, each.kept, each.attacked
        for attack in filter(chosen, each.recording.attacks):
            cells = np.ix_(np.arange(attack.start, attack.stop), near.zone_rows(near.zone(attack.targets[0])))
            counts = kept[cells]
            truth.append(attacked[cells][counts])
            alarmed.append(each.predictions.alarmed[cells][counts])
    return asdict(binary_scores(np.concatenate(truth), np.concatenate(alarmed), zero_division=float("nan")))


def count_by_hops(evaluated: Sequence[EvaluatedRecording]) -> dict[str, int]:
    """Count the observable attacks by the hops between the named node and the nearest right one."""
    counts = {str(hops): 0 for hops in range(FARTHEST)} | {f"{FARTHEST}+": 0, "missed": 0}
    for each in evaluated:
        for outcome in each.matches.outcomes:
            if outcome.is_observable:
                counts[_distance(each, outcome)] += 1
    return counts


def _distance(evaluated: EvaluatedRecording, outcome: EventOutcome) -> str:
    if outcome.incident is None:
        return "missed"
    hops = evaluated.recording.near.hops_from(outcome.incident.root, FARTHEST)
    nearest = min(hops.get(node, FARTHEST) for node in outcome.attack.hits)
    return str(nearest) if nearest < FARTHEST else f"{FARTHEST}+"


def attack_rows(evaluated: Sequence[EvaluatedRecording]) -> list[dict[str, Any]]:
    """Return one row per attack: where, when and what it was, and how it was detected. Times are UTC."""
    rows = []
    for number, each in enumerate(evaluated):
        near, matches = each.recording.near, each.matches
        for outcome in matches.outcomes:
            attack, incident = outcome.attack, outcome.incident
            minutes = outcome.steps_to_detect * matches.step_s / 60.0
            rows.append(
                {
                    "recording": number,
                    "building": each.recording.run.building,
                    "zone": near.zone(attack.targets[0]),
                    "case": attack.case,
                    "family": attack.family,
                    "nodes": [near.graph.names[node] for node in attack.targets],
                    "start": each.recording.time_of(attack.start),
                    "end": each.recording.time_of(attack.stop),
                    "visible": outcome.is_observable,
                    "found": outcome.is_detected,
                    "named": near.graph.names[incident.root] if incident else None,
                    "rank": outcome.rank if incident else None,
                    "minutes_to_detect": minutes if outcome.steps_to_detect != NONE else None,
                }
            )
    return rows


def alarm_rows(evaluated: Sequence[EvaluatedRecording]) -> list[dict[str, Any]]:
    """Return one row per announced alarm that named no attacked node: when, where, and of what kind.

    `quiet` and `misplaced` ones are false alarms, in a zone that was not under attack at that time and in one that was;
    `recovering` ones come while a zone recovers from an attack, and are not counted as false.
    """
    rows = []
    for number, each in enumerate(evaluated):
        recording, matches = each.recording, each.matches
        quiet = [incident for incident in matches.false_alarms if incident not in matches.misplaced]
        kinds = (("quiet", quiet), ("misplaced", matches.misplaced), ("recovering", matches.late))
        for kind, incident in sorted(((k, i) for k, some in kinds for i in some), key=lambda pair: pair[1].annunciated):
            rows.append(
                {
                    "recording": number,
                    "building": recording.run.building,
                    "time": recording.time_of(incident.annunciated),
                    "zone": recording.near.zone(incident.root),
                    "named": recording.near.graph.names[incident.root],
                    "kind": kind,
                }
            )
    return rows


def building_rows(evaluated: Sequence[EvaluatedRecording]) -> list[dict[str, Any]]:
    """Return one row per recording: how many attacks were visible, found and named, and how many alarms were false."""
    rows = []
    for number, each in enumerate(evaluated):
        matches = each.matches
        visible = [outcome for outcome in matches.outcomes if outcome.is_observable]
        rows.append(
            {
                "recording": number,
                "building": each.recording.run.building,
                "days": matches.days,
                "attacks": len(matches.outcomes),
                "visible": len(visible),
                "found": sum(outcome.is_detected for outcome in visible),
                "named": sum(outcome.is_detected and outcome.rank == 1 for outcome in visible),
                "false_alarms": len(matches.false_alarms),
                "misplaced": len(matches.misplaced),
                "late": len(matches.late),
            }
        )
    return rows


def minutes_to_detect(evaluated: Sequence[EvaluatedRecording]) -> list[float]:
    """Return the minutes to detection of all detected attacks, sorted."""
    return sorted(minutes for each in evaluated for minutes in each.matches.minutes_to_detect())
