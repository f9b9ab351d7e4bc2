"""What detectors in torch have in common: the scale of readings, and the way from signals to the nodes of a zone.

Z zones, S signals and n nodes of the template, f features per node.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from graphghha.models import Model
from graphghha.nn import adu_from_arrays
from graphghha.windows.features import known_nodes, unmeasured_neighbors


class FrontEnd(nn.Module):
    """The network of a model, its scaler and the layout of its template."""

    center: Tensor  # [S] of the scaler
    scale: Tensor
    source: Tensor  # [n] the signal of each node; S for none
    known_by: Tensor  # [Z S n] signals whose fresh readings make a node known; one zone if all are alike

    def __init__(self, model: Model, heard: NDArray[np.bool_] | None = None) -> None:
        """`heard` [Z S] are the points that a site has; without it, all of them."""
        super().__init__()
        template = model.template
        nodes = template.signal_nodes
        self.adu = adu_from_arrays(template, model.adu_config, model.weights)
        self.tensors = self.adu.tensors(template)  # made here, since an export cannot trace how they are made
        self.clip = model.scaler.clip
        scale = model.scaler.columns(template.point_signals)
        source = np.full(template.num_nodes, len(nodes))
        source[nodes] = np.arange(len(nodes))
        alone = np.eye(len(nodes), dtype=np.bool_)  # what each signal makes known if no other one is fresh
        heard = np.ones((1, len(nodes)), np.bool_) if heard is None else heard
        known_by = [
            known_nodes(alone, nodes, template.num_nodes, unmeasured_neighbors(template, nodes[has])) for has in heard
        ]
        self.keep({"center": scale.center, "scale": scale.scale, "source": source})
        self.keep({"known_by": np.stack(known_by).astype(np.float32)})

    def keep(self, constants: Mapping[str, NDArray[Any]]) -> None:
        """Store arrays as buffers of these names."""
        for name, array in constants.items():
            self.register_buffer(name, torch.from_numpy(np.array(array)))

    def scaled(self, readings: Tensor, fresh: Tensor) -> Tensor:
        """Return scaled values [.. Z S], float, of readings in SI units, double."""
        scaled = (torch.where(fresh, readings, self.center) - self.center) / self.scale
        return scaled.clamp(-self.clip, self.clip).float()

    def to_nodes(self, points: Tensor, fresh: Tensor) -> tuple[Tensor, Tensor]:
        """Turn features of signals [.. Z S f] into those of nodes [.. Z n f]; also return which are known [.. Z n]."""
        points = torch.where(fresh[..., None], points, 0.0)
        x = torch.cat([points, torch.zeros_like(points[..., :1, :])], dim=-2).index_select(-2, self.source)
        known = (fresh.float()[..., None, :] @ self.known_by)[..., 0, :]
        return x, known > 0
