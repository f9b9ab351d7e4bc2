"""The arithmetic that several layers share, as pure functions.

b windows in a batch (any number of leading dims), s nodes, p heads, w width of one sub-head, d padded neighbors.
"""

from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float, Num
from torch import Tensor

from graphghha.errors import ConfigError

GlobalNorm = Literal["rms", "raw"]
RMS_EPS = 1e-6
# Largest entry of ReLU^2(Q1). Without a limit, the row of a node under attack would overflow within a few layers and
# spread to all others through the global state. Entries of trained queries are far smaller.
QUERY_LIMIT = 1e3
PROJECTION_LIMIT = 1e8  # of Q, K and V: their fourth power is still finite in fp32


def has_values(X: Tensor) -> bool:
    """Return whether values can be inspected: under a compiler or a CUDA graph, operations are only recorded."""
    return not torch.compiler.is_compiling() and not (X.is_cuda and torch.cuda.is_current_stream_capturing())


def relu2(X: Tensor) -> Tensor:
    """Return ReLU squared, the nonnegative feature map of Eq. (12)."""
    return X.relu().square()


def wide(X: Tensor) -> Tensor:
    """Return X in at least fp32, the precision of softmax and normalization."""
    return X.to(torch.promote_types(X.dtype, torch.float32))


def bounded(X: Tensor) -> Tensor:
    """Return projections clipped so that the arithmetic that follows cannot overflow."""
    limit = min(PROJECTION_LIMIT, torch.finfo(X.dtype).max)
    return X.clamp(-limit, limit)


def masked_softmax(S: Float[Tensor, "... n"], mask: Bool[Tensor, "... n"]) -> Float[Tensor, "... n"]:
    """Return the softmax over the unmasked entries of the last axis; a row without any is zero. Computed in fp32."""
    # finfo.min of the wide copy: a constant such as -1e9 would overflow in fp16
    scores = wide(S)
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return (scores.softmax(dim=-1) * mask).to(S.dtype)


def rms_rows(X: Float[Tensor, "... w"]) -> Float[Tensor, "... w"]:
    """Return rows scaled to a root mean square of at most one, |row| <= sqrt(w), in at least fp32."""
    X = wide(X)
    return X * (X.square().mean(dim=-1, keepdim=True) + RMS_EPS).rsqrt()


def split_heads(X: Float[Tensor, "*b s k"], heads: int) -> Float[Tensor, "*b s p w"]:
    """Return X with its last axis split into heads."""
    return X.reshape(*X.shape[:-1], heads, X.shape[-1] // heads)


def check_global_norm(norm: str) -> None:
    """Raise ConfigError if the name is not that of a normalization."""
    if norm not in get_args(GlobalNorm):
        raise ConfigError(f"unknown global_norm {norm!r}; use {' | '.join(get_args(GlobalNorm))}")


def feature_maps(
    Q1: Float[Tensor, "*b s p w"],
    K1: Float[Tensor, "*b s p w"],
    V1: Float[Tensor, "*b s p w"],
    norm: GlobalNorm,
    count: Num[Tensor, "*#b"],
) -> tuple[Float[Tensor, "*b s p w"], Float[Tensor, "*b s p w"], Float[Tensor, "*b s p w"]]:
    """Return ReLU^2(Q1), ReLU^2(K1) and V1 as the global branch multiplies them, for graphs of `count` present nodes.

    `raw` is the printed sum. `rms` normalizes the rows of ReLU^2(K1) and V1 and averages over the present nodes, so
    that the share of one node in the state is at most w / s, whatever its features.
    """
    if norm == "raw":
        return relu2(Q1), relu2(K1), V1
    # 1/sqrt(s) on both factors instead of 1/s on one, so that neither overflows or vanishes in 16 bit
    share = count.to(torch.promote_types(K1.dtype, torch.float32)).clamp_min(1).rsqrt()[..., None, None, None]
    phi_Q = relu2(wide(Q1)).clamp_max(QUERY_LIMIT).to(Q1.dtype)
    phi_K = (rms_rows(relu2(wide(K1))) * share).to(K1.dtype)
    return phi_Q, phi_K, (rms_rows(V1) * share).to(V1.dtype)


def global_mix(
    Q1: Float[Tensor, "*b s p w"],
    K1: Float[Tensor, "*b s p w"],
    V1: Float[Tensor, "*b s p w"],
    norm: GlobalNorm,
    node_mask: Bool[Tensor, "*b s"] | None,
) -> Float[Tensor, "*b s p w"]:
    """Return the linear attention over all present nodes of one graph, head by head (Alg. 1 l. 5)."""
    count = torch.full((), Q1.shape[-3], device=Q1.device) if node_mask is None else node_mask.sum(dim=-1)
    phi_Q, phi_K, V1 = feature_maps(Q1, K1, V1, norm, count)
    if node_mask is not None:
        phi_K = torch.where(node_mask[..., None, None], phi_K, 0.0)
    # keys are multiplied with values first, so the cost is linear in s
    state = torch.einsum("...spw,...spv->...pwv", phi_K, V1)
    return torch.einsum("...spw,...pwv->...spv", phi_Q, state)
