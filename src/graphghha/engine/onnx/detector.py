"""A whole detector as one torch module: from a row of readings and a memory to probabilities, alarms and the memory.

`graphghha export` writes it as ONNX. It repeats windows.features in torch, so that a gateway does not need this
package: the same windows, one row at a time, with the last rows as the memory instead of running sums.

Z zones, S signals and n nodes of the template, f features per node, c classes, h rows of memory.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from graphghha.errors import ConfigError
from graphghha.graph import NeighborRule, neighborhood
from graphghha.models import Model
from graphghha.nn import AduConfig, adu_from_arrays
from graphghha.nn.graph_tensors import GraphTensors
from graphghha.nn.padded_neighbors import Neighbors
from graphghha.windows import MultiScaleConfig, expectation, features
from graphghha.windows.multiscale import LIMIT, QUANTUM

VALUE_ROWS = max(features.VALUES.history_rows, features.RECENT.history_rows)
RESIDUAL_ROWS = max(features.RESIDUALS.history_rows, features.SIZES.history_rows)
INPUTS = ("readings", "fresh", "values", "residuals", "known")
OUTPUTS = ("probabilities", "alarm", "next_values", "next_residuals", "next_known")


class Step(NamedTuple):
    """The outputs for one row; the last three are the memory for the next row."""

    probabilities: Tensor  # [Z n c] calibrated; NaN where a node is unknown
    alarm: Tensor  # [Z n] 1 where P(attack) reaches the shipped threshold, 0 where not, -1 where unknown
    values: Tensor  # [h Z S] scaled, newest last
    residuals: Tensor  # [h Z S]
    known: Tensor  # [h Z S]


class DetectorModule(nn.Module):
    """One model on any number of zones that share no nodes. An empty memory is all zeros, with nothing known."""

    center: Tensor  # [S] of the scaler
    scale: Tensor
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
    source: Tensor  # [n] the signal of each node; S for none
    known_by: Tensor  # [n n] nodes whose fresh readings make a node known
    nbr: Tensor  # the template's graph, as GraphTensors holds it
    nbr_mask: Tensor
    kinds: Tensor
    roles: Tensor

    def __init__(self, model: Model) -> None:
        super().__init__()
        config, template = AduConfig.from_dict(model.adu_config), model.template
        if config.neighbors.neighbor_divisor is not None:
            raise ConfigError(
                "export: the neighbor cap of this model depends on the size of the graph; use max_neighbors instead"
            )
        self.adu = adu_from_arrays(template, model.adu_config, model.weights)
        self.clip = model.scaler.clip
        self.raise_at = model.thresholds.rule.raise_at
        self.slope = model.calibration.inverse_temperature
        nodes = template.signal_nodes
        scale = model.scaler.columns(template.point_signals)
        source = np.full(template.num_nodes, len(nodes))
        source[nodes] = np.arange(len(nodes))
        tensors = self.adu.tensors(template)
        constants = {
            "center": scale.center,
            "scale": scale.scale,
            "floor": model.expectation.floor,
            "norm_center": model.norm.center,
            "norm_scale": model.norm.scale,
            "bias": np.array(model.calibration.bias),
            "source": source,
            # an unmeasured node is known while a neighbor is, a measured one while its own reading is fresh
            "known_by": np.where(
                (source == len(nodes))[:, None], neighborhood(template, NeighborRule()).dense(), np.eye(len(source))
            ).astype(np.float32),
            **{name: model.expectation.weights[name] for name in expectation.WEIGHTS},
        }
        for name, array in constants.items():
            self.register_buffer(name, torch.from_numpy(np.array(array)))
        for name, tensor in (
            ("nbr", tensors.neighbors.nbr),
            ("nbr_mask", tensors.neighbors.nbr_mask),
            ("kinds", tensors.kinds),
            ("roles", tensors.roles),
        ):
            self.register_buffer(name, tensor.clone())

    def forward(self, readings: Tensor, fresh: Tensor, values: Tensor, residuals: Tensor, known: Tensor) -> Step:
        """Process one row: readings [Z S] in SI units, double, their freshness [Z S], bool, and the memory."""
        fresh = fresh & readings.isfinite()
        scaled = (torch.where(fresh, readings, self.center) - self.center) / self.scale
        scaled = scaled.clamp(-self.clip, self.clip).float()
        known = torch.cat([known[1:], fresh[None]])
        values = torch.cat([values[1:], quantized(scaled, fresh)[None]])
        residual = self.residual(scaled, summaries(values, known, features.RECENT))
        residuals = torch.cat([residuals[1:], quantized(residual, fresh)[None]])
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
        normed = (units.sign() * units.abs().log1p()).float()
        normed = torch.where(fresh[..., None], normed, 0.0)
        x = torch.cat([normed, torch.zeros_like(normed[:, :1])], dim=1).index_select(1, self.source)
        measured = torch.cat([fresh, torch.zeros_like(fresh[:, :1])], dim=1).index_select(1, self.source)
        return x, measured.float() @ self.known_by.T > 0

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
        over = 1.0 - probs[..., 0].double() >= self.raise_at
        return (
            torch.where(present[..., None], probs, torch.nan),
            torch.where(present, over.to(torch.int8), torch.full_like(over, -1, dtype=torch.int8)),
        )


def quantized(x: Tensor, fresh: Tensor) -> Tensor:
    """Return values as multiples of QUANTUM, whose sums in double are exact; 0 where not fresh."""
    whole = (torch.where(fresh, x, 0.0).clamp(-LIMIT, LIMIT) / QUANTUM).round()
    return whole * QUANTUM


def summaries(history: Tensor, known: Tensor, config: MultiScaleConfig) -> Tensor:
    """Return features [Z S features] of a history [h Z S], newest last, as windows.multiscale does."""

    def rows(window_s: int) -> int:
        return window_s // config.step_s

    def count(window_s: int) -> Tensor:
        return known[-rows(window_s) :].sum(dim=0).double()

    def mean(x: Tensor, window_s: int) -> Tensor:
        return x[-rows(window_s) :].sum(dim=0) / count(window_s).clamp_min(1)

    def std(x: Tensor, window_s: int) -> Tensor:
        return (mean(x * x, window_s) - mean(x, window_s).square()).clamp_min(0).sqrt()

    exact = history[-config.history_rows :].double()
    columns = [exact[-1 - rows(lag_s)] for lag_s in config.lags_s]
    columns += [mean(exact, window_s) for window_s in config.means_s]
    columns += [std(exact, window_s) for window_s in config.stds_s]
    columns += [1.0 - count(window_s) / rows(window_s) for window_s in config.missings_s]
    return torch.stack(columns, dim=-1).float()
