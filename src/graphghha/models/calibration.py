"""Calibration: turns the logits of a trained model into probabilities that match observed frequencies.

p = softmax(a z + b) with one inverse temperature a and one bias b per class.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha._util.fields import check_fields, number
from graphghha.errors import SchemaError
from graphghha.windows import Fingerprint

Floats = NDArray[np.float64]

FORMAT = "graphghha-calibration/1"
MOST_SLOPE, MOST_BIAS, MOST_CLASSES = 100.0, 50.0, 100
MIN_PROBABILITY = 1e-12  # before a logarithm is taken


@dataclass(frozen=True, slots=True)
class Calibration:
    """Inverse temperature, one bias per class (the first is 0), and the validation data they come from."""

    inverse_temperature: float
    bias: tuple[float, ...]
    seen: Fingerprint

    def __call__(self, logits: NDArray[Any]) -> Floats:
        """Return the calibrated probabilities [.. c] of logits [.. c]."""
        if logits.shape[-1] != len(self.bias):
            raise SchemaError(
                f"calibration: the logits have {logits.shape[-1]} classes, but {len(self.bias)} were fitted"
            )
        return softmax(self.inverse_temperature * logits.astype(np.float64) + np.array(self.bias))

    def recalibrate(self, probs: NDArray[Any]) -> NDArray[np.float32]:
        """Return the calibrated form of probabilities [.. c] that a softmax gave."""
        return self(log_probabilities(probs)).astype(np.float32)

    def to_dict(self) -> dict[str, Any]:
        """Return what calibration.json holds."""
        return {
            "format": FORMAT,
            "inverse_temperature": self.inverse_temperature,
            "bias": list(self.bias),
            "seen": self.seen.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read what `to_dict` writes; SchemaError names the field that is missing, unknown or out of range."""
        try:
            check_fields(data, ("format", "inverse_temperature", "bias", "seen"))
            if data["format"] != FORMAT:
                raise ValueError(f"it has format {data['format']!r}, but this version reads {FORMAT!r}")
            slope = number("inverse_temperature", data["inverse_temperature"])
            bias = tuple(number("bias", each) for each in data["bias"])
            seen = Fingerprint.from_dict(data["seen"])
        except (SchemaError, ValueError, TypeError, OverflowError) as exc:
            raise SchemaError(f"calibration: {exc}") from exc
        if slope <= 0 or len(bias) < 2:
            raise SchemaError("calibration: inverse_temperature must be positive, and two classes or more need a bias")
        if not 1 / MOST_SLOPE <= slope <= MOST_SLOPE or max(map(abs, bias)) > MOST_BIAS or len(bias) > MOST_CLASSES:
            raise SchemaError(
                f"calibration: inverse_temperature must lie between {1 / MOST_SLOPE:g} and {MOST_SLOPE:g}, and every "
                f"bias between -{MOST_BIAS:g} and {MOST_BIAS:g}, of at most {MOST_CLASSES} classes"
            )
        return cls(slope, bias, seen)


def softmax(logits: Floats) -> Floats:
    """Return the softmax over the last axis, without overflow."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    probs: Floats = raised / raised.sum(axis=-1, keepdims=True)
    return probs


def log_probabilities(probs: NDArray[Any]) -> NDArray[Any]:
    """Return the logits of a softmax up to a constant, which another softmax does not see."""
    logits: NDArray[Any] = np.log(np.maximum(probs, MIN_PROBABILITY))
    return logits
