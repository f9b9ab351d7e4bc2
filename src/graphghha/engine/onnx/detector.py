"""A whole detector as one torch module: from a row of readings and a memory to probabilities, alarms and the memory.

`graphghha export` writes it as ONNX. It repeats windows.features in torch, so that a gateway does not need this
package: the same windows, one row at a time, with the last rows as the memory instead of running sums.

Z zones, S signals and n nodes of the template, f features per node, c classes, h rows of memory.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from graphghha.engine.front_end import FrontEnd
from graphghha.engine.onnx.memory import MemoryPart, alarm_flags, append, quantized, summaries
from graphghha.errors import ConfigError
from graphghha.models import Model
from graphghha.nn import AduConfig
from graphghha.nn.graph_tensors import GraphTensors
from graphghha.nn.padded_neighbors import Neighbors
from graphghha.windows import expectation, features

VALUE_ROWS = max(features.VALUES.history_rows, features.RECENT.history_rows)
RESIDUAL_ROWS = max(features.RESIDUALS.history_rows, features.SIZES.history_rows)


class Step(NamedTuple):
    """The outputs for one row; the last three are the memory for the next row."""

    probabilities: Tensor  # [Z n c] calibrated; NaN where a node is unknown
    alarm: Tensor  # [Z n] 1 where P(attack) reaches the shipped threshold, 0 where not, -1 where unknown
    values: Tensor  # [h Z S] scaled, newest last
    residuals: Tensor  # [h Z S]
    known: Tensor  # [h Z S]


class DetectorModule(FrontEnd):
    """One model on any number of zones that share no nodes. An empty memory is all zeros, with nothing known."""

    MEMORY = (
        MemoryPart("values", VALUE_ROWS),
        MemoryPart("residuals", RESIDUAL_ROWS),
        MemoryPart("known", RESIDUAL_ROWS, np.bool_),
    )
    norm_center: Tensor  # [S f]
    norm_scale: Tensor
    floor: Tensor  # [S] of the expectation, whose weights follow
    W1: Tensor
    b1: Tensor
    W2: Tensor
    b2: Tensor
    W3: Tensor
    b3: Tensor
    bias: Tensor  # [c] of the calibration
    nbr: Tensor  # the template's graph, as GraphTensors holds it
    nbr_mask: Tensor
    kinds: Tensor
    roles: Tensor

    def __init__(self, model: Model) -> None:
        if AduConfig.from_dict(model.adu_config).neighbors.neighbor_divisor is not None:
            raise ConfigError(
                "export: the neighbor cap of this model depends on the size of the graph; use max_neighbors instead"
            )
        super().__init__(model)
        self.raise_at = model.thresholds.rule.raise_at
        self.slope = model.calibration.inverse_temperature
        self.keep({name: model.expectation.weights[name] for name in expectation.WEIGHTS})
        self.keep(
            {
                "floor": model.expectation.floor,
                "norm_center": model.norm.center,
                "norm_scale": model.norm.scale,
                "bias": np.array(model.calibration.bias),
            }
        )
        for name, tensor in (
            ("nbr", self.tensors.neighbors.nbr),
            ("nbr_mask", self.tensors.neighbors.nbr_mask),
            ("kinds", self.tensors.kinds),
            ("roles", self.tensors.roles),
        ):
            self.register_buffer(name, tensor.clone())

    def forward(self, readings: Tensor, fresh: Tensor, values: Tensor, residuals: Tensor, known: Tensor) -> Step:
        """Process one row: readings [Z S] in SI units, double, their freshness [Z S], bool, and the memory."""
        fresh = fresh & readings.isfinite()
        scaled = self.scaled(readings, fresh)
        known, values = append(known, fresh), append(values, quantized(scaled, fresh))
        residual = self.residual(scaled, summaries(values, known, features.RECENT))
        residuals = append(residuals, quantized(residual, fresh))
        points = torch.cat(
            [
                summaries(values, known, features.VALUES),
                summaries(residuals, known, features.RESIDUALS),
                summaries(residuals.abs(), known, features.SIZES),
            ],
            dim=-1,
        )
        x, present = self.windows(points, fresh)
        return Step(*self.score(x, present), values, residuals, known)

    def residual(self, scaled: Tensor, recent: Tensor) -> Tensor:
        """Return residuals [Z S] in units of the expected spread, as windows.expectation does."""
        silu = nn.functional.silu
        hidden = silu(recent.flatten(1)[None] @ self.W1 + self.b1)  # [S Z hidden]
        hidden = silu(hidden @ self.W2 + self.b2)
        mean, log_spread = (hidden @ self.W3 + self.b3).permute(2, 1, 0)  # [Z S] each
        spread = log_spread.clamp(*expectation.LOG_SPREAD).exp()
        spread = (spread * spread + self.floor * self.floor).sqrt()
        residual: Tensor = ((scaled - mean) / spread).clamp(-expectation.CLIP, expectation.CLIP)
        return residual

    def windows(self, points: Tensor, fresh: Tensor) -> tuple[Tensor, Tensor]:
        """Turn summaries of signals [Z S f] into features of nodes [Z n f]; also return which nodes are known [Z n]."""
        units = ((points.double() - self.norm_center) / self.norm_scale).clamp(-features.CLIP, features.CLIP)
        return self.to_nodes((units.sign() * units.abs().log1p()).float(), fresh)

    def score(self, x: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        """Return calibrated probabilities [Z n c] and alarm flags [Z n]."""
        zones, nodes = x.shape[0], self.nbr.shape[0]
        offset = torch.arange(zones, device=x.device)[:, None, None] * nodes
        building = GraphTensors(
            Neighbors(
                (self.nbr[None] + offset).reshape(zones * nodes, -1),
                self.nbr_mask.expand(zones, -1, -1).reshape(zones * nodes, -1),
            ),
            self.kinds.expand(zones, -1, -1).reshape(zones * nodes, -1),
            self.roles.expand(zones, -1).reshape(zones * nodes),
        )
        logits = self.adu.logits(x.reshape(1, zones * nodes, -1), building, present.reshape(1, zones * nodes))
        probs = (self.slope * logits.double() + self.bias).softmax(dim=-1).float().reshape(zones, nodes, -1)
        alarm = alarm_flags(probs, present, self.raise_at)
        return torch.where(present[..., None], probs, torch.nan), alarm
