"""Baselines without a network under the paper's protocol. They score the same windows as the networks.

The deploy protocol has baselines of its own on raw readings (`graphghha.lab.baselines`): only `random` is in both.

b samples, z zones of a sample, n nodes and f features of the template, m normal windows.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.lab.paper.protocol import NORMAL, Score, Year
from graphghha.windows import FEATURE_NAMES

FitBaseline = Callable[[Sequence[Year]], Score]  # fits on the training years
EXPLAINED = 0.95  # share of the variance of normal operation that the kept components explain
MAX_WINDOWS = 20_000
MIN_LIMIT = 0.1  # lower bound of a node's usual residual: a signal that hardly ever moves has one near zero


def random_scores(years: Sequence[Year]) -> Score:
    """Return a score that draws P(attack) of every node uniformly at random."""
    rng = np.random.default_rng(0)
    return lambda x: _as_probs(rng.random(x.shape[:-1]))


def largest(*features: str) -> FitBaseline:
    """Return a baseline that scores a node by the size of its features with these prefixes; it has nothing to fit.

    The size is the root mean square over all time spans, in standard deviations of normal operation. A maximum would
    often equal the limit at which features are clipped.
    """
    columns = _columns(*features)
    return lambda years: lambda x: _attack_probs(np.sqrt(np.square(x[..., columns]).mean(axis=-1)))


def value_pca(years: Sequence[Year]) -> Score:
    """Return a score by what principal components of a zone's `value_` features leave unexplained at each node."""
    columns = _columns("value_")
    normal = _normal_windows(years)[..., columns]  # [m n v]
    shape = normal.shape[1:]
    flat = normal.reshape(len(normal), -1)
    mean = flat.mean(axis=0)
    variances, vectors = np.linalg.eigh(np.cov(flat, rowvar=False))  # in ascending order
    kept = vectors[:, np.cumsum(variances) > (1 - EXPLAINED) * variances.sum()]  # [n*v k]

    def residual(x: NDArray[Any]) -> NDArray[Any]:
        centred = x[..., columns].reshape(*x.shape[:-2], -1) - mean
        unexplained = (centred - centred @ kept @ kept.T).reshape(*x.shape[:-2], *shape)
        return np.asarray(np.sqrt(np.square(unexplained).sum(axis=-1)))  # [.. n]

    limit = np.maximum(np.quantile(residual(_normal_windows(years)), 0.99, axis=0), MIN_LIMIT)  # [n]
    return lambda x: _attack_probs(residual(x) / limit)


def _columns(*prefixes: str) -> list[int]:
    return [at for at, name in enumerate(FEATURE_NAMES) if name.startswith(prefixes)]


def _normal_windows(years: Sequence[Year]) -> NDArray[np.float32]:
    """Return windows [m n f] of units in normal operation, evenly thinned out."""
    normal = [year.features[:, zone] for year in years for zone, case in enumerate(year.cases) if case == NORMAL]
    # windows are hourly: an odd step visits every hour of the day
    step = max(1, sum(map(len, normal)) // MAX_WINDOWS) | 1
    return np.concatenate([windows[::step] for windows in normal]).astype(np.float32)


def _attack_probs(size: NDArray[Any]) -> NDArray[np.float32]:
    """Map a deviation [.. n] from 0 up to probabilities [.. n 2]."""
    return _as_probs(size / (1.0 + size))


def _as_probs(attack: NDArray[Any]) -> NDArray[np.float32]:
    return np.stack([1.0 - attack, attack], axis=-1).astype(np.float32)
