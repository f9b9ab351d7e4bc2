"""Calibration: logits of a trained model to probabilities that mean what they say, fitted on validation data.

p = softmax(a z + b): one inverse temperature, and one bias for all attacks or for each class. The temperature cures
overconfidence, the biases cure a training mix in which attacks were more frequent than in life. A handful of numbers
cannot learn a validation set by heart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from graphghha._util.fields import check_fields, number
from graphghha.errors import DataError, SchemaError
from graphghha.windows import Fingerprint, Span, fingerprint

Floats = NDArray[np.float64]

FORMAT = "graphghha-calibration/1"
# Pull towards the identity, in nats per unit squared. It decides only when validation data are separable and the
# likelihood has no maximum: attacks are rare, and the mean loss of a good model is a thousandth of a nat.
RIDGE = 1e-8
MAX_STEPS = 100

Biases = Literal["each", "one", "none"]
# the first class keeps bias 0: only differences count
_FREE: dict[str, Callable[[int], Floats]] = {
    "each": lambda classes: np.eye(classes),
    "one": lambda classes: np.column_stack([np.eye(classes)[0], 1.0 - np.eye(classes)[0]]),
    "none": lambda classes: np.eye(classes)[:, :1],
}
TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True)
class Calibration:
    """Inverse temperature, one bias per class (the first is 0), and the validation data they come from."""

    inverse_temperature: float
    bias: tuple[float, ...]
    seen: Fingerprint

    def __call__(self, logits: NDArray[Any]) -> Floats:
        """Probabilities [.. c] of logits [.. c]."""
        if logits.shape[-1] != len(self.bias):
            raise SchemaError(f"calibration: {logits.shape[-1]} classes in the logits, {len(self.bias)} fitted")
        return _softmax(self.inverse_temperature * logits.astype(np.float64) + np.array(self.bias))

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
                raise ValueError(f"format {data['format']!r}, this version reads {FORMAT!r}")
            slope = number("inverse_temperature", data["inverse_temperature"])
            bias = tuple(number("bias", each) for each in data["bias"])
            seen = Fingerprint.from_dict(data["seen"])
        except (SchemaError, ValueError, TypeError) as exc:
            raise SchemaError(f"calibration: {exc}") from exc
        if slope <= 0 or len(bias) < 2:
            raise SchemaError("calibration: inverse_temperature must be positive, and two classes or more need a bias")
        return cls(slope, bias, seen)


def fit_calibration(
    logits: NDArray[Any],
    labels: NDArray[np.integer[Any]],
    spans: Sequence[Span],
    *,
    weights: NDArray[Any] | None = None,
    biases: Biases = "each",
) -> Calibration:
    """Least mean log loss of labels [n] given logits [n c]: a convex problem, solved by damped Newton steps.

    `weights` [n] say how many rows each of these stands for. `biases`: one for each class, one for all attack classes
    together, or none.
    """
    if logits.ndim != 2 or labels.shape != logits.shape[:1] or not len(labels):
        raise SchemaError(f"calibration: logits {logits.shape} and labels {labels.shape} do not fit")
    if not np.isfinite(logits).all():
        raise DataError("calibration: a logit is not finite; leave unknown nodes out")
    if not spans:
        raise DataError("calibration: say which rows it is fitted on; the leak check needs them")
    z = logits.astype(np.float64)
    num_classes = z.shape[1]
    share = np.ones(len(z)) if weights is None else weights.astype(np.float64)
    share = (share / share.sum())[:, None]
    target = np.zeros_like(z)
    target[np.arange(len(z)), labels] = 1.0
    free = _FREE[biases](num_classes)  # [c k] how theta (slope, then biases 1 .. c - 1) follows from what is fitted
    identity = np.zeros(num_classes)
    identity[0] = 1.0
    theta = identity.copy()
    loss = _loss(theta, z, target, share, identity)
    for _ in range(MAX_STEPS):
        gradient, hessian = _derivatives(theta, z, target, share, identity)
        step = free @ np.linalg.solve(free.T @ hessian @ free, free.T @ gradient)
        decrement = float(gradient @ step)
        if decrement < TOLERANCE:
            break
        size = 1.0
        while (following := _loss(theta - size * step, z, target, share, identity)) > loss - 1e-4 * size * decrement:
            size /= 2.0
            if size < 1e-12:
                break
        theta, loss = theta - size * step, min(loss, following)
    if theta[0] <= 0:
        raise DataError("calibration: higher logits go with rarer labels; was the model trained on these classes?")
    return Calibration(float(theta[0]), (0.0, *theta[1:].tolist()), fingerprint(spans, logits, labels))


def _apply(theta: Floats, z: Floats) -> Floats:
    scaled: Floats = theta[0] * z + np.concatenate([[0.0], theta[1:]])
    return scaled


def _loss(theta: Floats, z: Floats, target: Floats, share: Floats, identity: Floats) -> float:
    scaled = _apply(theta, z)
    top = scaled.max(axis=1, keepdims=True)
    log_total = np.log(np.exp(scaled - top).sum(axis=1)) + top[:, 0]
    penalty = 0.5 * RIDGE * float(((theta - identity) ** 2).sum())
    return float((share[:, 0] * (log_total - (scaled * target).sum(axis=1))).sum()) + penalty


def _derivatives(theta: Floats, z: Floats, target: Floats, share: Floats, identity: Floats) -> tuple[Floats, Floats]:
    """Gradient [c] and Hessian [c c] of the mean loss: the covariance, under p, of what each parameter moves."""
    p = _softmax(_apply(theta, z))
    mean_z = (p * z).sum(axis=1, keepdims=True)
    q = share * p  # [n c], sums to one
    gradient = np.concatenate([[(share * (p - target) * z).sum()], (share * (p - target)).sum(axis=0)[1:]])
    hessian = np.empty((len(theta), len(theta)))
    hessian[0, 0] = (q * z * z).sum() - (share * mean_z**2).sum()
    hessian[0, 1:] = hessian[1:, 0] = (q * (z - mean_z)).sum(axis=0)[1:]
    hessian[1:, 1:] = (np.diag(q.sum(axis=0)) - p.T @ q)[1:, 1:]
    return gradient + RIDGE * (theta - identity), hessian + RIDGE * np.eye(len(theta))


def _softmax(scaled: Floats) -> Floats:
    raised = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    probs: Floats = raised / raised.sum(axis=-1, keepdims=True)
    return probs
