"""The scorer of a plant of the user's own: statistics, judge and network of one model.

The plant is judged as one whole. The leading node carries the probability of the plant, the others shares of it, so
that an alarm has one root. Nodes without a reading, and nodes without a signal, are unknown.

r rows, e judged rows, p points, s nodes, c classes.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.engine.engine import Engine, EngineConfig
from graphghha.engine.frozen import FrozenModel
from graphghha.engine.own_judge import OwnJudge, Verdict
from graphghha.engine.own_second import SecondOpinion
from graphghha.engine.scorer import KNOWN_ANSWER_TOLERANCE, Scored
from graphghha.engine.zone_scorer import node_classes
from graphghha.errors import CheckpointError
from graphghha.graph import CpsGraph
from graphghha.models.own import OwnModel
from graphghha.windows.own_features import STATISTICS, Judged, OwnFeaturizer, node_features

MOST_SHARE = 0.85  # of the plant's probability that a node has which is not the leading one
SHARPNESS = 2.0
PORTION = 2048
BATCH = 64  # rows that the network takes at once

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class OwnScorer:
    """Turns rows of readings into probabilities of every node. Rows may come in portions of any size."""

    def __init__(self, model: OwnModel, engine: EngineConfig = EngineConfig()) -> None:
        self.graph = model.plant.template
        self.model, self.rule = model, model.rule
        self._featurizer = OwnFeaturizer(model.preprocessing)
        plan = model.preprocessing.plan
        self._judge = OwnJudge(model.preprocessing.scale.is_constant, plan.smooth, plan.day, model.rule)
        self._engine = _open_engine(model, engine) if model.rule.network or model.taught else None
        self._second = SecondOpinion(model.taught, self.graph, plan.smooth) if model.taught else None
        self._classes = node_classes(self.graph)
        self._held = _Answer(
            np.full((1, self.graph.num_nodes), np.nan), np.broadcast_to(self._classes, (1, len(self._classes)))
        )
        self._held_score = np.zeros(1)
        self._odds = np.zeros(len(self.graph.points))  # of the present alarm
        self._alarm_rows = 0
        self._count = 0
        self.scores = np.empty(0)  # the plant's score of each row of the last portion
        self.leading: list[dict[str, float]] = []

    @property
    def num_nodes(self) -> int:
        """The number of nodes of the plant."""
        return self.graph.num_nodes

    @property
    def points(self) -> tuple[str, ...]:
        """The names of the columns that `push` takes."""
        return self.graph.points

    def push(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Scored:
        """Take readings [r p] and their freshness; return the scores of the wanted rows [r]."""
        found, scores = [], []
        for at in range(0, len(values), PORTION):
            part = slice(at, at + PORTION)
            probs, score = self._push(np.asarray(values[part], np.float64), fresh[part], wanted[part])
            found.append(probs)
            scores.append(score)
        probs = np.concatenate(found) if found else np.empty((0, self.num_nodes, len(CLASSES)), np.float32)
        self.scores = np.concatenate(scores) if scores else np.empty(0)
        rows = np.flatnonzero(wanted)
        first, self._count = self._count, self._count + len(values)
        return Scored(rows + first, probs)

    def _push(self, values: Floats, fresh: Bools, wanted: Bools) -> tuple[NDArray[np.float32], Floats]:
        """Return the probabilities of the wanted rows, and the scores of all."""
        judged = self._featurizer.push(values, fresh)
        in_levels = judged.statistics / self.model.preprocessing.levels
        verdict = self._judge.push(in_levels.max(axis=-1))
        answer, score = self._answer(judged, in_levels, verdict)
        attack = np.concatenate([self._held.attack, answer.attack])
        classes = np.concatenate([self._held.classes, answer.classes])
        scores = np.concatenate([self._held_score, score])
        latest = np.searchsorted(judged.rows, np.arange(len(values)), side="right")
        self._held, self._held_score = _Answer(attack[-1:], classes[-1:]), scores[-1:]
        return _probabilities(attack[latest[wanted]], classes[latest[wanted]]), scores[latest]

    def _answer(self, judged: Judged, in_levels: Floats, verdict: Verdict) -> tuple["_Answer", Floats]:
        """Return what is said of the nodes at the judged rows, and the plant's score."""
        place = np.log(np.where(judged.known, np.maximum(verdict.strength, 1e-9), 1e-12))
        chance, score = self.rule.probability(verdict.score), verdict.score
        classes = np.broadcast_to(self._classes, (len(place), self.num_nodes))
        if self._second is not None:
            usable = judged.known & ~verdict.muted
            odds = np.where(usable, self._network(judged, in_levels, np.arange(len(place))), np.nan)
            opinion = self._second.push(odds, place, score >= self.rule.threshold, classes)
            place, classes = opinion.place, opinion.classes
            chance = np.maximum(chance, opinion.chance)
            score = np.maximum(score, opinion.in_thresholds * self.rule.threshold)
        elif self._engine is not None:
            place = place + self.rule.network * self._over_alarm(judged, in_levels, verdict)
        ahead = place - place.max(axis=1, keepdims=True)
        leads = np.zeros(place.shape, np.bool_)
        leads[np.arange(len(place)), place.argmax(axis=1)] = True
        share = np.where(leads, 1.0, np.minimum(np.exp(SHARPNESS * ahead), MOST_SHARE))
        attack = np.full((len(place), self.num_nodes), np.nan)
        attack[:, self.graph.signal_nodes] = np.where(judged.known, chance[:, None] * share, np.nan)
        return _Answer(attack, classes), score

    def _network(self, judged: Judged, in_levels: Floats, rows: NDArray[np.int64]) -> Floats:
        """Return the log-odds of the network at some judged rows, for every node with a signal."""
        assert self._engine is not None
        return network_odds(self._engine, judged, in_levels, self.graph, rows)

    def _over_alarm(self, judged: Judged, in_levels: Floats, verdict: Verdict) -> Floats:
        """Return the mean log-odds of the network over the present alarm [e p]; 0 outside of alarms."""
        is_alarm = verdict.score >= self.rule.threshold
        rows = np.flatnonzero(is_alarm)
        result = np.zeros(judged.scaled.shape)
        odds = np.zeros(judged.scaled.shape)
        odds[rows] = self._network(judged, in_levels, rows)
        for at, alarm in enumerate(is_alarm.tolist()):
            if not alarm:
                self._odds, self._alarm_rows = np.zeros_like(self._odds), 0
                continue
            self._odds = self._odds + odds[at]
            self._alarm_rows += 1
            result[at] = self._odds / self._alarm_rows
        return result

    def explain(self, scored: Scored, window: int, node: int) -> list[dict[str, Any]]:
        """Return nothing: the evidence of such a model are its readings."""
        return []


