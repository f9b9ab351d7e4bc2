"""The report card: every figure of a detector on some recordings under one alarm rule.

Shapes: t minutes, s nodes, c classes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import AlarmRule, AlarmState, GroupRule, advance, replay
from graphghha.classes import CLASSES
from graphghha.lab.metrics.calibration_metrics import brier_skill, expected_calibration_error
from graphghha.lab.metrics.classification import average_precision, class_scores, confusion, counted, detection
from graphghha.lab.metrics.equivalence import NodePredictions, kind_classes, merge_equivalent
from graphghha.lab.metrics.events import EventMatches, EventScores, event_scores, match_incidents
from graphghha.lab.metrics.zone_samples import zone_samples
from graphghha.lab.runs.recording import Recording

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Card:
    """The figures of one detector. The field names are those of the JSON rows."""

    p: float
    r: float
    f1: float
    f1_raw: float
    f1_ceiling: float
    f1_std: float  # standard deviation over recordings
    seeds: int  # number of recordings
    macro_f1: float
    auc_pr: float
    ece: float
    zone_ece: float  # of the highest probability of each zone: whether it is attacked, whichever node is named
    brier_skill: float
    prevalence: float
    unobservable: int  # attacked node-minutes that show nothing; counted in `f1_raw` only
    recovering: int  # node-minutes of zones after an attack; counted in no other figure
    recovering_alarmed: float  # share of the recovering ones that are in alarm
    events: EventScores
    confusion: NDArray[np.int64]

    def row(self) -> dict[str, Any]:
        """Return the figures as one flat dictionary for JSON, without the confusion matrix."""
        flat = {name: value for name, value in asdict(self).items() if name not in ("events", "confusion")}
        return flat | asdict(self.events)


def alarm_states(attack: NDArray[np.floating[Any]], rule: AlarmRule) -> Bools:
    """Return which nodes are in alarm after each minute [t s], by the alarm logic that the monitor runs."""
    state = AlarmState.start(attack.shape[1])
    active = np.zeros(attack.shape, np.bool_)
    for step, probs in enumerate(attack):
        state, _ = advance(state, probs, rule)
        active[step] = state.active
    return active


@dataclass(frozen=True, slots=True)
class EvaluatedRecording:
    """A recording under one alarm rule: predictions per node, and incidents matched with attacks."""

    recording: Recording
    predictions: NodePredictions  # those of equivalent nodes merged
    matches: EventMatches

    @property
    def attacked(self) -> Bools:
        """The node-minutes under attack [t s]."""
        attacked: Bools = self.recording.truth > 0
        return attacked

    @property
    def kept(self) -> Bools:
        """The node-minutes that count [t s]: neither unobservable nor recovering."""
        recording = self.recording
        return counted(self.attacked, recording.observable, recording.recovering)[1]

    @property
    def single(self) -> Bools:
        """The node-minutes that count and keep their own probability [t s]: not moved to an equivalent node."""
        return self.kept & self.predictions.own


def match_events(recording: Recording, rule: AlarmRule, group_rule: GroupRule) -> EventMatches:
    """Replay the alarm logic over a recording and match its incidents with its attacks."""
    incidents = replay(recording.attack, recording.near, rule, group_rule)
    return match_incidents(
        incidents,
        recording.attacks,
        recording.near,
        num_steps=recording.num_steps,
        step_s=recording.step_s,
        recovering=recording.recovering,
        building=group_rule.building,
    )


def evaluate_recording(recording: Recording, rule: AlarmRule, group_rule: GroupRule) -> EvaluatedRecording:
    """Run the alarm logic over a recording once; every figure is computed from the result."""
    predictions = NodePredictions.from_alarms(alarm_states(recording.attack, rule), recording.probs)
    kinds = kind_classes(recording.near.graph)
    merged = merge_equivalent(predictions, recording.truth, recording.attacks, kinds)
    return EvaluatedRecording(recording, merged, match_events(recording, rule, group_rule))


def report_card(recordings: Sequence[Recording], rule: AlarmRule, group_rule: GroupRule) -> Card:
    """Return one card over all recordings."""
    return make_card([evaluate_recording(recording, rule, group_rule) for recording in recordings])


def make_card(evaluated: Sequence[EvaluatedRecording]) -> Card:
    """Pool the node-minutes and events of all recordings; `f1_std` is the spread over recordings.

    A ratio without a denominator is NaN: a quiet week without an alarm has no F1 and is left out of the spread.
    """
    pooled = detection(*(np.concatenate(columns) for columns in zip(*map(_columns, evaluated), strict=True)))
    single = [f1 for each in evaluated if np.isfinite(f1 := detection(*_columns(each)).scores.f1)]
    attacked, prob = probabilities(evaluated)
    counts = sum(
        confusion(each.recording.truth[each.kept], each.predictions.attack_class[each.kept], len(CLASSES))
        for each in evaluated
    )
    assert isinstance(counts, np.ndarray), "at least one recording"
    return Card(
        p=pooled.scores.p,
        r=pooled.scores.r,
        f1=pooled.scores.f1,
        f1_raw=pooled.raw.f1,
        f1_ceiling=pooled.f1_ceiling,
        f1_std=float(np.std(single, ddof=1)) if len(single) > 1 else float("nan"),
        seeds=len(evaluated),
        macro_f1=class_scores(counts, zero_division=float("nan")).macro([1, 2, 3]).f1,
        auc_pr=average_precision(attacked, prob),
        ece=expected_calibration_error(attacked, prob),
        zone_ece=expected_calibration_error(*_zones(evaluated)),
        brier_skill=brier_skill(attacked, prob),
        prevalence=pooled.prevalence,
        unobservable=pooled.unobservable,
        recovering=pooled.recovering,
        recovering_alarmed=pooled.recovering_alarmed,
        events=event_scores([each.matches for each in evaluated]),
        confusion=counts,
    )


def probabilities(evaluated: Sequence[EvaluatedRecording]) -> tuple[Bools, NDArray[Any]]:
    """Return truth and P(attack) of all node-minutes that count."""
    attacked = np.concatenate([each.attacked[each.single] for each in evaluated])
    return attacked, np.concatenate([each.predictions.attack[each.single] for each in evaluated])


def _zones(evaluated: Sequence[EvaluatedRecording]) -> tuple[Bools, NDArray[np.float64]]:
    """Return truth and P(attack) of all zones at all minutes that count."""
    attacked, prob = zip(*(zone_samples(each.recording) for each in evaluated), strict=True)
    return np.concatenate(attacked), np.concatenate(prob)


def _columns(evaluated: EvaluatedRecording) -> tuple[Bools, Bools, Bools, Bools]:
    recording = evaluated.recording
    return evaluated.attacked, evaluated.predictions.alarmed, recording.observable, recording.recovering
