"""Scale, range and type of every signal of a plant of the user's own, read from its normal data.

Limits of instruments are not applied here: a reading beyond what was seen is judged, not dropped.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
CLIP = 30.0
INPUT_MARGIN = 0.1  # of the normal range: a forged value must not carry its neighbours' expectations away
FEW_VALUES = 3
CONSTANT_SHARE = 1e-4  # of the value: what never moved in normal data is unusual as soon as it moves
_CONSTANT, _FEW, _CONTINUOUS = 0, 1, 2


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnScale:
    """What is known of each signal [p], all in the unit of the plant file."""

    center: Floats
    width: Floats
    low: Floats  # lowest and highest normal reading
    high: Floats
    step: Floats  # between neighbouring values
    kind: NDArray[np.int64]

    @property
    def is_constant(self) -> NDArray[np.bool_]:
        """Signals that never moved in normal data."""
        return np.asarray(self.kind == _CONSTANT)

    @property
    def is_switch(self) -> NDArray[np.bool_]:
        """Signals with two or three values."""
        return np.asarray(self.kind == _FEW)

    def __call__(self, values: NDArray[Any]) -> Floats:
        """Return readings [r p] in widths from their centre, NaN where there is none."""
        scaled: Floats = np.clip((values - self.center) / self.width, -CLIP, CLIP)
        return scaled

    def inputs(self, scaled: Floats) -> Floats:
        """Return scaled readings as inputs of expectations: inside the normal range and a little beyond."""
        low, high = (self.low - self.center) / self.width, (self.high - self.center) / self.width
        margin = INPUT_MARGIN * (high - low)
        kept: Floats = np.clip(scaled, low - margin, high + margin)
        return kept

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        return cls(**{field.name: arrays[field.name] for field in fields(cls)})


def fit_own_scale(values: Floats, resolution: Floats) -> OwnScale:
    """Return the scale of normal readings [r p]; `resolution` [p] is the stated one, NaN where none is."""
    columns = [_fit_column(values[:, at], float(resolution[at])) for at in range(values.shape[1])]
    center, width, low, high, step, kind = (np.array(each) for each in zip(*columns, strict=True))
    return OwnScale(center=center, width=width, low=low, high=high, step=step, kind=kind.astype(np.int64))


def _fit_column(column: Floats, resolution: float) -> tuple[float, float, float, float, float, int]:
    known = column[np.isfinite(column)]
    low, high, center = float(known.min()), float(known.max()), float(np.median(known))
    distinct = np.unique(known)
    if low == high:
        least = CONSTANT_SHARE * abs(center) or 0.05
        return center, max(least, resolution) if np.isfinite(resolution) else least, low, high, 0.0, _CONSTANT
    step = float(np.median(np.diff(distinct))) if len(distinct) < 20_000 else 0.0
    if np.isfinite(resolution):
        step = max(step, resolution)
    quarter, three, least, most = np.quantile(known, [0.25, 0.75, 0.005, 0.995])
    width = max((three - quarter) / 1.35, (most - least) / 5.15, 0.05 * (high - low))
    few = len(distinct) <= FEW_VALUES
    if few:
        width = max(width, (high - low) / 2)
    return center, float(width), low, high, step, _FEW if few else _CONTINUOUS
