"""Windows of a plant of the user's own: how far back its detector looks, counted in rows.

Windows are spans of time. One unit is the time in which the signals of the plant move noticeably, measured on its
normal data; all windows are multiples of it, and none is shorter than a row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha._util.fields import check_fields, number, whole_number

DAY_S = 86_400.0
MEANS = (4, 16, 64)  # units
LAGS = (1, 2)
SMOOTH = 6
LEAST_DAY = 288  # judged rows
NOTICEABLE = 0.02  # of the variance
# A unit in seconds is the time in which signals move noticeably, raised to POWER, over DIVISOR. Found on a laboratory
# plant (27 s: 3 s), a building (600 s: 300 s) and a water network (hourly): the slower a plant, the later its points
# report, and the less a short disagreement between them means.
POWER, DIVISOR = 1.5, 49.0
LONGEST_UNIT_S = 300.0  # or a step, if that is longer
MOST_ROWS = 20_000  # of a window: a day and more of steps below ten seconds is not looked back on
LAG_NAMES = ("now", "lag 1", "lag 2", "short mean", "middle mean", "long mean")


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnPlan:
    """The windows of a detector in rows. A row is judged every `stride` rows, and its score is held in between."""

    step_s: float
    stride: int
    lags: tuple[int, ...]
    means: tuple[int, ...]
    smooth: int  # judged rows that a score is averaged over
    day: int  # judged rows of a day, or more: attacks on a slow plant last for days

    @classmethod
    def for_unit(cls, step_s: float, unit_s: float) -> Self:
        """Return the plan of a plant whose signals move noticeably within `unit_s`."""
        rows = unit_s / step_s

        def whole(units: float) -> int:
            return min(MOST_ROWS, max(1, round(units * rows)))

        stride = whole(1)
        return cls(
            step_s=step_s,
            stride=stride,
            lags=tuple(max(number + 1, whole(lag)) for number, lag in enumerate(LAGS)),
            means=tuple(max(number + 1, whole(mean)) for number, mean in enumerate(MEANS)),
            smooth=max(1, round(whole(SMOOTH) / stride)),
            day=min(MOST_ROWS, max(LEAST_DAY, round(DAY_S / step_s / stride))),
        )

    @property
    def history(self) -> int:
        """Rows before a row that its inputs are made from."""
        return max(*self.lags, *self.means) + 1

    @property
    def warm_up(self) -> int:
        """Rows at the beginning that are not judged: too little is known of what was before them."""
        return self.means[1]

    def to_dict(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` writes; ValueError names the field that does not fit."""
        check_fields(data, [field.name for field in fields(cls)])
        plan = cls(
            step_s=number("step_s", data["step_s"]),
            stride=whole_number("stride", data["stride"]),
            lags=tuple(whole_number("lags", each) for each in data["lags"]),
            means=tuple(whole_number("means", each) for each in data["means"]),
            smooth=whole_number("smooth", data["smooth"]),
            day=whole_number("day", data["day"]),
        )
        numbers = (plan.stride, *plan.lags, *plan.means, plan.smooth, plan.day)
        if plan.step_s <= 0 or min(numbers) < 1 or len(plan.lags) != len(LAGS) or len(plan.means) != len(MEANS):
            raise ValueError("the plan of the windows needs a step above 0 and windows of at least one row")
        return plan


def moving_unit_s(parts: Sequence[NDArray[np.float64]], step_s: float) -> float:
    """Return the time in which signals move noticeably, from scaled normal readings [r p] of one recording each.

    A signal moves noticeably over a lag when its mean square change reaches a share of its variance. The median
    over the signals counts.
    """
    longest = max(len(part) for part in parts)
    lags = np.unique(np.round(2.0 ** np.arange(0, np.log2(max(2, longest // 4)), 0.5)).astype(int))
    columns = parts[0].shape[1]
    variance = np.nanvar(np.concatenate(parts), axis=0)
    found = []
    changes = np.full((len(lags), columns), np.nan)
    for at, lag in enumerate(lags.tolist()):
        squares = np.concatenate([(part[lag:] - part[:-lag]) ** 2 for part in parts if len(part) > lag])
        count = np.isfinite(squares).sum(axis=0)
        changes[at] = np.where(count, np.nansum(squares, axis=0) / np.maximum(count, 1), np.nan)
    for column in range(columns):
        if variance[column] <= 0 or not np.isfinite(changes[0, column]):
            continue
        share = changes[:, column] / (2 * variance[column])
        reached = np.flatnonzero(share >= NOTICEABLE)
        found.append(float(lags[reached[0]] if len(reached) else lags[-1]))
    if not found:
        return step_s
    return min(float((np.median(found) * step_s) ** POWER) / DIVISOR, max(LONGEST_UNIT_S, step_s))
