"""The scorer of models that judge zones: whether a zone is attacked, and through which node.

The network gives every node its log-odds against "the zone is normal". They are averaged over the last quarter of an
hour. A softmax over the nodes of a zone and "normal" is the probability of an attack; the leading node carries all of
it, so that an alarm has one root, and the others their shares.

At a commissioned site the typical zone is judged as well, like a building of one zone. Zones that look less abnormal
than the typical one take its log-odds less a margin, since what moves the whole building concerns every zone of it.

r rows, p points, w windows, Z zones, n nodes of a zone, s = Z n nodes, c classes.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.engine.engine import Engine, EngineConfig
from graphghha.engine.explain import Explainer
from graphghha.engine.per_zone import engine_for
from graphghha.engine.scorer import BATCH_WINDOWS, Scored, check_known_answer
from graphghha.errors import GraphError
from graphghha.graph import CpsGraph
from graphghha.models import Calibration, Model, log_probabilities
from graphghha.windows import EvidenceFeaturizer, EvidencePreprocessing, Windows
from graphghha.windows.typical import TypicalZone

SMOOTH_ROWS = 15
TYPICAL_MARGIN = 3.0  # log-odds that the typical zone must stand out more, since it has no others to be compared with

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]


class ZoneScorer:
    """Turns rows of readings into probabilities of every node. Rows may come in portions of any size."""

    def __init__(self, model: Model, graph: CpsGraph, engine: EngineConfig = EngineConfig()) -> None:
        assert isinstance(model.preprocessing, EvidencePreprocessing)
        _check_zones(model, graph)
        check_known_answer(model, Engine.from_config(model, model.template, engine))
        self.engine = engine_for(model, graph, engine)
        self.featurizer = EvidenceFeaturizer(graph, model.template, model.preprocessing)
        self.calibration = model.calibration
        self._explainer = Explainer(model, model.template)  # a zone is explained by itself
        self._nodes = model.template.num_nodes
        self._classes = node_classes(graph)
        self._odds = np.full((SMOOTH_ROWS - 1, graph.num_nodes), np.nan)  # of the last rows
        self._typical = _Typical(model, graph, engine) if model.preprocessing.typical else None

    @property
    def num_nodes(self) -> int:
        """The number of nodes of the building."""
        return self.featurizer.graph.num_nodes

    @property
    def points(self) -> tuple[str, ...]:
        """The names of the columns that `push` takes."""
        return self.featurizer.points

    def push(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Scored:
        """Take readings [r p] in SI units and their freshness; return the scores of the wanted rows [r].

        The rows just before a wanted one are scored as well, and so are the last rows of every portion: a score then
        depends on the rows alone, and not on how they were divided into portions.
        """
        windows, odds = self.recent_odds(values, fresh, wanted)
        if self._typical:
            odds = at_least(odds, self._typical.recent_odds(values, fresh, wanted))
        return Scored(windows.rows, self.probabilities(odds), windows)

    def recent_odds(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> tuple[Windows, Floats]:
        """Return the windows of the wanted rows, and their log-odds [w s] averaged over the last quarter of an hour."""
        needed = _rows_needed(wanted)
        windows = self.featurizer.push(values, fresh, needed)
        odds = np.full((len(wanted), self.num_nodes), np.nan)
        odds[needed] = self.odds(windows)
        history = np.concatenate([self._odds, odds])
        self._odds = history[len(history) - (SMOOTH_ROWS - 1) :]
        return _chosen(windows, wanted[needed]), _recent_mean(history, np.flatnonzero(wanted))

    def odds(self, windows: Windows) -> Floats:
        """Return the log-odds [w s] of every node at single rows; NaN where a node is unknown."""
        parts = [
            self.engine.score(windows.features[at : at + BATCH_WINDOWS], windows.known[at : at + BATCH_WINDOWS])
            for at in range(0, len(windows.rows), BATCH_WINDOWS)
        ]
        if not parts:
            return np.empty((0, self.num_nodes))
        logits = log_probabilities(np.concatenate(parts).astype(np.float64))
        odds: Floats = logits[..., 1] - logits[..., 0]
        return odds

    def probabilities(self, odds: Floats) -> NDArray[np.float32]:
        """Return the class probabilities [w s c] of averaged log-odds [w s]."""
        zones = odds.reshape(len(odds), self.num_nodes // self._nodes, self._nodes)
        attack = attack_probabilities(zones, self.calibration)
        attack = attack.reshape(len(odds), self.num_nodes)
        probs = np.zeros((*attack.shape, len(CLASSES)), np.float32)
        probs[..., 0] = 1.0 - attack
        probs[:, np.arange(self.num_nodes), self._classes] = attack
        probs[np.isnan(attack)] = np.nan
        return probs

    def explain(self, scored: Scored, window: int, node: int) -> list[dict[str, Any]]:
        """Return the gates and strongest edges of a node in one of the scored windows, as evidence of an incident."""
        if scored.windows is None:
            return []
        zone = slice(node // self._nodes * self._nodes, (node // self._nodes + 1) * self._nodes)
        own = Windows(scored.windows.features[:, zone], scored.windows.known[:, zone], scored.windows.rows)
        return self._explainer.explain(own, window, node - zone.start)

    def rehearse(self) -> list[dict[str, Any]]:
        """Load what `explain` needs and use it once."""
        return self._explainer.rehearse()


class _Typical:
    """Judges the typical zone of a building like a building of one zone."""

    def __init__(self, model: Model, graph: CpsGraph, engine: EngineConfig) -> None:
        levels = model.zone_preprocessing.typical
        assert levels is not None
        alone = replace(model, preprocessing=model.zone_preprocessing.with_levels(levels), commissioning=None)
        self._read = TypicalZone(graph, model.template)
        self._scorer = ZoneScorer(alone, model.template, engine)

    def recent_odds(self, values: NDArray[Any], fresh: Bools, wanted: Bools) -> Floats:
        """Return the averaged log-odds [w n] of its nodes, less the margin."""
        odds: Floats = self._scorer.recent_odds(*self._read(values, fresh), wanted)[1] - TYPICAL_MARGIN
        return odds


def at_least(odds: Floats, typical: Floats) -> Floats:
    """Return log-odds [w s] in which zones that look less abnormal than the typical zone [w n] have its log-odds.

    Unknown nodes stay unknown.
    """
    nodes = typical.shape[-1]
    zones = odds.reshape(len(odds), odds.shape[1] // nodes, nodes)
    is_above = zone_odds(typical)[:, None] > zone_odds(zones)  # [w Z]
    taken = np.where(is_above[..., None] & np.isfinite(zones), typical[:, None], zones)
    return taken.reshape(odds.shape)


def zone_odds(odds: Floats) -> Floats:
    """Return the log-odds [..] that a zone is attacked through any of its nodes [.. n]; NaN if all are unknown."""
    known = np.isfinite(odds)
    highest = np.where(known, odds, -np.inf).max(axis=-1, keepdims=True)
    safe = np.where(np.isfinite(highest), highest, 0.0)
    total = np.where(known, np.exp(np.where(known, odds, 0.0) - safe), 0.0).sum(axis=-1)
    with np.errstate(divide="ignore"):
        return np.where(known.any(axis=-1), np.log(total) + safe[..., 0], np.nan)


def attack_probabilities(odds: Floats, calibration: Calibration) -> Floats:
    """Return P(attack) of every node [.. n]: the leading node has that of its zone, the others their shares of it."""
    zone = zone_odds(odds)[..., None]
    certain = calibration(np.concatenate([np.zeros_like(zone), zone], axis=-1))[..., 1:]
    shares = np.exp(odds - zone)
    leads = odds == np.where(np.isfinite(odds), odds, -np.inf).max(axis=-1, keepdims=True)
    attack: Floats = certain * np.where(leads, 1.0, shares)
    return attack


def node_classes(graph: CpsGraph) -> NDArray[np.int64]:
    """Return the attack class of every node [s], which is named like its kind."""
    return np.array([CLASSES.index(str(node.kind)) for node in graph.nodes], np.int64)


def _rows_needed(wanted: Bools) -> Bools:
    """Return the rows to score: wanted ones, those averaged with them, and the last ones of the portion."""
    needed = wanted.copy()
    for back in range(1, SMOOTH_ROWS):
        needed[:-back] |= wanted[back:]
    needed[max(0, len(needed) - (SMOOTH_ROWS - 1)) :] = True
    return needed


def _recent_mean(history: Floats, rows: NDArray[np.int64]) -> Floats:
    """Return the mean of the known values at each row and the rows before it; NaN where the row itself is unknown."""
    total, count = np.zeros((len(rows), history.shape[1])), np.zeros((len(rows), history.shape[1]))
    for back in range(SMOOTH_ROWS):
        row = history[rows + SMOOTH_ROWS - 1 - back]
        known = np.isfinite(row)
        total += np.where(known, row, 0.0)
        count += known
    now = np.isfinite(history[rows + SMOOTH_ROWS - 1])
    return np.where(now, total / np.maximum(count, 1), np.nan)


def _chosen(windows: Windows, kept: Bools) -> Windows:
    return Windows(windows.features[kept], windows.known[kept], windows.rows[kept])


def _check_zones(model: Model, graph: CpsGraph) -> None:
    """Refuse a site with another number of zones: the levels of a single zone would pass for those of every zone."""
    if model.commissioning is None:
        return
    own, found = len(model.commissioning.zones), len(graph.zone_names)
    if own != found:
        raise GraphError(
            f"the model was commissioned for {own} zone{'s' if own > 1 else ''}, but the site has {found}; "
            "commission its base model on this site"
        )
