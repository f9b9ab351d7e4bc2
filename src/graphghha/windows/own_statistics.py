"""Statistics of every node of a plant of the user's own: how unusual it is, in units of what normal data show.

e judged rows, p signals, q statistics.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.windows.own_scale import OwnScale

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
STATISTICS = ("range", "frozen", "neighbours", "neighbours, recent", "own past", "own past, recent")
RANGE, FROZEN, PAST = 0, 1, 4
RANGE_MARGIN = 0.15  # of the normal range
RECENT = 4  # judged rows
MOST_RUN = 4096  # rows: a longer stay says no more


@dataclass(frozen=True, kw_only=True, slots=True)
class Stays:
    """How long a signal [p] usually stays at a value, in rows; infinite where stays say nothing."""

    usual: Floats
    resting: Floats  # [p 2] values, scaled, at which a signal may rest for any time; NaN: none
    whole: Floats  # [1] of all signals together

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        return cls(**{field.name: arrays[field.name] for field in fields(cls)})


def run_lengths(filled: Floats, known: Bools, before: NDArray[np.int64], last: Floats) -> NDArray[np.int64]:
    """Return for how many readings each signal [r p] has not moved; `before` [p] is the run of the row `last` [p].

    Rows without a reading do not count: a gap in the data is not a signal that stands still.
    """
    moved = np.concatenate([last[None], filled])
    moved = moved[1:] != moved[:-1]
    count = np.cumsum(known, axis=0)
    newest = np.maximum.accumulate(np.where(moved, count, 0), axis=0)
    runs = np.where(newest > 0, count - newest, before + count)
    return np.minimum(runs, MOST_RUN)


def frozen(runs: NDArray[np.int64], filled: Floats, stays: Stays) -> Floats:
    """Return how long signals stand, [e p]; 1 is the longest usual stay."""
    at_rest = (np.abs(filled[..., None] - stays.resting) < 1e-6).any(axis=-1)
    own = runs / stays.usual
    return np.where(at_rest | ~np.isfinite(stays.usual), 0.0, own)


def range_excess(values: NDArray[Any], scale: OwnScale) -> Floats:
    """Return how far readings [e p] are beyond normal ones, in tenths of the normal range; NaN: no reading."""
    span = scale.high - scale.low
    margin = RANGE_MARGIN * span
    beyond = np.maximum(values - scale.high, scale.low - values)
    varying = np.maximum(beyond - margin, 0.0) / np.where(span > 0, 0.1 * span, 1.0)
    constant = np.abs(values - scale.center) / scale.width
    return np.where(scale.is_constant, constant, varying)


def recent_mean(values: Floats, before: Floats) -> Floats:
    """Return the mean over the last judged rows [e ..]; `before` [RECENT-1 ..] are the rows before."""
    joined = np.concatenate([before, values])
    known = np.isfinite(joined)
    total = np.zeros_like(values)
    count = np.zeros_like(values)
    for back in range(RECENT):
        rows = slice(RECENT - 1 - back, RECENT - 1 - back + len(values))
        total += np.where(known[rows], joined[rows], 0.0)
        count += known[rows]
    return np.where(np.isfinite(values), total / np.maximum(count, 1), np.nan)


def assemble(excess: Floats, stays: Floats, residuals: Floats, recent: Floats, is_constant: Bools) -> Floats:
    """Return the statistics [e p q]; a signal that never moved has its range alone."""
    size, mean = np.abs(residuals), np.abs(recent)
    columns = np.stack([excess, stays, size[..., 0], mean[..., 0], size[..., 1], mean[..., 1]], axis=-1)
    columns[:, is_constant, 1:] = 0.0
    return np.where(np.isfinite(columns), columns, 0.0)
