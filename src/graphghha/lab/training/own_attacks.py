"""Generic perturbations of a plant's own normal data, which teach its network where an attack is.

A stretch of normal readings of one point is replaced: shifted, held, scaled, ramped, replayed, made noisy, or driven
to an end of its range. For readings this is exact; for commands it is a guess, because nothing physical follows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph
from graphghha.lab.training.zone_windows import ZoneWindows
from graphghha.windows.own_features import OwnFeaturizer, OwnPreprocessing, node_features
from graphghha.windows.own_scale import OwnScale

Floats = NDArray[np.float64]
ROWS_PER_ATTACK = 4
LONGEST = 24  # judged rows


@dataclass(frozen=True, slots=True)
class NormalPart:
    """A stretch of normal readings [r p], and the member that did not see it."""

    values: Floats
    member: int


def perturb(values: Floats, scale: OwnScale, column: int, rng: np.random.Generator) -> Floats:
    """Return readings [n] of one point as a random mechanism would forge them."""
    own = values[:, column].copy()
    span = scale.high[column] - scale.low[column] or abs(scale.center[column]) or 1.0
    if scale.is_switch[column]:
        return np.asarray(scale.low[column] + scale.high[column] - own)
    if scale.is_constant[column]:
        return np.asarray(own + span * rng.choice([-1, 1]) * rng.uniform(0.05, 0.5))
    sign, size = rng.choice([-1.0, 1.0]), rng.uniform(0.1, 1.0) * span
    mechanisms: tuple[Callable[[], Floats], ...] = (
        lambda: own + sign * size,
        lambda: np.full_like(own, own[0]),
        lambda: scale.center[column] + (own - scale.center[column]) * rng.uniform(1.3, 3.0) + 0.2 * sign * span,
        lambda: own + sign * size * np.linspace(0, 1, len(own)),
        lambda: own[::-1].copy(),
        lambda: own + rng.normal(0, 0.15 * span, len(own)),
        lambda: np.full_like(own, scale.high[column] if sign > 0 else scale.low[column]),
        lambda: np.full_like(own, rng.uniform(scale.low[column], scale.high[column])),
    )
    return mechanisms[rng.integers(len(mechanisms))]()


def synthetic_windows(
    graph: CpsGraph, preprocessing: OwnPreprocessing, parts: Sequence[NormalPart], count: int, seed: int
) -> ZoneWindows:
    """Return windows under single perturbations that are visible, and as many normal ones."""
    rng = np.random.default_rng(seed)
    plan = preprocessing.plan
    context, longest = plan.history, LONGEST * plan.stride
    usable = [part for part in parts if len(part.values) > context // 4 + 2 * plan.stride]
    weights = np.array([len(part.values) for part in usable], np.float64)
    found: list[ZoneWindows] = []
    for _ in range(count):
        part = usable[int(rng.choice(len(usable), p=weights / weights.sum()))]
        length = int(rng.integers(2 * plan.stride, max(2 * plan.stride + 1, min(longest, len(part.values) // 2))))
        begin = int(rng.integers(0, len(part.values) - length))
        values = part.values[max(0, begin - context) : begin + length].copy()
        column = int(rng.integers(values.shape[1]))
        is_attacked = rng.random() < 0.8
        if is_attacked:
            values[-length:, column] = perturb(values[-length:], preprocessing.scale, column, rng)
        judged = OwnFeaturizer(preprocessing, part.member).push(values, np.isfinite(values))
        in_levels = judged.statistics / preprocessing.levels
        rows = np.flatnonzero(judged.rows >= len(values) - length)
        if is_attacked:
            rows = rows[in_levels[rows].max(axis=(1, 2)) > 1.0]
        if not len(rows):
            continue
        rows = rng.permutation(rows)[:ROWS_PER_ATTACK]
        features, known = node_features(judged, in_levels, graph, rows)
        targets = np.zeros(known.shape, np.bool_)
        targets[:, graph.signal_nodes[column]] = is_attacked
        found.append(ZoneWindows(features.astype(np.float16), known, targets))
    return ZoneWindows.concatenate(found)
