"""The scorer of a plant of the user's own: statistics, judge and network of one model.

The plant is judged as one whole. The leading node carries the probability of the plant, the others shares of it, so
that an alarm has one root. Nodes without a reading, and nodes without a signal, are unknown.

r rows, e judged rows, p points, s nodes, c classes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.engine.engine import Engine, EngineConfig
from graphghha.engine.frozen import FrozenModel
from graphghha.engine.own_judge import OwnJudge, Verdict
from graphghha.engine.scorer import KNOWN_ANSWER_TOLERANCE, Scored
from graphghha.engine.zone_scorer import node_classes
from graphghha.errors import CheckpointError
from graphghha.models.own import OwnModel
from graphghha.windows.own_features import STATISTICS, Judged, OwnFeaturizer, node_features

MOST_SHARE = 0.85  # of the plant's probability that a node has which is not the leading one
SHARPNESS = 2.0
PORTION = 2048

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
        self._engine = _open_engine(model, engine) if model.rule.network else None
        self._classes = node_classes(self.graph)
        self._held = np.full(self.graph.num_nodes, np.nan)  # P(attack) of the last judged row
        self._held_score = 0.0
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
        parts, scores = [], []
        for at in range(0, len(values), PORTION):
            part = slice(at, at + PORTION)
            attack, score = self._push(np.asarray(values[part], np.float64), fresh[part])
            parts.append(attack)
            scores.append(score)
        attack = np.concatenate(parts) if parts else np.empty((0, self.num_nodes))
        self.scores = np.concatenate(scores) if scores else np.empty(0)
        rows = np.flatnonzero(wanted)
        chosen = attack[rows]
        probs = np.zeros((*chosen.shape, len(CLASSES)), np.float32)
        probs[..., 0] = 1.0 - chosen
        probs[:, np.arange(self.num_nodes), self._classes] = chosen
        probs[np.isnan(chosen)] = np.nan
        first, self._count = self._count, self._count + len(values)
        return Scored(rows + first, probs)

    def _push(self, values: Floats, fresh: Bools) -> tuple[Floats, Floats]:
        judged = self._featurizer.push(values, fresh)
        levels = self.model.preprocessing.levels
        in_levels = judged.statistics / levels
        verdict = self._judge.push(in_levels.max(axis=-1))
        own = self._attack(judged, in_levels, verdict)
        held = np.concatenate([self._held[None], own])
        scores = np.concatenate([[self._held_score], verdict.score])
        latest = np.searchsorted(judged.rows, np.arange(len(values)), side="right")
        if len(judged.rows):
            self._held, self._held_score = own[-1], float(verdict.score[-1])
        return held[latest], scores[latest]

    def _attack(self, judged: Judged, in_levels: Floats, verdict: Verdict) -> Floats:
        """Return P(attack) [e s] of the judged rows."""
        strength = np.where(judged.known & ~verdict.muted, np.maximum(verdict.strength, 1e-9), 1e-12)
        place = np.log(strength)
        if self._engine is not None:
            place = place + self.rule.network * self._network(judged, in_levels, verdict)
        chance = self.rule.probability(verdict.score)
        ahead = place - place.max(axis=1, keepdims=True)
        leads = np.zeros(place.shape, np.bool_)
        leads[np.arange(len(place)), place.argmax(axis=1)] = True
        share = np.where(leads, 1.0, np.minimum(np.exp(SHARPNESS * ahead), MOST_SHARE))
        attack = np.full((len(place), self.num_nodes), np.nan)
        attack[:, self.graph.signal_nodes] = np.where(judged.known, chance[:, None] * share, np.nan)
        return attack

    def _network(self, judged: Judged, in_levels: Floats, verdict: Verdict) -> Floats:
        """Return the mean log-odds of the network over the present alarm [e p]; 0 outside of alarms."""
        assert self._engine is not None
        is_alarm = verdict.score >= self.rule.threshold
        rows = np.flatnonzero(is_alarm)
        result = np.zeros(judged.scaled.shape)
        odds = np.zeros(judged.scaled.shape)
        if len(rows):
            features, known = node_features(judged, in_levels, self.graph, rows)
            probs = np.concatenate(
                [self._engine.score(features[at : at + 64], known[at : at + 64]) for at in range(0, len(rows), 64)]
            ).astype(np.float64)
            clear = np.clip(np.nan_to_num(probs[:, self.graph.signal_nodes, 1]), 1e-6, 1 - 1e-6)
            odds[rows] = np.log(clear) - np.log1p(-clear)
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
