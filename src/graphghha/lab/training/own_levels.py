"""What is usual in the normal data of a plant: stays, levels of the statistics, and the threshold for a budget."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphghha.windows.own_scale import OwnScale
from graphghha.windows.own_statistics import MOST_RUN, Stays, run_lengths

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
RESTING_SHARE = 0.2  # of the rows at one value
MOST_RESTING = 4
STAYS = 60  # a part must hold so many of the longest stays, or their length is not known well enough
LEAST_USUAL = 4
EXCEEDED = 1.6  # times the stay known from the other parts: it must not happen in normal data
LEAST_TAIL, ROWS_BEYOND = 1e-4, 8  # with 4, a single event of a node decided how unusual it may be
LEAST_LEVELS = (0.5, 1.0, 0.5, 0.5, 0.5, 0.5)  # by statistic: less than this is never unusual


def fit_stays(filled: Sequence[Floats], known: Sequence[Bools], parts: Sequence[int], scale: OwnScale) -> Stays:
    """Return how long signals stay at a value in normal recordings [r p], each of one part.

    Standing still is evidence only for signals that keep moving: whose stays off their resting values are short
    compared with the data, and no longer in one part of the data than in the others.
    """
    signals = filled[0].shape[1]
    every = np.concatenate(filled)
    runs = [
        run_lengths(each, own, np.zeros(signals, np.int64), np.full(signals, np.nan))
        for each, own in zip(filled, known, strict=True)
    ]
    resting = np.full((signals, MOST_RESTING), np.nan)
    usual = np.full(signals, np.inf)
    for signal in np.flatnonzero(~scale.is_constant).tolist():
        values, counts = np.unique(every[:, signal], return_counts=True)
        often = np.flatnonzero(counts >= RESTING_SHARE * len(every))
        often = often[np.argsort(-counts[often], kind="stable")]
        if scale.is_switch[signal] or len(often) > MOST_RESTING:
            continue
        rest = values[often]
        resting[signal, : len(rest)] = rest
        by_part: dict[int, int] = {}
        count: dict[int, int] = {}
        for part, own, lengths in zip(parts, filled, runs, strict=True):
            off = ~np.isin(own[:, signal], rest)
            longest = int(lengths[off, signal].max(initial=0))
            by_part[part] = max(by_part.get(part, 0), longest)
            count[part] = count.get(part, 0) + int(off.sum())
        usual[signal] = _usual(by_part, count)
    varying = ~scale.is_constant
    stands: dict[int, int] = {}
    total: dict[int, int] = {}
    for part, own, fresh in zip(parts, filled, known, strict=True):
        moved = (np.diff(own[:, varying], axis=0) != 0).any(axis=1)
        any_known = np.asarray(fresh[:, varying].any(axis=1, keepdims=True))
        steps = np.cumsum(np.append(True, moved))[:, None].astype(float)
        whole = run_lengths(steps, any_known, np.zeros(1, np.int64), np.zeros(1))
        stands[part] = max(stands.get(part, 0), int(whole.max(initial=0)))
        total[part] = total.get(part, 0) + len(own)
    return Stays(usual=usual, resting=resting, whole=np.array([_usual(stands, total)]))


def _usual(by_part: dict[int, int], rows: dict[int, int]) -> float:
    """Return the usual stay from the longest one of each part, infinite if they do not agree on a short one."""
    longest = sorted(by_part.values())
    if len(longest) < 2 or longest[-1] >= MOST_RUN or longest[-1] > EXCEEDED * max(longest[-2], LEAST_USUAL):
        return np.inf
    usual = max(longest[-1], LEAST_USUAL)
    return float(usual) if min(rows.values()) >= STAYS * usual else np.inf


def fit_levels(statistics: Floats) -> Floats:
    """Return the levels [p q] of statistics [e p q] of normal rows that their member did not see."""
    tail = max(LEAST_TAIL, ROWS_BEYOND / max(len(statistics), ROWS_BEYOND + 1))
    return np.maximum(np.quantile(statistics, 1 - tail, axis=0), LEAST_LEVELS)
