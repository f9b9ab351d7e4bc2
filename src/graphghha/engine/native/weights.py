"""Weights in the order the native kernel reads them: padded, fused, cut into panels, in its number format.

k width, p heads, w = k / 2p; D, wp, G, F are the padded sizes of kernels/plan.h.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import FIXED_GATES
from graphghha.engine.frozen import Floats

Array = NDArray[Any]


@dataclass(frozen=True)
class Sizes:
    """The sizes of a model and their padded values for vectors of `lanes` floats."""

    width: int
    heads: int
    hidden: int
    lanes: int

    @property
    def head_width(self) -> int:
        return self.width // (2 * self.heads)

    @property
    def D(self) -> int:
        return _up(self.width, self.lanes)

    @property
    def F(self) -> int:
        return _up(self.hidden, self.lanes)

    @property
    def wp(self) -> int:
        w = self.head_width
        return 1 << (w - 1).bit_length() if w <= self.lanes else _up(w, self.lanes)

    @property
    def G(self) -> int:
        return _up(self.heads * self.wp, self.lanes)

    def branch_columns(self) -> NDArray[np.int64]:
        """Return the place [k/2] of each column of a branch among its padded G columns."""
        head, within = np.divmod(np.arange(self.width // 2), self.head_width)
        return head * self.wp + within


def _up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple


def padded(W: Floats, rows: int, columns: int) -> Floats:
    """Return W with zeros appended up to the given shape."""
    out = np.zeros((rows, columns), np.float32)
    out[: W.shape[0], : W.shape[1]] = W
    return out


def panels(W: Floats, panel: int, weight_format: str) -> Array:
    """Return W [depth, columns] as panels, one after the other, each of shape [depth / step, columns, step]."""
    step = 2 if weight_format == "bf16 pairs" else 1
    depth = W.shape[0]
    parts = [
        W[:, start : start + panel].reshape(depth // step, step, -1).swapaxes(1, 2).reshape(-1)
        for start in range(0, W.shape[1], panel)
    ]
    return aligned(encoded(np.concatenate(parts), weight_format))


def encoded(W: Floats, weight_format: str) -> Array:
    """Return W in the number format of the kernel."""
    if weight_format == "fp16":
        return W.astype(np.float16)
    if weight_format.startswith("bf16"):
        return bf16_bits(W)
    return W


def bf16_bits(W: Floats) -> NDArray[np.uint16]:
    """Return W as bf16, the upper halves of its fp32 words rounded to nearest even."""
    bits = np.ascontiguousarray(W, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def rounded(W: Floats, dtype: str) -> Floats:
    """Return W rounded to values of the dtype, as fp32."""
    if dtype == "fp16":
        return W.astype(np.float16).astype(np.float32)
    if dtype == "bf16":
        return (bf16_bits(W).astype(np.uint32) << 16).view(np.float32).reshape(W.shape)
    return W


def aligned(array: Array, boundary: int = 64) -> Array:
    """Return a copy that starts on a cache line."""
    raw = np.empty(array.nbytes + boundary, np.uint8)
    start = -raw.ctypes.data % boundary
    out = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out


def with_gate(weights: dict[str, Floats], gate: str) -> dict[str, Floats]:
    """Return the weights of a layer with a fixed gate as those of a learned one.

    W_C = 0 gives gates of sigmoid(0) = 1/2, and scaling W_H corrects for them exactly.
    """
    if gate == "learned":
        return weights
    shares = np.repeat(np.float32(2) * np.array(FIXED_GATES[gate], np.float32), weights["W_H.weight"].shape[1] // 2)
    return {**weights, "W_C.weight": np.zeros_like(weights["W_C.weight"]), "W_H.weight": weights["W_H.weight"] * shares}


def layer_arrays(weights: dict[str, Floats], sizes: Sizes, panel: int, weight_format: str) -> dict[str, Array]:
    """Return the arrays of the structure `Layer` in kernels/plan.h, by field name."""
    D, G, F = sizes.D, sizes.G, sizes.F
    columns = sizes.branch_columns()
    Q1, Q2, K1, K2, V1, V2 = (W.T for W in np.split(weights["W_QKV.weight"], 6))  # each [k k/2]

    def side_by_side(left: Floats, right: Floats) -> Array:
        W = np.zeros((D, 2 * G), np.float32)
        W[: sizes.width, columns] = left
        W[: sizes.width, G + columns] = right
        return panels(W, panel, weight_format)

    W_H = np.zeros((2 * G, D), np.float32)
    W_H[np.concatenate([columns, G + columns]), : sizes.width] = weights["W_H.weight"].T
    scale, shift = weights["norm.weight"], weights["norm.bias"]
    W_1, W_2 = weights["mlp.0.weight"], weights["mlp.2.weight"]
    b_1 = weights["mlp.0.bias"] + W_1 @ shift
    return {
        "W_Q": side_by_side(Q1, Q2 / np.float32(math.sqrt(sizes.head_width))),
        "W_KV": side_by_side(K2, V2),
        "W_K1V1": side_by_side(K1, V1),
        "W_H": panels(W_H, panel, weight_format),
        "W_1": panels(padded((W_1 * scale).T, D, F), panel, weight_format),
        "W_2": panels(padded(W_2.T, F, D), panel, weight_format),
        "W_C": aligned(padded(weights["W_C.weight"], 2, D)),
        "b_1": aligned(padded(b_1[None], 1, F)),
        "b_2": aligned(padded(weights["mlp.2.bias"][None], 1, D)),
    }
