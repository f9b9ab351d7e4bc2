"""Fit a calibration on validation data: temperature scaling with biases, p = softmax(a z + b).

The temperature corrects overconfidence. The biases correct for training data in which attacks are more frequent than in
operation. With so few parameters there is little risk of overfitting the validation data.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError, SchemaError
from graphghha.models import Calibration
from graphghha.models.calibration import softmax
from graphghha.windows import Span, fingerprint

Floats = NDArray[np.float64]

# Penalty on the distance from the identity, in nats per unit squared. It matters only for separable data, whose
# likelihood has no maximum. It must be tiny, because the mean loss of a good model is a thousandth of a nat.
RIDGE = 1e-8
MAX_STEPS = 100

Biases = Literal["each", "one", "none"]
# the first class keeps bias 0, since only differences between biases matter
_FREE: dict[str, Callable[[int], Floats]] = {
    "each": lambda classes: np.eye(classes),
    "one": lambda classes: np.column_stack([np.eye(classes)[0], 1.0 - np.eye(classes)[0]]),
    "none": lambda classes: np.eye(classes)[:, :1],
}
TOLERANCE = 1e-10


def fit_calibration(
    logits: NDArray[Any],
    labels: NDArray[np.integer[Any]],
    spans: Sequence[Span],
    *,
    weights: NDArray[Any] | None = None,
    biases: Biases = "each",
) -> Calibration:
    """Minimize the mean log loss of labels [n] given logits [n c]: a convex problem, solved by damped Newton steps.

    A row counts `weights` [n] times. `biases` are fitted for each class, once for all attack classes, or not at all.
    """
    if logits.ndim != 2 or labels.shape != logits.shape[:1] or not len(labels):
        raise SchemaError(f"calibration: logits {logits.shape} and labels {labels.shape} do not fit together")
    if not np.isfinite(logits).all():
        raise DataError("calibration: a logit is not finite; leave unknown nodes out")
    if not spans:
        raise DataError("calibration: `spans` is empty; name the rows it is fitted on, which the leak check needs")
    z = logits.astype(np.float64)
    num_classes = z.shape[1]
    share = np.ones(len(z)) if weights is None else weights.astype(np.float64)
    share = (share / share.sum())[:, None]
    target = np.zeros_like(z)
    target[np.arange(len(z)), labels] = 1.0
    free = _FREE[biases](num_classes)  # [c k] maps the fitted parameters to theta: slope, then biases 1 .. c - 1
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
    """Return the gradient [c] and the Hessian [c c] of the mean loss."""
    p = softmax(_apply(theta, z))
    mean_z = (p * z).sum(axis=1, keepdims=True)
    q = share * p  # [n c], sums to one
    gradient = np.concatenate([[(share * (p - target) * z).sum()], (share * (p - target)).sum(axis=0)[1:]])
    hessian = np.empty((len(theta), len(theta)))
    hessian[0, 0] = (q * z * z).sum() - (share * mean_z**2).sum()
    hessian[0, 1:] = hessian[1:, 0] = (q * (z - mean_z)).sum(axis=0)[1:]
    hessian[1:, 1:] = (np.diag(q.sum(axis=0)) - p.T @ q)[1:, 1:]
    return gradient + RIDGE * (theta - identity), hessian + RIDGE * np.eye(len(theta))
