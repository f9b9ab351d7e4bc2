"""What every signal of a plant of the user's own should read, given its neighbours and its own past.

Two linear expectations for each signal: the first does not see the signal at all, the second sees its past. Each has
members that were fitted on different thirds of the normal data: three on two thirds, whose mean is expected, and three
on one third. Where the latter disagree, the training days do not determine what is normal, and the spread is wider.
Weights are stored for the neighbours of a signal only, so memory grows with signals times neighbours.

e judged rows, p signals, k neighbours of a signal (the signal itself first), l looks back, m members, x expectations.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RESIDUAL_CLIP = 100.0  # far above what normal rows reach, or a signal with rare large misses could never alarm
PARTS = 3
DISAGREEMENT = 2.0  # times the variance of the members that saw one part
LEAST_FLOOR = 0.01  # in widths
LEAST_CHANCE = 1e-4
BLOCK = 512  # rows at once


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnExpectation:
    """The weights of the expectations."""

    neighbors: NDArray[np.int64]  # [p k] the signal itself first, then others; repeated at the end if there are fewer
    weights: Floats  # [m x p k l M] for every look back, times 1 and times the mode
    bias: Floats  # [m x p M]
    spread: Floats  # [x p]
    floor: Floats  # [p] half a step of the readings, in widths
    is_switch: NDArray[np.bool_]  # [p]
    low: Floats  # [p] of a switch, scaled
    high: Floats
    mode: NDArray[np.int64]  # [1] the signal that separates modes, or -1
    mode_above: Floats  # [1] the plant is in the second mode while this signal is above

    def modes(self, looks: Floats) -> Floats:
        """Return [e M]: ones, and whether the plant is in its second mode."""
        ones = np.ones((len(looks), 1))
        signal = int(self.mode[0])
        if signal < 0:
            return ones
        return np.concatenate([ones, looks[:, signal, :1] > self.mode_above[0]], axis=1)

    def residuals(self, scaled: Floats, looks: Floats, member: int | None = None) -> Floats:
        """Return how far readings [e p] are from both expectations, [e p x]; NaN where there is no reading.

        `member` is the one that did not see these rows; without it the mean of all members counts. Where a neighbour
        has no reading, an expectation is as uncertain as that neighbour could have moved it.
        """
        influence = self.weights[:PARTS].sum(axis=(4, 5)).mean(axis=0) ** 2  # [x p k]
        parts = [
            self._block(scaled[at : at + BLOCK], looks[at : at + BLOCK], member, influence)
            for at in range(0, len(looks), BLOCK)
        ]
        return np.concatenate(parts) if parts else np.empty((0, scaled.shape[1], 2))

    def predict(self, looks: Floats) -> Floats:
        """Return the means of the members [m e p x]."""
        modes = self.modes(looks)
        gathered = looks[:, self.neighbors]  # [e p k l]
        count = modes.shape[1]
        by_mode = np.einsum("epkl,mxpklM->mepxM", gathered, self.weights, optimize=True) if count else gathered
        return np.asarray(((by_mode + self.bias.transpose(0, 2, 1, 3)[:, None]) * modes[:, None, None]).sum(axis=-1))

    def _block(self, scaled: Floats, looks: Floats, member: int | None, influence: Floats) -> Floats:
        if not len(looks):
            return np.empty((0, scaled.shape[1], 2))
        means = self.predict(looks)
        single = means[PARTS:] if member is None else np.delete(means[PARTS:], member, axis=0)
        center = means[:PARTS].mean(axis=0) if member is None else means[member]
        doubt = DISAGREEMENT * single.var(axis=0, ddof=1)
        variance = self.spread.T**2 + doubt + self.floor[:, None] ** 2
        missing = np.isnan(scaled)
        if missing.any():
            variance = variance + np.einsum("epk,xpk->epx", missing[:, self.neighbors], influence)
        plain = np.clip((scaled[..., None] - center) / np.sqrt(variance), -RESIDUAL_CLIP, RESIDUAL_CLIP)
        return np.where(self.is_switch[:, None], self._deviance(scaled, center, np.sqrt(doubt)), plain)

    def _deviance(self, scaled: Floats, center: Floats, doubt: Floats) -> Floats:
        """Return the signed deviance of switches: how little the chance was that they stand as they do.

        `doubt` [e p x] is by how much the members disagree; the chance is taken to be better by it.
        """
        span = np.where(self.high > self.low, self.high - self.low, 1.0)
        state = ((scaled - self.low) / span)[..., None]
        chance = np.clip((center - self.low[:, None]) / span[:, None], LEAST_CHANCE, 1 - LEAST_CHANCE)
        off = np.maximum(np.abs(state - chance) - doubt / span[:, None], 0.0)
        likely = np.clip(1.0 - off, LEAST_CHANCE, 1.0)
        return np.asarray(np.sign(state - chance) * np.sqrt(-2 * np.log(likely)))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        return cls(**{field.name: arrays[field.name] for field in fields(cls)})
