"""The arithmetic that several layers share, as pure functions.

b windows in a batch (any number of leading dims), s nodes, p heads, w width of one sub-head, d padded neighbours.
"""

from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float, Num
from torch import Tensor

from graphghha.errors import ConfigError

GlobalNorm = Literal["rms", "raw"]
RMS_EPS = 1e-6
# No query speaks louder than this: ReLU^2 squares, and a hostile node's own row would else reach infinity in a few
# layers and poison the state of all the others. Trained queries stay far below.
QUERY_LIMIT = 1e3
PROJECTION_LIMIT = 1e8  # of Q, K and V: their fourth power is still a number in fp32


def may_look(X: Tensor) -> bool:
    """Whether values may be looked at: a compiler and a CUDA graph record operations and know no values yet."""
    return not torch.compiler.is_compiling() and not (X.is_cuda and torch.cuda.is_current_stream_capturing())


def relu2(X: Tensor) -> Tensor:
    """ReLU squared, the nonnegative feature map of Eq. (12)."""
    return X.relu().square()


def wide(X: Tensor) -> Tensor:
    """At least fp32: where softmax and normalisation are computed."""
    return X.to(torch.promote_types(X.dtype, torch.float32))


def bounded(X: Tensor) -> Tensor:
    """Projections within reach of the arithmetic that follows."""
    limit = min(PROJECTION_LIMIT, torch.finfo(X.dtype).max)
    return X.clamp(-limit, limit)


def masked_softmax(S: Float[Tensor, "... n"], mask: Bool[Tensor, "... n"]) -> Float[Tensor, "... n"]:
    """Softmax over the unmasked entries of the last axis; a row without any is zero. fp32 inside."""
    # finfo.min of the wide copy: a constant such as -1e9 would overflow in fp16
    scores = wide(S)
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return (scores.softmax(dim=-1) * mask).to(S.dtype)


def rms_rows(X: Float[Tensor, "... w"]) -> Float[Tensor, "... w"]:
    """Rows scaled to a root mean square of at most one: |row| <= sqrt(w). At least fp32."""
    X = wide(X)
    return X * (X.square().mean(dim=-1, keepdim=True) + RMS_EPS).rsqrt()


def split_heads(X: Float[Tensor, "*b s k"], heads: int) -> Float[Tensor, "*b s p w"]:
    return X.reshape(*X.shape[:-1], heads, X.shape[-1] // heads)


def check_global_norm(norm: str) -> None:
    if norm not in get_args(GlobalNorm):
        raise ConfigError(f"unknown global_norm {norm!r}; use {' | '.join(get_args(GlobalNorm))}")


def feature_maps(
    Q1: Float[Tensor, "*b s p w"],
    K1: Float[Tensor, "*b s p w"],
    V1: Float[Tensor, "*b s p w"],
    norm: GlobalNorm,
    count: Num[Tensor, "*#b"],
) -> tuple[Float[Tensor, "*b s p w"], Float[Tensor, "*b s p w"], Float[Tensor, "*b s p w"]]:
    """ReLU^2(Q1), ReLU^2(K1) and V1 as the global branch multiplies them, for graphs of `count` present nodes.

    `raw` is the printed sum. `rms` normalises the rows of ReLU^2(K1) and V1 and averages over the present nodes,
    so that one node's share of the state is at most w / s whatever it sends.
    """
    if norm == "raw":
        return relu2(Q1), relu2(K1), V1
    # 1/sqrt(s) on either factor instead of 1/s on one: neither overflows nor vanishes in 16 bit
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
    """Linear attention over all present nodes of one graph: Alg. 1 l. 5, head by head."""
    count = torch.full((), Q1.shape[-3], device=Q1.device) if node_mask is None else node_mask.sum(dim=-1)
    phi_Q, phi_K, V1 = feature_maps(Q1, K1, V1, norm, count)
    if node_mask is not None:
        phi_K = torch.where(node_mask[..., None, None], phi_K, 0.0)
    # keys meet values first, so the cost stays linear in s
    state = torch.einsum("...spw,...spv->...pwv", phi_K, V1)
    return torch.einsum("...spw,...pwv->...spv", phi_Q, state)
