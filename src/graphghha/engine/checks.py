"""Checks that all backends share: shapes and values of features, masks and scores.

b windows in a batch, s nodes, f features per node, c classes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.frozen import Floats
from graphghha.errors import DataError, EngineError, SchemaError

Mask = NDArray[np.bool_]


def as_numpy(values: Any) -> NDArray[Any]:
    """Return a torch tensor, or anything numpy reads, as an array; torch itself is not imported."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if values.is_floating_point() else values  # numpy has no bf16
    return np.asarray(values)


def as_windows(window: Any, num_nodes: int, in_features: int) -> Floats:
    """Return features [s f] or [b s f] of any float type as [b s f] fp32, contiguous, copied only if needed."""
    x = as_numpy(window)
    if not np.issubdtype(x.dtype, np.floating):
        raise SchemaError(f"features must be floating point, got {x.dtype}")
    if x.ndim not in (2, 3) or x.shape[-2:] != (num_nodes, in_features):
        raise SchemaError(
            f"features must be [{num_nodes} nodes, {in_features} features], with or without a batch axis before them, "
            f"got {list(x.shape)}"
        )
    return np.ascontiguousarray(x if x.ndim == 3 else x[None], np.float32)


def as_mask(mask: Any, batch: int, num_nodes: int) -> Mask:
    """Return a mask [s] or [b s] as [b s], contiguous."""
    present = as_numpy(mask)
    if present.dtype != np.bool_ or present.shape not in ((num_nodes,), (1, num_nodes), (batch, num_nodes)):
        raise SchemaError(
            f"the mask must be bool [{num_nodes} nodes] or [{batch} windows, {num_nodes} nodes], "
            f"got {present.dtype} {list(present.shape)}"
        )
    return np.ascontiguousarray(
        present if present.shape == (batch, num_nodes) else np.resize(present, (batch, num_nodes))
    )


def features_error(node: int) -> DataError:
    """Return the error for features of a present, measured node that are not finite."""
    return DataError(f"features of node {node} contain NaN or Inf; mask nodes that have no fresh data")


def scores_error() -> EngineError:
    """Return the error for scores of a present node that are not finite."""
    return EngineError("scores are not finite: the features lie far outside what the model was trained on")


def readable(x: Floats, mask: Mask | None, measured: Mask) -> Floats:
    """Return the features with zeros for nodes that are absent or unmeasured; DataError if another is not finite."""
    read = measured if mask is None else measured & mask
    clean = np.where(read[..., None], x, np.float32(0))
    if not np.isfinite(clean).all():
        raise features_error(int(np.argmax(~np.isfinite(clean).all(axis=(0, 2)))))
    return clean


def finite(probs: Floats, mask: Mask | None) -> Floats:
    """Return the scores; EngineError if those of a present node are not finite."""
    rows = np.isfinite(probs).all(axis=-1)
    if not (rows if mask is None else rows | ~mask).all():
        raise scores_error()
    return probs
