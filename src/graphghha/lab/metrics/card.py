"""The report card: every figure of a detector on some recordings, at its shipped threshold.

t minutes, s nodes, c classes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import AlarmRule, AlarmState, GroupRule, advance, replay
from graphghha.classes import CLASSES
from graphghha.lab.metrics.calibration_metrics import brier_skill, expected_calibration_error
from graphghha.lab.metrics.equivalence import NodeVerdicts, as_sets, kind_classes
from graphghha.lab.metrics.events import EventScores, Judgement, event_scores, judge
from graphghha.lab.metrics.metrics import average_precision, class_scores, confusion, counted, detection
from graphghha.lab.runs.recording import STEP_S, Recording

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Card:
    """One row of a table; DESIGN's field names."""

    p: float
    r: float
    f1: float
    f1_raw: float
    f1_ceiling: float
    f1_std: float  # over recordings
    seeds: int  # recordings
    macro_f1: float
    auc_pr: float
    ece: float
    brier_skill: float
    prevalence: float
    unobservable: int  # attacked node-minutes that show nothing: in `f1_raw` only
    recovering: int  # node-minutes of zones after an attack, in no figure
    recovering_alarmed: float  # share of them in alarm
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


@dataclass(frozen=True, slots=True)
class Examined:
    """A recording under one alarm rule: what was in alarm, and what became of its attacks."""

    recording: Recording
    verdicts: NodeVerdicts  # set-aware
    judgement: Judgement

    @property
    def attacked(self) -> Bools:
        attacked: Bools = self.recording.truth > 0
        return attacked

    @property
    def kept(self) -> Bools:
        """[t s] node-minutes that count, the unobservable left out."""
        recording = self.recording
        return counted(self.attacked, recording.observable, recording.recovering)[1]

    @property
    def single(self) -> Bools:
        """[t s] those of them whose probability stands for themselves."""
        return self.kept & self.verdicts.own


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


def examine(recording: Recording, rule: AlarmRule, group_rule: GroupRule) -> Examined:
    """Run the alarm logic over a recording once; every figure follows from it."""
    said = NodeVerdicts.of(alarm_states(recording.attack, rule), recording.probs)
    verdicts = as_sets(said, recording.truth, recording.attacks, kind_classes(recording.near.graph))
    return Examined(recording, verdicts, judged(recording, rule, group_rule))


def report_card(recordings: Sequence[Recording], rule: AlarmRule, group_rule: GroupRule) -> Card:
    """Pool recordings into one card."""
    return card_of([examine(recording, rule, group_rule) for recording in recordings])


def card_of(examined: Sequence[Examined]) -> Card:
    """Node-minutes and events of all recordings together; the spread is over recordings, each of a seed of its own.

    What has no denominator is NaN: a quiet week in which nothing was claimed has no F1, and no place in the spread.
    """
    found = detection(*(np.concatenate(columns) for columns in zip(*map(_columns, examined), strict=True)))
    single = [f1 for each in examined if np.isfinite(f1 := detection(*_columns(each)).scores.f1)]
    attacked, prob = probabilities(examined)
    counts = sum(confusion(e.recording.truth[e.kept], e.verdicts.shown[e.kept], len(CLASSES)) for e in examined)
    assert isinstance(counts, np.ndarray), "at least one recording"
    return Card(
        p=found.scores.p,
        r=found.scores.r,
        f1=found.scores.f1,
        f1_raw=found.raw.f1,
        f1_ceiling=found.f1_ceiling,
        f1_std=float(np.std(single, ddof=1)) if len(single) > 1 else float("nan"),
        seeds=len(examined),
        macro_f1=class_scores(counts, zero_division=float("nan")).macro([1, 2, 3]).f1,
        auc_pr=average_precision(attacked, prob),
        ece=expected_calibration_error(attacked, prob),
        brier_skill=brier_skill(attacked, prob),
        prevalence=found.prevalence,
        unobservable=found.unobservable,
        recovering=found.recovering,
        recovering_alarmed=found.recovering_alarmed,
        events=event_scores([each.judgement for each in examined]),
        confusion=counts,
    )


def probabilities(examined: Sequence[Examined]) -> tuple[Bools, NDArray[Any]]:
    """Truth and P(attack) of all node-minutes that count."""
    attacked = np.concatenate([each.attacked[each.single] for each in examined])
    return attacked, np.concatenate([each.verdicts.attack[each.single] for each in examined])


def _columns(examined: Examined) -> tuple[Bools, Bools, Bools, Bools]:
    recording = examined.recording
    return examined.attacked, examined.verdicts.alarmed, recording.observable, recording.recovering
