"""Fit an ADU to labelled windows with AdamW and a one-cycle schedule, on graphs of several sizes.

A fit can be resumed and is reproducible. Shapes: b windows, Z zones, n nodes of the template, f features.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from graphghha._util.files import atomic_path
from graphghha.errors import DivergedError
from graphghha.lab.training.cache import reading
from graphghha.lab.training.windows import INVISIBLE, VISIBLE, LabelledWindows
from graphghha.nn import ADU
from graphghha.nn.dtype import DtypeName, torch_dtype


@dataclass(frozen=True, kw_only=True, slots=True)
class FitConfig:
    """The settings of a fit."""

    epochs: int = 3
    batch: int = 64  # windows per step
    learning_rate: float = 3e-3
    weight_decay: float = 1e-2
    attack_weight: float = 3.0  # weight of attacked nodes in the loss, since only one node in a hundred is attacked
    hidden_weight: float = 0.3  # weight of attacked nodes whose attack is invisible at the moment
    drop_nodes: float = 0.03  # share of nodes masked in every fourth step, as if their sensors were silent
    dtype: DtypeName = "fp32"  # of the matrix products; weights and gradients stay fp32
    seed: int = 0
    save_every: int = 500  # steps between snapshots and validations
    patience: int = 6  # validations without a better F1 before the fit stops; the best weights are kept


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a fit after a step."""

    step: int
    steps: int
    loss: float
    f1: float  # on validation data, at the best threshold; NaN before the first validation
    elapsed_s: float


def fit(
    adu: ADU,
    data: LabelledWindows,
    config: FitConfig,
    *,
    validation: LabelledWindows | None = None,
    snapshot: Path | None = None,
    on_step: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Fit in place. With a snapshot file, a killed run continues where it stopped and ends with the same weights."""
    with torch.random.fork_rng(devices=[]):  # dropout uses this seed, and random numbers elsewhere stay the same
        torch.manual_seed(config.seed)
        _fit(adu, data, config, validation, snapshot, on_step)
    adu.eval()


def _fit(
    adu: ADU,
    data: LabelledWindows,
    config: FitConfig,
    validation: LabelledWindows | None,
    snapshot: Path | None,
    on_step: Callable[[Progress], None],
) -> None:
    steps = config.epochs * (len(data) // config.batch)
    optimizer = torch.optim.AdamW(adu.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, config.learning_rate, total_steps=max(2, steps), pct_start=0.1
    )
    scaler = torch.amp.GradScaler("cpu", enabled=config.dtype == "fp16")  # without scaling, small gradients underflow
    best = _Best()
    parts = {"adu": adu, "optimizer": optimizer, "schedule": schedule, "scaler": scaler}
    done = _resume(snapshot, parts, best) if snapshot else 0
    started = time.perf_counter()
    adu.train()
    for step, rows in enumerate(_batches(len(data), config)):
        if step < done:
            continue
        if best.looks_since > config.patience:
            break
        loss = _step(adu, data, rows, config, step)
        reached = finite_loss(loss, step)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(adu.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
        on_step(Progress(step + 1, steps, reached, best.latest, time.perf_counter() - started))
        if (step + 1) % config.save_every == 0 or step + 1 == steps:
            if validation is not None:
                best.look(adu, best_f1(adu, validation))
            if snapshot:
                _save(snapshot, parts, best, step + 1)
    if best.weights:
        adu.load_state_dict(best.weights)


def finite_loss(loss: Tensor, step: int) -> float:
    """Return the loss as a number; DivergedError if it is not finite, before a step on it would spoil all weights."""
    value = float(loss.detach())
    if not math.isfinite(value):
        raise DivergedError(step + 1)
    return value


@dataclass(slots=True)
class _Best:
    """The weights with the highest F1 on validation data so far."""

    f1: float = -1.0
    latest: float = float("nan")
    looks_since: int = 0
    weights: dict[str, Tensor] = field(default_factory=dict)

    def look(self, adu: ADU, f1: float) -> None:
        self.latest = f1
        self.looks_since = 0 if f1 > self.f1 else self.looks_since + 1
        if f1 > self.f1:
            self.f1, self.weights = f1, {name: tensor.clone() for name, tensor in adu.state_dict().items()}


@torch.no_grad()
def best_f1(adu: ADU, data: LabelledWindows, batch: int = 64) -> float:
    """Return the highest F1 over all thresholds of P(attack), on node-minutes with a visible label."""
    graph = adu.template.replicate(data.labels.shape[1])
    probs = [
        adu.logits(torch.as_tensor(data.features[at : at + batch]).flatten(1, 2).float(), graph).softmax(-1)[..., 0]
        for at in range(0, len(data), batch)
    ]
    attack = 1.0 - torch.cat(probs).flatten().numpy()
    kept = (data.label_quality == VISIBLE).ravel()
    truth = (data.labels > 0).ravel()[kept]
    order = np.argsort(-attack[kept], kind="stable")
    hits = np.cumsum(truth[order])
    return float((2 * hits / (np.arange(1, len(hits) + 1) + truth.sum())).max())


def _batches(count: int, config: FitConfig) -> Iterator[NDArray[np.int64]]:
    for epoch in range(config.epochs):
        order = np.random.default_rng([config.seed, epoch]).permutation(count)
        for start in range(0, count - config.batch + 1, config.batch):
            yield np.sort(order[start : start + config.batch])


def _step(adu: ADU, data: LabelledWindows, rows: NDArray[np.int64], config: FitConfig, step: int) -> Tensor:
    rng = np.random.default_rng([config.seed, 1_000_003, step])
    zones, nodes = data.labels.shape[1:]
    size = int(rng.choice([z for z in range(1, zones + 1) if zones % z == 0]))  # zones per graph in this step
    shuffled = rng.permutation(zones)  # so that zones of one graph are not always the same

    def graphs(array: NDArray[Any]) -> Tensor:
        return torch.as_tensor(array[rows][:, shuffled].reshape(-1, size * nodes, *array.shape[3:]))

    features, labels = graphs(data.features).float(), graphs(data.labels).long()
    quality = graphs(data.label_quality)
    mask = torch.as_tensor(rng.random(labels.shape) >= config.drop_nodes) if step % 4 == 0 else None
    with torch.autocast("cpu", torch_dtype(config.dtype), enabled=config.dtype != "fp32"):
        logits = adu.logits(features, adu.template.replicate(size), mask)
    weight = (quality == VISIBLE).float() + config.hidden_weight * (quality == INVISIBLE).float()
    weight = weight * torch.where(labels > 0, config.attack_weight, 1.0)
    if mask is not None:
        weight = weight * mask
    losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    return (losses * weight.flatten()).sum() / weight.sum()


def _save(path: Path, parts: Mapping[str, Any], best: _Best, step: int) -> None:
    state = {
        "step": step,
        "best": {"f1": best.f1, "latest": best.latest, "looks_since": best.looks_since, "weights": best.weights},
        **{name: part.state_dict() for name, part in parts.items()},
        "random": torch.get_rng_state(),
    }
    with atomic_path(path) as partial_file:
        torch.save(state, partial_file)


def _resume(path: Path, parts: Mapping[str, Any], best: _Best) -> int:
    if not path.exists():
        return 0
    with reading(path):
        state = torch.load(path, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(state[name])
        torch.set_rng_state(state["random"])
        for name, value in state["best"].items():
            setattr(best, name, value)
    return int(state["step"])
