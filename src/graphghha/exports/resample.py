"""Points on a common, regular grid: every row takes the newest reading of each point, with its age."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError
from graphghha.exports.reporting import Mode
from graphghha.exports.series import Series

STALE_STEPS = 3  # a sampled reading is used for this many of its own intervals
MOST_CELLS = 200_000_000


@dataclass(frozen=True, slots=True)
class Rows:
    """Points [p] on a grid of rows [r]: values [r p], NaN where nothing fresh is known, and the age of each value."""

    names: tuple[str, ...]
    times_ms: NDArray[np.int64]
    values: NDArray[np.float64]
    age_ms: NDArray[np.int64]  # -1 where there is no reading at or before the row


def common_step_ms(series: Sequence[Series]) -> int | None:
    """Return the interval at which most of the sampled points report, or None if none is sampled."""
    steps = [
        each.reporting.step_ms for each in series if each.reporting.mode is Mode.SAMPLED and each.reporting.step_ms
    ]
    if not steps:
        return None
    distinct, counts = np.unique(steps, return_counts=True)
    return int(distinct[counts.argmax()])


def lay_on_grid(
    series: Sequence[Series],
    step_ms: int,
    *,
    start_ms: int | None = None,
    end_ms: int | None = None,
    stale_after_ms: int | None = None,
) -> Rows:
    """Lay points on a grid with this step, from the first sampled reading to the last.

    A row takes the newest reading at or before its time. A sampled reading is fresh for three of its own intervals
    (or `stale_after_ms`). A point that reports on change keeps its value until the next record: its silence means
    unchanged, up to the last row. Before its first record it is unknown.
    """
    filled = [each for each in series if len(each)]
    if not filled:
        raise DataError("there are no readings to lay on a grid")
    leading = [each for each in filled if not each.holds] or filled
    first = min(int(each.times_ms[0]) for each in leading) if start_ms is None else start_ms
    last = max(int(each.times_ms[-1]) for each in leading) if end_ms is None else end_ms
    start = -(-first // step_ms) * step_ms
    count = max(0, -(-(last - start) // step_ms) + 1)
    if count * len(series) > MOST_CELLS:
        raise DataError(
            f"{count:,} rows of {len(series)} points at a step of {step_ms / 1000:g} s do not fit into memory; "
            "use a longer step or fewer days"
        )
    times = start + step_ms * np.arange(count, dtype=np.int64)
    values = np.full((len(times), len(series)), np.nan)
    ages = np.full((len(times), len(series)), -1, np.int64)
    for column, each in enumerate(series):
        if len(each):
            values[:, column], ages[:, column] = _lay_one(each, times, step_ms, stale_after_ms)
    return Rows(tuple(each.name for each in series), times, values, ages)


def _lay_one(
    series: Series, times: NDArray[np.int64], step_ms: int, stale_after_ms: int | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    newest = np.searchsorted(series.times_ms, times, side="right") - 1
    known = newest >= 0
    age = np.where(known, times - series.times_ms[newest], -1)
    if not series.holds:
        own = STALE_STEPS * max(series.reporting.step_ms or step_ms, step_ms)
        known &= age < (own if stale_after_ms is None else stale_after_ms)
    return np.where(known, series.values[newest], np.nan), age
