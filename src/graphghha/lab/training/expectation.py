"""Fit the expectation: a Gaussian for each signal given the signals near it, on normal data only.

Shapes: n rows, S signals, L recent means per signal, h hidden units.
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from graphghha.graph import CpsGraph
from graphghha.windows import LOG_SPREAD, Expectation, reach

HIDDEN = 32
BATCH = 1024
OUTLIER = 100.0  # larger squared residuals are clipped, so that start-up transients do not dominate the fit


class _Networks(nn.Module):
    mask: Tensor

    def __init__(self, mask: NDArray[np.bool_], num_recent: int) -> None:
        super().__init__()
        signals, inputs = len(mask), mask.shape[1] * num_recent

        def weight(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(signals, *shape) / shape[0] ** 0.5)

        self.W1, self.W2, self.W3 = weight(inputs, HIDDEN), weight(HIDDEN, HIDDEN), weight(HIDDEN, 2)
        self.b1, self.b2, self.b3 = (nn.Parameter(torch.zeros(signals, 1, n)) for n in (HIDDEN, HIDDEN, 2))
        self.register_buffer("mask", torch.as_tensor(np.repeat(mask, num_recent, axis=1)[..., None]).float())

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and log spreads [n S] of inputs [n S*L]."""
        hidden = F.silu(torch.einsum("nf,sfh->snh", inputs, self.W1 * self.mask) + self.b1)
        hidden = F.silu(hidden @ self.W2 + self.b2)
        mean, log_spread = (hidden @ self.W3 + self.b3).permute(2, 1, 0)
        return mean, log_spread.clamp(*LOG_SPREAD)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        weights = {name: tensor.detach() for name, tensor in self.named_parameters()}
        weights["W1"] = weights["W1"] * self.mask
        return {name: np.ascontiguousarray(tensor.numpy()) for name, tensor in weights.items()}


def fit_expectation(
    inputs: NDArray[np.float32],
    values: NDArray[np.float32],
    template: CpsGraph,
    floor: NDArray[np.float32],
    *,
    seed: int,
    epochs: int = 10,
    on_epoch: Callable[[int, float], None] = lambda epoch, loss: None,
) -> Expectation:
    """Fit on recent means [n S*L] and scaled values [n S] of normal operation; `floor` [S] bounds the spreads."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _fit(inputs, values, template, floor, epochs, on_epoch)


def _fit(
    inputs: NDArray[np.float32],
    values: NDArray[np.float32],
    template: CpsGraph,
    floor: NDArray[np.float32],
    epochs: int,
    on_epoch: Callable[[int, float], None],
) -> Expectation:
    x, y = torch.as_tensor(inputs), torch.as_tensor(values)
    num_recent = x.shape[1] // y.shape[1]
    networks = _Networks(reach(template), num_recent)
    steps = max(1, len(x) // BATCH)
    optimizer = torch.optim.AdamW(networks.parameters(), weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=epochs * steps)
    variance_floor = torch.as_tensor(floor).square()
    for epoch in range(epochs):
        order = torch.randperm(len(x))
        total = 0.0
        for step in range(steps):
            rows = order[step * BATCH : (step + 1) * BATCH]
            mean, log_spread = networks(_drop_signals(x[rows], y.shape[1]))
            variance = (2 * log_spread).exp() + variance_floor
            misfit = ((y[rows] - mean).square() / variance).clamp_max(OUTLIER)
            loss = 0.5 * (misfit + variance.log()).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += float(loss.detach())
        on_epoch(epoch, total / steps)
    return Expectation(networks.weights(), floor)


def _drop_signals(inputs: Tensor, num_signals: int) -> Tensor:
    """Drop one signal in ten from one row in four, so that a silent sensor does not raise its neighbors' residuals."""
    shape = (len(inputs), num_signals, 1)
    kept = (torch.rand(len(inputs), 1, 1) > 0.25) | (torch.rand(shape) > 0.1)
    return (inputs.reshape(len(inputs), num_signals, -1) * kept).flatten(1)
