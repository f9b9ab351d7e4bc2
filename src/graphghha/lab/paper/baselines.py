"""Methods without a network under the paper's protocol: what they suspect, from the windows every method sees.

b samples, z zones of a sample, n nodes and f features of the template, m normal windows.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.lab.paper.protocol import NORMAL, Score, Year
from graphghha.windows.features import FEATURE_NAMES

FitPlain = Callable[[Sequence[Year]], Score]  # from training years
EXPLAINED = 0.95  # of the variance of normal operation, by the components that are kept
MOST_WINDOWS = 20_000
LEAST_USUAL = 0.1  # of a residual, in spreads of the readings: what hardly ever moves must not shout when it does


def chance(years: Sequence[Year]) -> Score:
    """Suspicion drawn from a hat."""
    rng = np.random.default_rng(0)
    return lambda x: _as_probs(rng.random(x.shape[:-1]))


def largest(*features: str) -> FitPlain:
    """The node whose features of these kinds are farthest out, in spreads of normal operation; nothing to fit.

    Their root mean square over all spans of time: features have a limit, and a maximum would often stand at it.
    """
    columns = _columns(*features)
    return lambda years: lambda x: _suspect(np.sqrt(np.square(x[..., columns]).mean(axis=-1)))


def pca_residual(years: Sequence[Year]) -> Score:
    """What principal components of a zone's normal readings leave unexplained, node by node."""
    columns = _columns("value_")
    normal = _normal_windows(years)[..., columns]  # [m n v]
    shape = normal.shape[1:]
    flat = normal.reshape(len(normal), -1)
    mean = flat.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(flat, rowvar=False))  # rising
    kept = vectors[:, np.cumsum(values) > (1 - EXPLAINED) * values.sum()]  # [n*v k]

    def residual(x: NDArray[Any]) -> NDArray[Any]:
        centred = x[..., columns].reshape(*x.shape[:-2], -1) - mean
        left = (centred - centred @ kept @ kept.T).reshape(*x.shape[:-2], *shape)
        return np.asarray(np.sqrt(np.square(left).sum(axis=-1)))  # [.. n]

    usual = np.maximum(np.quantile(residual(_normal_windows(years)), 0.99, axis=0), LEAST_USUAL)  # [n]
    return lambda x: _suspect(residual(x) / usual)


def _columns(*kinds: str) -> list[int]:
    return [at for at, name in enumerate(FEATURE_NAMES) if name.startswith(kinds)]


def _normal_windows(years: Sequence[Year]) -> NDArray[np.float32]:
    """[m n f] of units in normal operation, evenly thinned."""
    quiet = [year.features[:, zone] for year in years for zone, case in enumerate(year.cases) if case == NORMAL]
    step = max(1, sum(map(len, quiet)) // MOST_WINDOWS) | 1  # odd: windows are hourly, and no hour is left out
    return np.concatenate([windows[::step] for windows in quiet]).astype(np.float32)


def _suspect(size: NDArray[Any]) -> NDArray[np.float32]:
    """[.. n] how unusual, from 0 up, to probabilities [.. n 2]."""
    return _as_probs(size / (1.0 + size))


def _as_probs(attack: NDArray[Any]) -> NDArray[np.float32]:
    return np.stack([1.0 - attack, attack], axis=-1).astype(np.float32)
