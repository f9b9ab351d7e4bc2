"""Algorithm 1 written with loops, as the reference for values and gradients of every fast implementation.

It takes one graph; comments give the line numbers of Algorithm 1. With one head and the raw sum it is the printed
algorithm. s nodes, k width = k1 global + k2 local, p heads.
"""

import math
from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from graphghha.nn.ops import QUERY_LIMIT, RMS_EPS, GlobalNorm


def reference_layer(
    H: Float[Tensor, "s k"],
    adj: Bool[Tensor, "s s"],
    weights: Mapping[str, Tensor],
    *,
    heads: int = 1,
    global_norm: GlobalNorm = "raw",
) -> Float[Tensor, "s k"]:
    """Return the output of one GraphGHHA layer. `adj` is already capped; `weights` are those of a `GraphGHHA`."""
    s, k = H.shape
    k1 = k2 = k // 2
    W_Q, W_K, W_V = (W.T for W in weights["W_QKV.weight"].chunk(3))
    W_C, W_H = weights["W_C.weight"].T, weights["W_H.weight"].T

    Q = H @ W_Q  # [s k]  l. 1
    K = H @ W_K  # l. 2
    V = H @ W_V  # l. 3
    (Q1, Q2), (K1, K2), (V1, V2) = (X.split([k1, k2], dim=1) for X in (Q, K, V))  # l. 4

    H1 = torch.cat(
        [_global_head(Q1[:, a:b], K1[:, a:b], V1[:, a:b], global_norm) for a, b in _slices(k1, heads)], dim=1
    )  # [s k1]  l. 5

    H2_rows = []
    for i in range(s):  # l. 7
        neighbors = [j for j in range(s) if adj[i, j]]  # l. 9-10; the cap has been applied
        parts = []
        for a, b in _slices(k2, heads):
            if not neighbors:
                parts.append(H.new_zeros(b - a))  # no neighbor: the local row is zero
                continue
            S2 = torch.stack([Q2[i, a:b] @ K2[j, a:b] / math.sqrt(b - a) for j in neighbors])  # l. 11
            A2 = torch.softmax(S2, dim=0)  # l. 15
            parts.append(sum((A2[n] * V2[j, a:b] for n, j in enumerate(neighbors)), H.new_zeros(b - a)))  # l. 16
        H2_rows.append(torch.cat(parts))
    H2 = torch.stack(H2_rows)  # [s k2]  l. 17

    C1, C2 = torch.sigmoid(H @ W_C).split(1, dim=1)  # [s 1]  l. 18
    H_cat = torch.cat([C1 * H1, C2 * H2], dim=1)  # [s k]  l. 19
    H_att = H_cat @ W_H + H  # l. 20
    return _mlp(_layer_norm(H_att, weights), weights) + H_att  # l. 21


def _slices(width: int, heads: int) -> list[tuple[int, int]]:
    step = width // heads
    return [(h * step, (h + 1) * step) for h in range(heads)]


def _global_head(Q1: Tensor, K1: Tensor, V1: Tensor, global_norm: GlobalNorm) -> Tensor:
    phi_Q, phi_K = torch.relu(Q1) ** 2, torch.relu(K1) ** 2
    if global_norm == "raw":
        return phi_Q @ (phi_K.T @ V1)
    phi_Q = torch.clamp(phi_Q, max=QUERY_LIMIT)
    phi_K = phi_K / torch.sqrt((phi_K**2).mean(dim=1, keepdim=True) + RMS_EPS)
    V1 = V1 / torch.sqrt((V1**2).mean(dim=1, keepdim=True) + RMS_EPS)
    return phi_Q @ (phi_K.T @ V1 / len(V1))


def _layer_norm(H: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    centred = H - H.mean(dim=1, keepdim=True)
    scale = torch.sqrt((centred**2).mean(dim=1, keepdim=True) + 1e-5)
    return centred / scale * weights["norm.weight"] + weights["norm.bias"]


def _mlp(H: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    hidden = F.linear(H, weights["mlp.0.weight"], weights["mlp.0.bias"]).relu()
    return F.linear(hidden, weights["mlp.2.weight"], weights["mlp.2.bias"])
