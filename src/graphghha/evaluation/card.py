"""The report card: every figure of a detector on some recordings, at its shipped threshold.

t minutes, s nodes, c classes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import AlarmRule, AlarmState, GroupRule, advance, replay
from graphghha.evaluation.equivalence import NodeVerdicts, as_sets
from graphghha.evaluation.events import EventScores, Judgement, event_scores, judge
from graphghha.evaluation.metrics import average_precision, class_scores, confusion, counted, detection
from graphghha.evaluation.recording import STEP_S, Recording
from graphghha.evaluation.reliability import brier_skill, expected_calibration_error
from graphghha.vocabulary import CLASSES

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Card:
    """One row of a table; DESIGN's field names."""

    p: float
    r: float
    f1: float
    f1_raw: float
    f1_ceiling: float
    macro_f1: float
    auc_pr: float
    ece: float
    brier_skill: float
    prevalence: float
    events: EventScores
    confusion: NDArray[np.int64]

    def row(self) -> dict[str, Any]:
        """Flat, for JSON."""
        flat = {name: value for name, value in asdict(self).items() if name not in ("events", "confusion")}
        return flat | asdict(self.events)


def alarm_states(attack: NDArray[np.floating[Any]], rule: AlarmRule) -> Bools:
    """[t s] which nodes are in alarm after each minute, by the rule the monitor runs."""
    state = AlarmState.start(attack.shape[1])
    active = np.zeros(attack.shape, np.bool_)
    for step, probs in enumerate(attack):
        state, _ = advance(state, probs, rule)
        active[step] = state.active
    return active


def judged(recording: Recording, rule: AlarmRule, group_rule: GroupRule) -> Judgement:
    """The incidents of one recording against its attacks."""
    incidents = replay(recording.attack, recording.near, rule, group_rule)
    return judge(
        incidents,
        recording.attacks,
        recording.near,
        num_steps=recording.num_steps,
        step_s=STEP_S,
        recovering=recording.recovering,
    )


def report_card(recordings: Sequence[Recording], rule: AlarmRule, group_rule: GroupRule) -> Card:
    """Pool recordings into one card. Every figure of nodes is set-aware (`equivalence`)."""
    told = [as_sets(NodeVerdicts.of(alarm_states(r.attack, rule), r.probs), r.truth, r.attacks) for r in recordings]
    alarmed, shown, prob, own = (
        np.concatenate([getattr(verdicts, name) for verdicts in told]) for name in ("alarmed", "shown", "attack", "own")
    )
    classes, seen, after = (
        np.concatenate([getattr(recording, name) for recording in recordings])
        for name in ("truth", "observable", "recovering")
    )
    is_attacked = classes > 0
    found = detection(is_attacked, alarmed, seen, after)
    _, kept = counted(is_attacked, seen, after)
    counts = confusion(classes[kept], shown[kept], len(CLASSES))
    kept &= own
    return Card(
        p=found.scores.p,
        r=found.scores.r,
        f1=found.scores.f1,
        f1_raw=found.raw.f1,
        f1_ceiling=found.f1_ceiling,
        macro_f1=class_scores(counts, zero_division=float("nan")).macro([1, 2, 3]).f1,
        auc_pr=average_precision(is_attacked[kept], prob[kept]),
        ece=expected_calibration_error(is_attacked[kept], prob[kept]),
        brier_skill=brier_skill(is_attacked[kept], prob[kept]),
        prevalence=found.prevalence,
        events=event_scores([judged(recording, rule, group_rule) for recording in recordings]),
        confusion=counts,
    )
