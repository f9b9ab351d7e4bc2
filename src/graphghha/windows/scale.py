"""Signals in comparable units: a robust scaler fitted on normal training data, one pair of numbers per signal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError, DataError, NotFoundError, SchemaError
from graphghha.plants import Signal
from graphghha.windows.provenance import Fingerprint, Span, fingerprint

FORMAT = "graphghha-scaler/1"

# Central shares of the data and the width each has, in standard deviations, for a normal distribution. The wide
# one sees a valve that is shut three quarters of the time; the narrow one ignores rare excursions.
SPREADS = ((0.25, 1.349), (0.005, 5.152))


@dataclass(frozen=True, kw_only=True, slots=True)
class ScaleConfig:
    """Floors keep a constant signal from exploding: its scale is at least a few times its noise, or a share of
    the instrument's span when it has none (modes, setpoints, commands)."""

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
    """scaled = clip((value - center) / scale); what is not fresh or not a number becomes 0, the middle."""

    signals: tuple[str, ...]
    center: tuple[float, ...]
    scale: tuple[float, ...]
    clip: float
    seen: Fingerprint  # the normal data it was fitted on

    def columns(self, signals: Sequence[str | None]) -> "ColumnScaler":
        """Laid out for data whose columns carry these signals, zone after zone; None is a node without one."""
        index = {name: number for number, name in enumerate(self.signals)}
        if unknown := [name for name in signals if name is not None and name not in index]:
            raise NotFoundError(f"scaler: no signal {unknown[0]!r}; it knows {', '.join(self.signals)}")
        rows = [index.get(name, -1) if name is not None else -1 for name in signals]
        # a column without a signal has scale 1 and center 0: it never holds a fresh value anyway
        center, scale = np.array([*self.center, 0.0])[rows], np.array([*self.scale, 1.0])[rows]
        return ColumnScaler(center, scale, self.clip)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON; floats survive the round trip to the last bit."""
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
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise SchemaError(f"scaler: expected a JSON object with format {FORMAT!r}")
        try:
            signals = tuple(str(name) for name in data["signals"])
            center, scale = (tuple(float(x) for x in data[key]) for key in ("center", "scale"))
            clip, seen = float(data["clip"]), Fingerprint.from_dict(data["seen"])
        except (KeyError, TypeError, ValueError) as exc:
            raise SchemaError(f"scaler: a field is missing or no number: {exc}") from exc
        if not (len(signals) == len(center) == len(scale)):
            raise SchemaError(f"scaler: {len(signals)} signals, {len(center)} centers, {len(scale)} scales")
        if not np.isfinite([*center, *scale, clip]).all() or min([*scale, clip]) <= 0:
            raise SchemaError("scaler: centers must be finite, scales and clip positive")
        return cls(signals, center, scale, clip, seen)


@dataclass(frozen=True, slots=True)
class ColumnScaler:
    """A scaler spread over the columns of some data."""

    center: NDArray[np.float64]  # [p]
    scale: NDArray[np.float64]  # [p]
    clip: float

    def __call__(self, values: NDArray[Any], fresh: NDArray[np.bool_]) -> NDArray[np.float32]:
        """[.. p] in SI to [.. p] scaled. Computed cell by cell: one row or a year give the same bytes."""
        known = fresh & np.isfinite(values)
        with np.errstate(over="ignore"):  # 1e308 becomes infinite, then the clip
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
    """Fit on normal training data [n p] whose columns carry the named signals; zones of one signal are pooled."""
    if values.ndim != 2 or values.shape != fresh.shape or values.shape[1] != len(columns):
        raise SchemaError(f"scaler: values {values.shape}, mask {fresh.shape} and {len(columns)} columns do not fit")
    if not spans:
        raise DataError("scaler: say which rows it is fitted on; the leak check needs them")
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
