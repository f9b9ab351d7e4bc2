"""What is usual at a site: how far residuals, restlessness and gaps between zones go in normal operation.

A model is shipped with the levels of many buildings, pooled, the same for every zone. Commissioning replaces them by
the levels of one site, zone by zone, and corrects the expectation by what it gets wrong there.

r rows, Z zones (1 for pooled levels), S signals, P predictors of the correction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import CheckpointError
from graphghha.windows.row_product import padded, row_product

Floats = NDArray[np.float32]

CLIP = 15.0  # of residuals, in units of the usual width


@dataclass(frozen=True, slots=True)
class Levels:
    """The usual level of everything that features are measured against. The first axis is the zone."""

    slopes: Floats  # [Z S P] of the correction that is subtracted from residuals
    bounds: Floats  # [Z S 2] the corrections that occurred in commissioning, which are not exceeded
    width: Floats  # [Z S] of residuals after the correction
    spans: Floats  # [Z S spans] what residuals averaged over each span rarely exceed
    sizes: Floats  # [Z S sizes] the same for mean absolute residuals
    restlessness: Floats  # [Z S 3] logarithm of the mean step: low, middle, high
    gap: Floats  # [Z S 2] difference to the other zones: middle and width
    heard: NDArray[np.bool_]  # [Z S] the points the site has; a node without one is judged by its neighbors

    def __post_init__(self) -> None:
        shape = self.width.shape
        for field in fields(self):
            array = getattr(self, field.name)
            if array.shape[:2] != shape:
                raise CheckpointError(f"levels: {field.name} has shape {array.shape}, but the width has {shape}")
            if not np.isfinite(array).all():
                raise CheckpointError(f"levels: {field.name} is not finite")
        for name in ("width", "spans", "sizes"):
            if not getattr(self, name).min() > 0:
                raise CheckpointError(f"levels: {name} must be above 0")

    @property
    def num_zones(self) -> int:
        """The number of zones; 1 for levels that are the same for all."""
        return len(self.width)

    def fits(self, zones: int) -> bool:
        """Return whether a building with this many zones can use the levels."""
        return self.num_zones in (1, zones)

    def correct(self, residuals: Floats, predictors: Floats) -> Floats:
        """Return corrected residuals [r Z S] in units of the usual width, clipped, from raw ones and [r Z P]."""
        correction = apply_slopes(self.slopes, self.bounds, predictors)
        corrected: Floats = np.clip((residuals - correction) / self.width, -CLIP, CLIP)
        return corrected

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, for a model directory."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Read what `to_arrays` returns; CheckpointError names what is missing."""
        names = [field.name for field in fields(cls)]
        if missing := [name for name in names if name not in arrays]:
            raise CheckpointError(f"levels: the array {missing[0]!r} is missing")
        floats = {name: np.ascontiguousarray(arrays[name], np.float32) for name in names if name != "heard"}
        return cls(**floats, heard=np.ascontiguousarray(arrays["heard"], np.bool_))


def apply_slopes(slopes: Floats, bounds: Floats, predictors: Floats) -> Floats:
    """Return the corrections [r Z S] for predictors [r Z P]."""
    if not slopes.any():
        return np.zeros((*predictors.shape[:2], slopes.shape[1]), np.float32)
    rows, zones, _ = predictors.shape
    out = np.empty((rows, zones, slopes.shape[1]), np.float32)
    for zone in range(zones):
        weights = np.ascontiguousarray(slopes[min(zone, len(slopes) - 1)].T)
        out[:, zone] = row_product(padded(predictors[:, zone]), weights)[:rows]
    clipped: Floats = np.clip(out, bounds[..., 0], bounds[..., 1])
    return clipped
