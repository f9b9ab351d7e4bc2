"""The points of a site: the nodes of its graph that carry a signal, with the unit and the limits of each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from graphghha._util.suggest import did_you_mean
from graphghha.errors import ConfigError, NotFoundError
from graphghha.plants.base import Plant, Signal

# An instrument may read a little beyond its range: this many times its noise, or this share of the range.
NOISE_MARGIN, RANGE_MARGIN = 5.0, 0.01


@dataclass(frozen=True, slots=True)
class Points:
    """The columns of a site: names, SI units, and the limits of what an instrument can read."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    columns: dict[str, int]
    signals: dict[str, int]  # signal name -> column, for signals that one point only carries
    states: dict[str, tuple[str, ...]]  # signal name -> names of its states, for signals that have some

    @classmethod
    def from_names(cls, plant: Plant, names: Sequence[str]) -> Self:
        """Look up the points with these names, which are nodes of the plant's template, each in its zone."""
        signals = [_find_signal(plant, name) for name in names]
        columns = {name: column for column, name in enumerate(names)}
        if not names or len(columns) < len(names):
            raise ConfigError("points: give at least one name, and each name only once")
        short = [name.rpartition("/")[2] for name in names]
        times = Counter(short)
        margin = np.array([max(NOISE_MARGIN * s.noise, RANGE_MARGIN * (s.high - s.low)) for s in signals])
        return cls(
            names=tuple(names),
            units=tuple(signal.unit for signal in signals),
            low=np.array([signal.low for signal in signals]) - margin,
            high=np.array([signal.high for signal in signals]) + margin,
            columns=columns,
            signals={name: column for column, name in enumerate(short) if times[name] == 1},
            states={name: signal.states for name, signal in zip(short, signals, strict=True) if signal.states},
        )

    def __len__(self) -> int:
        return len(self.names)

    def impossible(self, columns: NDArray[np.int32] | slice, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return where a value is outside of what its instrument can read. A missing value (NaN) is not impossible."""
        wrong: NDArray[np.bool_] = (values < self.low[columns]) | (values > self.high[columns])
        return wrong


def _find_signal(plant: Plant, point: str) -> Signal:
    template = plant.template
    own = point
    while True:
        if own in template.names:
            signal = template.signals[template.index(own)]
            if signal is None:
                raise NotFoundError(f"point {point!r}: node {own!r} of plant {plant.name!r} has no signal")
            return plant.signal(signal)
        own, slash, rest = own.partition("/")
        if not slash:
            hint = did_you_mean(point.rpartition("/")[2], template.points)
            raise NotFoundError(f"point {point!r}: plant {plant.name!r} has no such node{hint}")
        own = rest
