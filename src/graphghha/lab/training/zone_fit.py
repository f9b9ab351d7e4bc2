"""Fit a network to windows of zones: is this zone attacked, and through which node.

Every node gets one number, its log-odds against "the zone is normal". The probability that the zone is attacked through
a node is a softmax over these numbers and zero. Shapes: b windows, n nodes of the template, f features.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from graphghha.lab.training.fit import Progress, finite_loss
from graphghha.lab.training.zone_windows import ZoneWindows
from graphghha.nn import ADU
from graphghha.nn.dtype import DtypeName, torch_dtype
from graphghha.windows.evidence import SPAN_NAMES

HIDDEN_NODE = -1e4  # the log-odds of a node that is unknown: it takes no share of the probability
MOST_HELD = 3  # nodes that an attacker holds


@dataclass(frozen=True, kw_only=True, slots=True)
class ZoneFitConfig:
    """The settings of a fit."""

    epochs: int = 5
    batch: int = 256
    learning_rate: float = 3e-3
    weight_decay: float = 1e-2
    hide_share: float = 0.4  # of the windows lose some points
    falsify_share: float = 0.0  # of the attacked windows read as normal at up to three nodes, which an attacker holds
    dtype: DtypeName = "fp32"  # of the matrix products
    threads: int = 1  # its products are small: more threads mostly wait for each other when a machine is busy
    seed: int = 0


class NodeOdds(Protocol):
    """A network that gives the log-odds [b n] of every node from features [b n f] and which nodes are known [b n]."""

    def __call__(self, features: Tensor, known: Tensor) -> Tensor: ...


def adu_odds(adu: ADU) -> NodeOdds:
    """Return the log-odds of an ADU with a binary head, on single zones."""
    tensors = adu.tensors(adu.template)

    def odds(features: Tensor, known: Tensor) -> Tensor:
        logits = adu.logits(features, tensors, known)
        return logits[..., 1] - logits[..., 0]

    return odds


def zone_loss(odds: Tensor, known: Tensor, targets: Tensor) -> Tensor:
    """Return the mean of -log P(the truth): the sum over all attacked nodes, or "normal"."""
    odds = odds.masked_fill(~known, HIDDEN_NODE)
    total = F.pad(odds, (1, 0)).logsumexp(dim=-1)  # the added zero is "normal"
    attacked = targets.any(dim=-1)
    truth = torch.where(attacked, odds.masked_fill(~targets, -torch.inf).logsumexp(dim=-1), 0.0)
    return (total - truth)[~attacked | (targets & known).any(dim=-1)].mean()


def fit_zones(
    network: torch.nn.Module,
    odds: NodeOdds,
    data: ZoneWindows,
    config: ZoneFitConfig,
    *,
    on_step: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Fit in place with AdamW and a one-cycle schedule."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        before = torch.get_num_threads()
        torch.set_num_threads(config.threads)
        try:
            _fit(network, odds, data, config, on_step)
        finally:
            torch.set_num_threads(before)
    network.eval()


def _fit(
    network: torch.nn.Module,
    odds: NodeOdds,
    data: ZoneWindows,
    config: ZoneFitConfig,
    on_step: Callable[[Progress], None],
) -> None:
    steps = config.epochs * (len(data) // config.batch)
    optimizer = torch.optim.AdamW(network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, config.learning_rate, total_steps=max(20, steps), pct_start=0.1
    )
    features, known, targets = (torch.as_tensor(array) for array in (data.features, data.known, data.targets))
    network.train()
    started, smooth = time.perf_counter(), float("nan")
    for step, rows in enumerate(_batches(len(data), config)):
        at = torch.as_tensor(rows)
        x, seen, truth = features[at].float(), known[at], targets[at]
        if config.falsify_share:
            x = falsify(x, seen, truth, config.falsify_share)
        x, seen = _hide_points(x, seen, config.hide_share)
        with torch.autocast("cpu", torch_dtype(config.dtype), enabled=config.dtype != "fp32"):
            values = odds(x, seen)
        loss = zone_loss(values.float(), seen, truth)
        value = finite_loss(loss, step)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        smooth = value if smooth != smooth else 0.99 * smooth + 0.01 * value
        on_step(Progress(step + 1, steps, smooth, float("nan"), time.perf_counter() - started))


def _batches(count: int, config: ZoneFitConfig) -> Iterator[NDArray[np.int64]]:
    for epoch in range(config.epochs):
        order = np.random.default_rng([config.seed, epoch]).permutation(count)
        for start in range(0, count - config.batch + 1, config.batch):
            yield np.sort(order[start : start + config.batch])


def _hide_points(features: Tensor, known: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """Hide random nodes of some windows: silent in half of these windows, points the site does not have in the rest."""
    windows, nodes = known.shape
    chosen = torch.rand(windows, 1) < share
    hidden = chosen & (torch.rand(windows, nodes) < 0.5 * torch.rand(windows, 1))
    silent = torch.rand(windows, 1) < 0.5
    return features * ~hidden[..., None], known & ~(hidden & silent)


def falsify(features: Tensor, known: Tensor, targets: Tensor, share: float) -> Tensor:
    """Let one to three nodes of some attacked windows read as in normal ones, as somebody who holds them would report.

    Attacked nodes and those with large evidence are the likelier ones.
    """
    windows, nodes = known.shape
    normal = torch.nonzero(~targets.any(dim=-1))[:, 0]
    if not len(normal):
        return features
    other = normal[torch.randint(len(normal), (windows,))]
    may_be_held = known & known[other]
    noise = 2.0 * torch.rand(windows, 1) * torch.randn(windows, nodes)
    worth = features[..., : len(SPAN_NAMES)].abs().amax(dim=-1) + targets + noise
    place = worth.masked_fill(~may_be_held, -torch.inf).argsort(dim=-1, descending=True).argsort(dim=-1)
    chosen = (targets & known).any(dim=-1, keepdim=True) & (torch.rand(windows, 1) < share)
    held = chosen & may_be_held & (place < torch.randint(1, MOST_HELD + 1, (windows, 1)))
    return torch.where(held[..., None], features[other], features)
