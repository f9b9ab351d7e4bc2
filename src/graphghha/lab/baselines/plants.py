"""Baselines for any plant: they learn from the same normal rows as the detector, and say how unusual every node is.

A baseline is fitted on scaled readings without holes [r p] and returns how unusual every signal is [r p]; it never sees
times, row numbers or names.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Judge = Callable[[Floats], Floats]  # scaled readings [r p] to how unusual they are [r p]
KEPT = 0.95  # of the variance, by the components of PCA
RIDGE = 0.01  # times the number of rows
DRIFT = 3.0  # of a CUSUM, in spreads: what a residual may reach without being counted
MOST_STEP = 10.0
MOST_ROWS = 20_000
HIDDEN = (24, 8, 24)


@dataclass(frozen=True, slots=True)
class PlantBaseline:
    """A method by name."""

    name: str
    fit: Callable[[Sequence[Floats], int], Judge]  # scaled normal recordings and a seed
    is_smoothed: bool = True
    is_seeded: bool = False


def fit_random(recordings: Sequence[Floats], seed: int) -> Judge:
    """Every row and node has a random number."""
    rng = np.random.default_rng(seed)
    return lambda scaled: rng.random(scaled.shape)


def fit_always(recordings: Sequence[Floats], seed: int) -> Judge:
    """Every row is in alarm; the order of the nodes is random and fixed."""
    order = 1.0 + np.random.default_rng(seed).random(recordings[0].shape[1])
    return lambda scaled: np.broadcast_to(order, scaled.shape).astype(np.float64)


def fit_range(recordings: Sequence[Floats], seed: int) -> Judge:
    """How far a reading is beyond the least and the greatest normal one."""
    every = np.concatenate(recordings)
    low, high = every.min(axis=0), every.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return lambda scaled: np.maximum(np.maximum(scaled - high, low - scaled), 0.0) / span


def fit_components(recordings: Sequence[Floats], seed: int) -> Judge:
    """PCA: what the components of normal rows leave unexplained, in spreads of each signal."""
    every = _thinned(recordings)
    center = every.mean(axis=0)
    _, spread, axes = np.linalg.svd(every - center, full_matrices=False)
    share = np.cumsum(spread**2) / max(float((spread**2).sum()), 1e-12)
    axes = axes[: int(np.searchsorted(share, KEPT)) + 1]

    def left(scaled: Floats) -> Floats:
        standard = scaled - center
        return np.asarray(np.abs(standard - (standard @ axes.T) @ axes))

    usual = _usual(left(every))
    return lambda scaled: left(scaled) / usual


def fit_state_space(recordings: Sequence[Floats], seed: int) -> Judge:
    """A linear state space and CUSUM: x[t+1] = A x[t] + b, and S[t] = max(0, S[t-1] + |x - Ax - b| / spread - 3)."""
    before = np.concatenate([each[:-1] for each in recordings if len(each) > 1])
    after = np.concatenate([each[1:] for each in recordings if len(each) > 1])
    pick = np.linspace(0, len(before) - 1, min(len(before), MOST_ROWS)).astype(int)
    inputs = np.concatenate([before[pick], np.ones((len(pick), 1))], axis=1)
    gram = inputs.T @ inputs
    gram[np.diag_indices_from(gram)] += RIDGE * len(pick)
    matrix = np.linalg.solve(gram, inputs.T @ after[pick])

    def residual(scaled: Floats) -> Floats:
        past = np.concatenate([scaled[:1], scaled[:-1]])
        return np.asarray(np.abs(scaled - np.concatenate([past, np.ones((len(past), 1))], axis=1) @ matrix))

    usual = _usual(np.concatenate([residual(each) for each in recordings]))

    def judge(scaled: Floats) -> Floats:
        steps = np.minimum(residual(scaled) / usual, MOST_STEP) - DRIFT
        sums, total = np.zeros(steps.shape), np.zeros(steps.shape[1])
        for at, row in enumerate(steps):
            total = np.maximum(total + row, 0.0)
            sums[at] = total
        return sums

    return judge


def fit_autoencoder(recordings: Sequence[Floats], seed: int) -> Judge:
    """A small autoencoder: what it cannot restore, in spreads of each signal."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPRegressor

    every = np.clip(_thinned(recordings), -10, 10)
    network = MLPRegressor(hidden_layer_sizes=HIDDEN, activation="tanh", max_iter=40, batch_size=256, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # forty rounds are enough for a baseline
        network.fit(every, every)

    def left(scaled: Floats) -> Floats:
        return np.asarray(np.abs(scaled - network.predict(np.clip(scaled, -10, 10)).reshape(scaled.shape)))

    usual = _usual(left(every))
    return lambda scaled: left(scaled) / usual


BASELINES = (
    PlantBaseline("random", fit_random, is_smoothed=False, is_seeded=True),
    PlantBaseline("min..max", fit_range),
    PlantBaseline("PCA", fit_components),
    PlantBaseline("state space, CUSUM", fit_state_space, is_smoothed=False),
    PlantBaseline("autoencoder", fit_autoencoder, is_seeded=True),
)
ALWAYS = PlantBaseline("always", fit_always, is_smoothed=False, is_seeded=True)


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """Rows [r p] of other attacks of the same plant, and which of them are attacked [r]."""

    scaled: Floats
    attacked: NDArray[np.bool_]


def fit_boosting(normal: Sequence[Floats], labelled: LabelledRows, seed: int) -> Judge:
    """Boosting on labels: P(attack) of a row; the node is the one farthest beyond its normal range."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=100, random_state=seed)
    model.fit(labelled.scaled, labelled.attacked)
    place = fit_range(normal, seed)

    def judge(scaled: Floats) -> Floats:
        chance = model.predict_proba(scaled)[:, 1:]
        beyond = place(scaled)
        return np.asarray(chance * (1.0 + 1e-6 * beyond / (1.0 + beyond)))

    return judge


def _thinned(recordings: Sequence[Floats]) -> Floats:
    every = np.concatenate(recordings)
    pick = np.linspace(0, len(every) - 1, min(len(every), MOST_ROWS)).astype(int)
    return np.asarray(every[pick])


def _usual(residuals: Floats) -> Floats:
    """Return the spread of residuals [r p]; a residual of a hundredth of a width is never unusual."""
    return np.asarray(np.maximum(np.sqrt(np.mean(residuals**2, axis=0)), 0.01))
