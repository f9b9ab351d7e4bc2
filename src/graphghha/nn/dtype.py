"""Number formats by name. Products and sums run in the low precision, softmax and normalization in fp32."""

from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from graphghha.errors import ConfigError
from graphghha.nn.ops import wide

DtypeName = Literal["fp32", "fp16", "bf16"]
_DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def torch_dtype(name: DtypeName) -> torch.dtype:
    """Return the torch dtype of a name."""
    if name not in _DTYPES:
        raise ConfigError(f"unknown dtype {name!r}; use {' | '.join(get_args(DtypeName))}")
    return _DTYPES[name]


class LayerNorm32(nn.LayerNorm):
    """LayerNorm that computes in fp32, whatever the dtype of its weights."""

    def forward(self, X: Float[Tensor, "... k"]) -> Float[Tensor, "... k"]:
        """Return the normalized rows of X."""
        normed = F.layer_norm(wide(X), self.normalized_shape, wide(self.weight), wide(self.bias), self.eps)
        return normed.to(X.dtype)
