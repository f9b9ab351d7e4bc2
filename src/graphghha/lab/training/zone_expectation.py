"""Fit the expectation of zones on normal days of random buildings: a Gaussian for each signal.

n zone-rows, S signals, C channels of a signal, I = S C inputs, h hidden units.
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from graphghha.graph import CpsGraph
from graphghha.windows import LOG_SPREAD
from graphghha.windows.zone_expectation import CHANNELS, OWN_CHANNELS, ZoneExpectation, input_mask

HIDDEN = 32
BATCH = 1024
OUTLIER = 60.0  # larger squared residuals are clipped, so that start-up transients do not dominate the fit


class _Networks(nn.Module):
    mask: Tensor

    def __init__(self, mask: NDArray[np.bool_]) -> None:
        super().__init__()
        signals, inputs = mask.shape

        def weight(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(signals, *shape) / shape[0] ** 0.5)

        self.W0 = nn.Parameter(torch.zeros(signals, inputs, 2))
        self.W1, self.W2, self.W3 = weight(inputs, HIDDEN), weight(HIDDEN, HIDDEN), weight(HIDDEN, 2)
        self.b1, self.b2, self.b3 = (nn.Parameter(torch.zeros(signals, 1, n)) for n in (HIDDEN, HIDDEN, 2))
        self.register_buffer("mask", torch.as_tensor(mask[..., None]).float())

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and log spreads [n S] of inputs [n I]."""
        signals = len(self.mask)
        both = (torch.cat([self.W0, self.W1], dim=2) * self.mask).permute(1, 0, 2).flatten(1)  # [I S*(2+h)]
        first = (inputs @ both).view(len(inputs), signals, -1).transpose(0, 1)
        hidden = F.silu(first[..., 2:] + self.b1)
        hidden = F.silu(hidden @ self.W2 + self.b2)
        mean, log_spread = (hidden @ self.W3 + self.b3 + first[..., :2]).permute(2, 1, 0)
        return mean, log_spread.clamp(*LOG_SPREAD)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        weights = {name: tensor.detach() for name, tensor in self.named_parameters()}
        for name in ("W0", "W1"):
            weights[name] = weights[name] * self.mask
        return {name: np.ascontiguousarray(tensor.numpy()) for name, tensor in weights.items()}


def fit_zone_expectation(
    inputs: NDArray[np.float16],
    targets: NDArray[np.float32],
    template: CpsGraph,
    floor: NDArray[np.float32],
    *,
    seed: int,
    epochs: int,
    on_epoch: Callable[[int, float], None] = lambda epoch, loss: None,
) -> ZoneExpectation:
    """Fit on inputs [n I] and scaled targets [n S] of normal operation, NaN where a signal is unknown."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        networks = _Networks(input_mask(template))
        _fit(networks, torch.as_tensor(inputs), torch.as_tensor(targets), torch.as_tensor(floor), epochs, on_epoch)
    return ZoneExpectation(networks.weights(), floor)


def _fit(
    networks: _Networks,
    x: Tensor,
    y: Tensor,
    floor: Tensor,
    epochs: int,
    on_epoch: Callable[[int, float], None],
) -> None:
    steps = max(1, len(x) // BATCH)
    optimizer = torch.optim.AdamW(networks.parameters(), weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=epochs * steps)
    for epoch in range(epochs):
        order = torch.randperm(len(x))
        total = 0.0
        for step in range(steps):
            rows = order[step * BATCH : (step + 1) * BATCH]
            mean, log_spread = networks(_drop_signals(x[rows].float(), y.shape[1]))
            loss = gaussian_loss(y[rows], mean, log_spread, floor)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += float(loss.detach())
        on_epoch(epoch, total / steps)


def gaussian_loss(targets: Tensor, mean: Tensor, log_spread: Tensor, floor: Tensor) -> Tensor:
    """Return the mean negative log-likelihood of the known targets [n S], with large misfits clipped."""
    known = targets.isfinite()
    variance = (2 * log_spread).exp() + floor.square()
    misfit = ((torch.where(known, targets, mean) - mean).square() / variance).clamp_max(OUTLIER)
    losses = 0.5 * (misfit + variance.log())
    return (losses * known).sum() / known.sum().clamp_min(1)


def _drop_signals(inputs: Tensor, num_signals: int) -> Tensor:
    """Hide some signals from one row in four, and all other zones from one row in ten.

    Half of the hidden signals are hidden in the whole building, as if the site did not have them.
    """
    rows = len(inputs)
    x = inputs.view(rows, num_signals, CHANNELS).clone()
    hidden = (torch.rand(rows, 1) < 0.25) & (torch.rand(rows, num_signals) < 0.2)
    everywhere = hidden & (torch.rand(rows, num_signals) < 0.5)
    alone = torch.rand(rows, 1).expand(-1, num_signals) < 0.1
    x[..., : OWN_CHANNELS - 1] *= ~hidden[..., None]
    x[..., OWN_CHANNELS - 1] = torch.where(hidden, 1.0, x[..., OWN_CHANNELS - 1])
    x[..., OWN_CHANNELS:] *= ~(everywhere | alone)[..., None]
    return x.flatten(1)
