"""What exported detectors remember between rows, and averages over it.

h rows of memory, newest last; Z zones, S signals or nodes of a zone.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphghha.windows import MultiScaleConfig
from graphghha.windows.multiscale import LIMIT, QUANTUM


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """One array of the memory, [rows Z S]; zeros at first."""

    name: str
    rows: int
    dtype: type = np.float32
    of_nodes: bool = False  # the last axis: nodes of a zone instead of its signals

    def empty(self, zones: int, signals: int, nodes: int) -> NDArray[np.float32] | NDArray[np.bool_]:
        """Return the memory before the first row."""
        return np.zeros((self.rows, zones, nodes if self.of_nodes else signals), self.dtype)


def append(history: Tensor, row: Tensor) -> Tensor:
    """Return the memory with a new row, without its oldest one."""
    return torch.cat([history[1:], row[None]])


def quantized(x: Tensor, known: Tensor) -> Tensor:
    """Return values as multiples of QUANTUM, whose sums in double are exact; 0 where unknown."""
    whole = (torch.where(known, x, 0.0).clamp(-LIMIT, LIMIT) / QUANTUM).round()
    return whole * QUANTUM


def summaries(history: Tensor, known: Tensor, config: MultiScaleConfig) -> Tensor:
    """Return features [Z S features] of quantized values [h Z S], as windows.multiscale does."""

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


def alarm_flags(probs: Tensor, known: Tensor, raise_at: float) -> Tensor:
    """Return 1 where P(attack) of probabilities [Z n c] reaches a threshold, 0 where not, -1 where unknown."""
    over = 1.0 - probs[..., 0].double() >= raise_at
    return torch.where(known, over.to(torch.int8), torch.full_like(over, -1, dtype=torch.int8))