class _Answer(NamedTuple):
    """What is said of the nodes at judged rows."""

    attack: Floats  # [e s] P(attack)
    classes: NDArray[np.int64]  # [e s]; 0: unclassified


def network_odds(engine: Engine, judged: Judged, in_levels: Floats, graph: CpsGraph, rows: NDArray[np.int64]) -> Floats:
    """Return the log-odds of a network [r p] at some judged rows, for every node with a signal."""
    found = np.zeros((len(rows), len(graph.points)))
    for at in range(0, len(rows), BATCH):
        features, known = node_features(judged, in_levels, graph, rows[at : at + BATCH])
        probs = engine.score(features, known).astype(np.float64)
        clear = np.clip(np.nan_to_num(probs[:, graph.signal_nodes, 1]), 1e-6, 1 - 1e-6)
        found[at : at + BATCH] = np.log(clear) - np.log1p(-clear)
    return found


def _probabilities(attack: Floats, classes: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return class probabilities [r s c]; an unclassified attack has the same for every class of attacks."""
    probs = np.zeros((*attack.shape, len(CLASSES)), np.float32)
    probs[..., 0] = 1.0 - attack
    np.put_along_axis(probs[..., 1:], np.maximum(classes - 1, 0)[..., None], attack[..., None], axis=-1)
    evenly = classes == 0
    probs[evenly, 1:] = (attack[evenly] / (len(CLASSES) - 1))[:, None]
    probs[np.isnan(attack)] = np.nan
    return probs


def history_rows(model: OwnModel) -> int:
    """Return how many rows restore a scorer."""
    plan = model.preprocessing.plan
    return plan.history + plan.stride * (plan.day + plan.smooth)


def _open_engine(model: OwnModel, config: EngineConfig) -> Engine:
    template = model.plant.template
    roles = tuple(sorted(set(template.roles)))
    weights = {name: np.asarray(weight, np.float32) for name, weight in model.weights.items()}
    frozen = FrozenModel(model.adu_config, roles, weights, template=template)
    engine = Engine(frozen, template, config.dtype, config.threads, config.backend)
    worst = float(
        np.abs(engine.score(model.known_answer["features"]) - model.known_answer["probabilities"]).max(initial=0.0)
    )
    if not worst <= KNOWN_ANSWER_TOLERANCE[engine.dtype]:
        raise CheckpointError(f"the network does not give its known answer: probabilities differ by up to {worst:.2g}")
    return engine


__all__ = ["STATISTICS", "OwnScorer", "history_rows"]
