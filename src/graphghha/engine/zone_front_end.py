"""The front end of a model that judges zones, in torch: windows.evidence with gradients, and for export.

Methods take rows with any leading axes. Averages over time are made by the caller, who knows how rows are kept.

Z zones, S signals and n nodes of the template, f features per node, P predictors of the correction.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from graphghha.engine.front_end import FrontEnd
from graphghha.models import Model
from graphghha.windows import evidence, levels
from graphghha.windows.expectation import LOG_SPREAD


class ComparedRows(NamedTuple):
    """Rows compared with what their zone and the other zones imply, [.. Z S] each."""

    recent: Tensor
    residuals: Tensor  # corrected, in units of the usual width
    gaps: Tensor
    has_others: Tensor


class Averages(NamedTuple):
    """What features are made from, apart from the rows themselves: averages [.. Z S m] over spans of time."""

    spans: Tensor
    sizes: Tensor
    steps: Tensor
    gaps: Tensor


class ZoneFrontEnd(FrontEnd):
    """Scaling, comparison, features and network of a model that judges zones."""

    first: Tensor  # [I S*(2+h)] the linear paths and first layers of the expectation
    b1: Tensor
    W2: Tensor
    b2: Tensor
    W3: Tensor
    b3: Tensor
    floor: Tensor
    state_center: Tensor  # [S] where a scaled value of 0 stands in the range of the instrument
    state_scale: Tensor
    is_switch: Tensor
    switches: Tensor
    slopes: Tensor  # the levels; the first axis is the zone
    bounds: Tensor
    width: Tensor
    usual_spans: Tensor
    usual_sizes: Tensor
    usual_unrest: Tensor
    usual_gap: Tensor

    def __init__(self, model: Model) -> None:
        preprocessing = model.zone_preprocessing
        usual, expectation = preprocessing.levels, preprocessing.expectation
        super().__init__(model, usual.heard)
        weights = expectation.weights
        first = np.concatenate([weights["W0"], weights["W1"]], axis=2).transpose(1, 0, 2)
        predictors = evidence.Predictors(preprocessing, model.template)
        self.keep({name: weights[name] for name in ("b1", "W2", "b2", "W3", "b3")})
        self.keep(
            {
                "first": first.reshape(len(first), -1),
                "floor": expectation.floor,
                "state_center": predictors.center,
                "state_scale": predictors.scale,
                "is_switch": predictors.is_switch,
                "switches": np.array(preprocessing.switches, np.int64),
                "slopes": usual.slopes,
                "bounds": usual.bounds,
                "width": usual.width,
                "usual_spans": usual.spans,
                "usual_sizes": usual.sizes,
                "usual_unrest": usual.restlessness,
                "usual_gap": usual.gap,
            }
        )
        self._is_corrected = bool(usual.slopes.any())

    def compare(self, means: Tensor, fresh: Tensor, peers: tuple[Tensor, Tensor] | None = None) -> ComparedRows:
        """Compare recent means [.. Z S 5], of which the last column is the share of missing rows.

        `peers` are the medians over the other zones and where there are any, if not all zones are given.
        """
        recent = means[..., 0]
        others, has_others = peers or median_of_others(recent, means[..., -1] < 1.0)
        mean, spread = self.expect(torch.cat([means, others[..., None], has_others[..., None].float()], dim=-1))
        residuals = torch.where(fresh, (recent - mean) / spread, 0.0)
        return ComparedRows(
            recent,
            self.correct(residuals, recent),
            torch.where(has_others, recent - others, 0.0),
            has_others & fresh,
        )

    def expect(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the expected mean and spread [.. Z S] of inputs [.. Z S C], as windows.zone_expectation does."""
        silu, shape = nn.functional.silu, inputs.shape[:-1]
        first = inputs.flatten(-2).flatten(0, -2) @ self.first
        first = first.unflatten(-1, (shape[-1], -1)).transpose(0, 1)  # [S rows 2+h]
        hidden = silu(silu(first[..., 2:] + self.b1) @ self.W2 + self.b2)
        out = (hidden @ self.W3 + self.b3 + first[..., :2]).permute(2, 1, 0).reshape(2, *shape)
        spread = out[1].clamp(*LOG_SPREAD).exp()
        return out[0], (spread * spread + self.floor * self.floor).sqrt()

    def correct(self, residuals: Tensor, recent: Tensor) -> Tensor:
        """Return residuals [.. Z S] after the site's correction, in units of the usual width, clipped."""
        if self._is_corrected:
            is_open = (self.state(recent).index_select(-1, self.switches) / evidence.OPEN).clamp(0.0, 1.0)
            predictors = torch.cat([torch.ones_like(recent[..., :1]), recent, is_open], dim=-1)
            correction = (self.slopes @ predictors[..., None])[..., 0]
            residuals = residuals - correction.maximum(self.bounds[..., 0]).minimum(self.bounds[..., 1])
        return (residuals / self.width).clamp(-levels.CLIP, levels.CLIP)

    def state(self, recent: Tensor) -> Tensor:
        """Return where modes and positions [.. Z S] stand in their range; 0 for other signals."""
        return (recent * self.state_scale + self.state_center).clamp(0.0, 1.0) * self.is_switch

    def features(
        self, averages: Averages, compared: ComparedRows, fresh: Tensor, peers: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the features of nodes [.. Z n f] and which nodes are known [.. Z n].

        `peers` [.. Z S m] are the medians of the spans over the other zones, if not all zones are given.
        """
        units = (averages.spans / self.usual_spans).clamp(-evidence.CLIP, evidence.CLIP)
        if peers is None:
            peers = torch.stack([median_of_others(units[..., at], fresh)[0] for at in evidence.RELATIVE], dim=-1)
        relative = torch.stack([units[..., at] for at in evidence.RELATIVE], dim=-1) - peers
        low, middle, high = (self.usual_unrest[..., at] for at in range(3))
        unrest = (averages.steps[..., 0] + evidence.LEAST_STEP).log() - middle
        unrest = torch.where(unrest > 0, unrest / (high - middle), unrest / (middle - low))
        gaps = (averages.gaps - self.usual_gap[..., :1]) / self.usual_gap[..., 1:]
        gaps = torch.where(compared.has_others[..., None], gaps, 0.0)
        columns = [
            squash(4 * units),
            squash(4 * relative),
            squash(4 * averages.sizes / self.usual_sizes),
            squash(2 * unrest)[..., None],
            squash(gaps),
            self.state(compared.recent)[..., None],
            compared.has_others[..., None].float(),
        ]
        return self.to_nodes(torch.cat(columns, dim=-1), fresh)

    def node_odds(self, x: Tensor, known: Tensor) -> Tensor:
        """Return the log-odds [b n] of the nodes of single zones, from features [b n f]; meaningless where unknown."""
        logits = self.adu.logits(x, self.tensors, known)
        return logits[..., 1] - logits[..., 0]


def median_of_others(values: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
    """Return for every zone the median [.. Z S] over the other zones with a known value, and where there are any.

    As windows.peers does, without the order of the sort: the value at place k of the others is the one at place k of
    all, or the next one if that is not below the zone's own value.
    """
    own = torch.where(known, values, torch.inf)
    ascending = own.sort(dim=-2).values
    ascending = torch.cat([ascending, torch.full_like(ascending[..., :1, :], torch.inf)], dim=-2)
    count = known.long()
    others = count.sum(dim=-2, keepdim=True) - count

    def without_own(place: Tensor) -> Tensor:
        place = place.clamp_min(0)
        here, following = ascending.gather(-2, place), ascending.gather(-2, place + 1)
        return torch.where(here < own, here, following)

    lower, upper = without_own((others - 1) // 2), without_own(others // 2)
    has_others = others > 0
    return torch.where(has_others, 0.5 * (lower + upper), 0.0), has_others


def middle_of_three(x: Tensor) -> Tensor:
    """Return the median of the last axis, which has three values."""
    a, b, c = x.unbind(dim=-1)
    return torch.maximum(torch.minimum(a, b), torch.minimum(torch.maximum(a, b), c))


def squash(units: Tensor) -> Tensor:
    """Return a signed logarithm, as windows.evidence does."""
    clipped = units.clamp(-evidence.CLIP, evidence.CLIP)
    return clipped.sign() * clipped.abs().log1p()
