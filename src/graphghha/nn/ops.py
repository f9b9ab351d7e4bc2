"""The arithmetic that several layers share, as pure functions.

b windows in a batch (any number of leading dims), s nodes, p heads, w width of one sub-head, d padded neighbours.
"""

from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

GlobalNorm = Literal["rms", "raw"]
RMS_EPS = 1e-6


def relu2(X: Tensor) -> Tensor:
    """ReLU squared, the nonnegative feature map of Eq. (12)."""
    return X.relu().square()


def wide(X: Tensor) -> Tensor:
    """At least fp32: where softmax and normalisation are computed."""
    return X.to(torch.promote_types(X.dtype, torch.float32))


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
    return X.reshape(*X.shape[:-1], heads, -1)


def global_mix(
    Q1: Float[Tensor, "*b s p w"],
    K1: Float[Tensor, "*b s p w"],
    V1: Float[Tensor, "*b s p w"],
    norm: GlobalNorm,
    node_mask: Bool[Tensor, "*b s"] | None,
) -> Float[Tensor, "*b s p w"]:
    """Linear attention over all present nodes of each graph: Alg. 1 l. 5, head by head.

    `raw` is the printed sum. `rms` normalises the rows of ReLU^2(K1) and V1 and averages over the present
    nodes, so that one node's share of the state is at most w / s whatever it sends.
    """
    if norm == "raw":
        phi_K = relu2(K1)
    else:
        count = node_mask.sum(dim=-1).clamp_min(1) if node_mask is not None else torch.tensor(Q1.shape[-3])
        # 1/sqrt(s) on either factor instead of 1/s on one: neither overflows nor vanishes in 16 bit
        share = wide(Q1.new_ones(())).mul(count).rsqrt()[..., None, None, None]
        phi_K = (rms_rows(relu2(wide(K1))) * share).to(K1.dtype)
        V1 = (rms_rows(V1) * share).to(V1.dtype)
    if node_mask is not None:
        phi_K = phi_K * node_mask[..., None, None]
    # keys meet values first, so the cost stays linear in s
    state = torch.einsum("...spw,...spv->...pwv", phi_K, V1)
    return torch.einsum("...spw,...pwv->...spv", relu2(Q1), state)
