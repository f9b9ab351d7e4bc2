"""The scaler: brings signals to comparable units, with a center and a scale per signal fitted on normal data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError, DataError, NotFoundError, SchemaError
from graphghha.plants import Signal
from graphghha.windows.provenance import Fingerprint, Span, fingerprint

FORMAT = "graphghha-scaler/1"

# Tails of the data that are cut off on each side, and the width of the rest in standard deviations of a normal
# distribution. The wide range covers a valve that is mostly shut; the narrow one ignores rare excursions.
SPREADS = ((0.25, 1.349), (0.005, 5.152))


@dataclass(frozen=True, kw_only=True, slots=True)
class ScaleConfig:
    """The clip of scaled values and the least scale of a signal.

    The scale is at least `noise_floor` times the noise or, without noise (modes, setpoints, commands), `span_floor`
    times the span of the instrument. A constant signal would otherwise have a scale of 0.
    """

    clip: float = 10.0
    noise_floor: float = 3.0
    span_floor: float = 0.01

    def __post_init__(self) -> None:
        for name in ("clip", "noise_floor", "span_floor"):
            if not 0 < getattr(self, name) < np.inf:
                raise ConfigError(f"scale.{name} {getattr(self, name)} must be positive and finite")


DEFAULT_SCALE = ScaleConfig()


@dataclass(frozen=True, slots=True)
class Scaler:
    """scaled = clip((value - center) / scale). A value that is not fresh or not finite becomes 0."""

    signals: tuple[str, ...]
    center: tuple[float, ...]
    scale: tuple[float, ...]
    clip: float
    seen: Fingerprint  # the normal data it was fitted on

    def columns(self, signals: Sequence[str | None]) -> "ColumnScaler":
        """Return the scaler for data whose columns have these signals; None is a column without a signal."""
        index = {name: number for number, name in enumerate(self.signals)}
        if unknown := [name for name in signals if name is not None and name not in index]:
            raise NotFoundError(f"scaler: unknown signal {unknown[0]!r}; it was fitted on {', '.join(self.signals)}")
        rows = [index.get(name, -1) if name is not None else -1 for name in signals]
        # a column without a signal never has a fresh value; center 0 and scale 1 are placeholders
        center, scale = np.array([*self.center, 0.0])[rows], np.array([*self.scale, 1.0])[rows]
        return ColumnScaler(center, scale, self.clip)

    def to_dict(self) -> dict[str, Any]:
        """Return what scaler.json holds; floats survive the round trip to the last bit."""
        return {
            "format": FORMAT,
            "signals": list(self.signals),
            "center": list(self.center),
            "scale": list(self.scale),
            "clip": self.clip,
            "seen": self.seen.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` writes; SchemaError names what does not fit."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise SchemaError(f"scaler: expected a JSON object with format {FORMAT!r}")
        try:
            signals = tuple(str(name) for name in data["signals"])
            center, scale = (tuple(float(x) for x in data[key]) for key in ("center", "scale"))
            clip, seen = float(data["clip"]), Fingerprint.from_dict(data["seen"])
        except (KeyError, TypeError, ValueError, OverflowError) as exc:
            raise SchemaError(f"scaler: a field is missing or is not a number: {exc}") from exc
        if not (len(signals) == len(center) == len(scale)):
            raise SchemaError(f"scaler: {len(signals)} signals, {len(center)} centers, {len(scale)} scales")
        if not np.isfinite([*center, *scale, clip]).all() or min([*scale, clip]) <= 0:
            raise SchemaError("scaler: centers must be finite, scales and clip positive")
        return cls(signals, center, scale, clip, seen)


@dataclass(frozen=True, slots=True)
class ColumnScaler:
    """A scaler for the columns of some data."""

    center: NDArray[np.float64]  # [p]
    scale: NDArray[np.float64]  # [p]
    clip: float

    def __call__(self, values: NDArray[Any], fresh: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return scaled values [.. p] of values in SI units. Each cell is computed alone, so portions do not matter."""
        known = fresh & np.isfinite(values)
        with np.errstate(over="ignore"):  # an overflow becomes infinite and is then clipped
            scaled = (np.where(known, values, self.center).astype(np.float64, copy=False) - self.center) / self.scale
        return np.clip(scaled, -self.clip, self.clip).astype(np.float32)


def fit_scaler(
    values: NDArray[Any],
    fresh: NDArray[np.bool_],
    columns: Sequence[str | None],
    signals: Sequence[Signal],
    spans: Sequence[Span],
    config: ScaleConfig = DEFAULT_SCALE,
) -> Scaler:
    """Fit a scaler on normal training data [n p] with the named columns; zones are pooled by signal."""
    if values.ndim != 2 or values.shape != fresh.shape or values.shape[1] != len(columns):
        raise SchemaError(f"scaler: values {values.shape}, mask {fresh.shape} and {len(columns)} columns do not fit")
    if not spans:
        raise DataError("scaler: give the spans it is fitted on, for the leak check")
    names = np.array([name or "" for name in columns])
    center, scale = [], []
    for signal in signals:
        own = names == signal.name
        data = values[:, own][fresh[:, own]].astype(np.float64)
        data = data[np.isfinite(data)]
        if not len(data):
            raise DataError(f"scaler: no fresh value of signal {signal.name!r} in the training data")
        tails = [share for tail, _ in SPREADS for share in (tail, 1 - tail)]
        middle, *quantiles = np.quantile(data, [0.5, *tails]).tolist()
        widths = [
            (high - low) / width for low, high, (_, width) in zip(quantiles[::2], quantiles[1::2], SPREADS, strict=True)
        ]
        floor = config.noise_floor * signal.noise or config.span_floor * (signal.high - signal.low)
        center.append(middle)
        scale.append(max(*widths, floor))
    seen = fingerprint(spans, values, fresh)
    return Scaler(tuple(s.name for s in signals), tuple(center), tuple(scale), config.clip, seen)
