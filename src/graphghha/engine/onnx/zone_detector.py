"""A whole detector that judges zones as one torch module: a row of readings and a memory in, alarms and memory out.

`graphghha export` writes it as ONNX. It repeats windows.evidence and engine.zone_scorer in torch, one row at a time.

Z zones, S signals and n nodes of the template, c classes.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from graphghha.classes import CLASSES
from graphghha.engine.onnx.memory import MemoryPart, alarm_flags, append, quantized, summaries
from graphghha.engine.zone_front_end import Averages, ComparedRows, ZoneFrontEnd, middle_of_three
from graphghha.engine.zone_scorer import SMOOTH_ROWS, node_classes
from graphghha.models import Model
from graphghha.models.calibration import MIN_PROBABILITY
from graphghha.windows import evidence

VALUE_ROWS = max(evidence.RECENT.history_rows, evidence.STEPS.history_rows + 1)  # a step needs the row before it


class ZoneStep(NamedTuple):
    """The outputs for one row; all but the first two are the memory for the next row."""

    probabilities: Tensor  # [Z n c] calibrated; NaN where a node is unknown
    alarm: Tensor  # [Z n] 1 where P(attack) reaches the threshold of the model, 0 where not, -1 where unknown
    values: Tensor  # scaled
    residuals: Tensor
    known: Tensor
    gaps: Tensor
    compared: Tensor  # whether there was another zone to compare with
    odds: Tensor  # log-odds of every node
    scored: Tensor  # whether the node was known


class ZoneDetectorModule(ZoneFrontEnd):
    """One model on any number of zones or, if it was commissioned, on the zones of its site."""

    MEMORY = (
        MemoryPart("values", VALUE_ROWS),
        MemoryPart("residuals", evidence.HISTORY),
        MemoryPart("known", evidence.HISTORY, np.bool_),
        MemoryPart("gaps", evidence.GAPS.history_rows),
        MemoryPart("compared", evidence.GAPS.history_rows, np.bool_),
        MemoryPart("odds", SMOOTH_ROWS - 1, np.float64, of_nodes=True),
        MemoryPart("scored", SMOOTH_ROWS - 1, np.bool_, of_nodes=True),
    )
    bias: Tensor  # [2] of the calibration
    class_of: Tensor  # [n c] 1 at the class of each node

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.raise_at = model.thresholds.rule.raise_at
        self.slope = model.calibration.inverse_temperature
        self.keep(
            {
                "bias": np.array(model.calibration.bias),
                "class_of": np.eye(len(CLASSES))[node_classes(model.template)],
            }
        )

    def forward(
        self,
        readings: Tensor,
        fresh: Tensor,
        values: Tensor,
        residuals: Tensor,
        known: Tensor,
        gaps: Tensor,
        compared: Tensor,
        odds: Tensor,
        scored: Tensor,
    ) -> ZoneStep:
        """Process one row: readings [Z S] in SI units, double, their freshness [Z S], bool, and the memory."""
        fresh = fresh & readings.isfinite()
        known, values = append(known, fresh), append(values, self.scaled(readings, fresh))
        row = self.compare(summaries(quantized(values, known[-VALUE_ROWS:]), known, evidence.RECENT), fresh)
        residuals = append(residuals, quantized(row.residuals, fresh))
        gaps = append(gaps, quantized(row.gaps, row.has_others))
        compared = append(compared, row.has_others)
        averages = self._averages(row, values, residuals, known, gaps, compared)
        x, present = self.features(averages, row, fresh)
        odds = torch.cat([odds, self._odds(x, present)[None]])
        scored = torch.cat([scored, present[None]])
        mean = torch.where(scored, odds, 0.0).sum(dim=0) / scored.sum(dim=0).clamp_min(1)
        probs = self._probabilities(mean, present)
        alarm = alarm_flags(probs, present, self.raise_at)
        probs = torch.where(present[..., None], probs, torch.nan)
        return ZoneStep(probs, alarm, values, residuals, known, gaps, compared, odds[1:], scored[1:])

    def _averages(
        self, row: ComparedRows, values: Tensor, residuals: Tensor, known: Tensor, gaps: Tensor, compared: Tensor
    ) -> Averages:
        spans = summaries(residuals, known, evidence.SPANS)
        both = known[-VALUE_ROWS + 1 :] & known[-VALUE_ROWS:-1]
        steps = quantized((values[1:] - values[:-1]).abs(), both)
        gap = summaries(gaps, compared, evidence.GAPS)
        return Averages(
            spans=torch.cat([spans[..., :1], middle_of_three(spans[..., :3])[..., None], spans[..., 3:]], dim=-1),
            sizes=summaries(residuals.abs(), known, evidence.SIZES),
            steps=summaries(steps, both, evidence.STEPS),
            gaps=torch.cat([row.gaps[..., None], gap], dim=-1),
        )

    def _odds(self, x: Tensor, present: Tensor) -> Tensor:
        """Return the log-odds [Z n], double, from probabilities as the engine gives them."""
        logits = self.adu.logits(x, self.tensors, present)
        logs = logits.softmax(dim=-1).double().clamp_min(MIN_PROBABILITY).log()
        return logs[..., 1] - logs[..., 0]

    def _probabilities(self, odds: Tensor, present: Tensor) -> Tensor:
        """Return the class probabilities [Z n c] of averaged log-odds [Z n], as engine.zone_scorer does."""
        hidden = torch.where(present, odds, -torch.inf)
        highest = torch.where(present.any(dim=-1, keepdim=True), hidden.amax(dim=-1, keepdim=True), 0.0)
        zone = (hidden - highest).exp().sum(dim=-1, keepdim=True).log() + highest
        logits = self.slope * torch.cat([torch.zeros_like(zone), zone], dim=-1) + self.bias
        certain = logits.softmax(dim=-1)[..., 1:]
        attack = certain * torch.where(hidden == highest, 1.0, (hidden - zone).exp())
        probs = attack[..., None] * self.class_of
        return torch.cat([1.0 - attack[..., None], probs[..., 1:]], dim=-1).float()
