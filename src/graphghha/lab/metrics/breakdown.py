"""The card taken apart: by class, by family, by case, by how far off the named node was.

A family's or case's node scores are those of its own attacks: the attacked zone while the attack lasts.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.lab.metrics.card import Examined
from graphghha.lab.metrics.events import EventOutcome, event_scores, event_scores_by
from graphghha.lab.metrics.metrics import binary_scores, class_scores
from graphghha.lab.runs.recording import AttackEvent

FARTHEST = 4  # hops that are told apart


def by_class(confusion: NDArray[np.int64]) -> dict[str, dict[str, float]]:
    """p, r, f1 and support of every attack class, from the confusion matrix."""
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


def by_attack(examined: Sequence[Examined], what: Literal["case", "family"]) -> dict[str, dict[str, Any]]:
    """Node scores and event scores of each case or family."""
    events = event_scores_by([each.judgement for each in examined], what)

    def of(name: str) -> Callable[[AttackEvent], bool]:
        return lambda attack: getattr(attack, what) == name

    return {name: node_scores(examined, of(name)) | asdict(scores) for name, scores in events.items()}


def of_cases(examined: Sequence[Examined], cases: Collection[str]) -> dict[str, Any]:
    """Scores of the attacks of some cases: those that training never saw, say."""
    judgements = [
        replace(e.judgement, outcomes=tuple(o for o in e.judgement.outcomes if o.attack.case in cases))
        for e in examined
    ]
    return node_scores(examined, lambda attack: attack.case in cases) | asdict(event_scores(judgements))


def node_scores(examined: Sequence[Examined], chosen: Callable[[AttackEvent], bool]) -> dict[str, float]:
    """p, r and f1 over the zones of the chosen attacks while they last."""
    truth, alarmed = [np.zeros(0, np.bool_)], [np.zeros(0, np.bool_)]
    for each in examined:
        near, kept, attacked = each.recording.near, each.kept, each.attacked
        for attack in filter(chosen, each.recording.attacks):
            cells = np.ix_(np.arange(attack.start, attack.stop), near.zone_rows(near.zone(attack.targets[0])))
            counts = kept[cells]
            truth.append(attacked[cells][counts])
            alarmed.append(each.verdicts.alarmed[cells][counts])
    return asdict(binary_scores(np.concatenate(truth), np.concatenate(alarmed), zero_division=float("nan")))


def off_by(examined: Sequence[Examined]) -> dict[str, int]:
    """Observable attacks by the hops between the node that was named and the nearest that was right."""
    found = {str(hops): 0 for hops in range(FARTHEST)} | {f"{FARTHEST}+": 0, "missed": 0}
    for each in examined:
        for outcome in each.judgement.outcomes:
            if outcome.is_observable:
                found[_distance(each, outcome)] += 1
    return found


def _distance(examined: Examined, outcome: EventOutcome) -> str:
    if outcome.incident is None:
        return "missed"
    hops = examined.recording.near.hops_from(outcome.incident.root, FARTHEST)
    nearest = min(hops.get(node, FARTHEST) for node in outcome.attack.hits)
    return str(nearest) if nearest < FARTHEST else f"{FARTHEST}+"


def minutes_to_detect(examined: Sequence[Examined]) -> list[float]:
    """Of attacks that were found, sorted."""
    return sorted(minutes for each in examined for minutes in each.judgement.minutes_to_detect())
