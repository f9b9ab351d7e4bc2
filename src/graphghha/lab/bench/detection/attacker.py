"""Recall against an attacker who knows the network and sets the features of the compromised node.

The attacker may choose any values within the range of the features; all other nodes stay as they are. Projected
gradient descent on these features minimizes the highest attack score in the zone.

b zones, n nodes, f features.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphghha.lab.runs import Run, Schedule, attacked_run
from graphghha.lab.training import VISIBLE, labelled_windows
from graphghha.models import Model
from graphghha.nn import adu_from_arrays
from graphghha.plants import Plant
from graphghha.windows import FEATURE_RANGE


@dataclass(frozen=True, kw_only=True, slots=True)
class AttackerConfig:
    steps: int = 40
    step_size: float = 0.3  # in units of the features, whose range is about +-4.6
    restarts: int = 2
    zones: int = 400  # attacked zone-windows
    days: int = 10  # simulated days per season


DEFAULT_ATTACKER = AttackerConfig()
QUICK_ATTACKER = AttackerConfig(steps=10, restarts=1, zones=60, days=5)


class Defender:
    """A model with its calibration in torch; gives calibrated attack log-odds [b n] of single zones."""

    def __init__(self, model: Model) -> None:
        self.adu = adu_from_arrays(model.template, model.adu_config, model.weights)
        self.adu.train()  # the form with cheap gradients; there is no dropout
        for weight in self.adu.parameters():
            weight.requires_grad_(False)
        self._slope, self._bias = model.calibration.inverse_temperature, torch.tensor(model.calibration.bias)

    def log_odds(self, features: Tensor) -> Tensor:
        logits = self.adu.logits(features, self.adu.template) * self._slope + self._bias
        log_odds: Tensor = logits[..., 1:].logsumexp(dim=-1) - logits[..., 0]
        return log_odds


def evade(defender: Defender, features: Tensor, compromised: Tensor, config: AttackerConfig, seed: int) -> Tensor:
    """Return features [b n f] in which those of the compromised nodes [b n] minimize the zone's highest score."""
    generator = torch.Generator().manual_seed(seed)
    best, best_score = features.clone(), defender.log_odds(features).amax(dim=1)
    free = compromised[..., None].float()
    for restart in range(config.restarts):
        noise = (torch.rand(features.shape, generator=generator) * 2 - 1) * FEATURE_RANGE
        at = features if restart == 0 else torch.where(compromised[..., None], noise, features)
        for _ in range(config.steps):
            at = at.detach().requires_grad_(True)
            scores = defender.log_odds(at)
            # a smooth maximum lowers the scores of all nodes with a high one at once
            (gradient,) = torch.autograd.grad(scores.logsumexp(dim=1).sum(), at)
            at = (at - config.step_size * gradient.sign() * free).clamp(-FEATURE_RANGE, FEATURE_RANGE)
            at = torch.where(compromised[..., None], at, features).detach()
            score = defender.log_odds(at).amax(dim=1)
            better = score < best_score
            best[better], best_score = at[better], torch.minimum(best_score, score)
    return best


def attacked_zones(plant: Plant, model: Model, seed: int, config: AttackerConfig) -> tuple[Tensor, Tensor]:
    """Return features [b n f] of visibly attacked zones in unseen buildings, and the attacked nodes [b n]."""
    features, compromised = [], []
    cases = [*model.provenance["cases_seen"], *model.provenance["unseen_severities"]]
    for run in _runs(seed, cases, config.days):
        # labels name the nodes that are really attacked
        windows = labelled_windows(plant, run, model.node_preprocessing, stride_min=120, canonical_labels=False)
        attacked = (windows.labels > 0) & (windows.label_quality == VISIBLE)
        zones = attacked.any(axis=2)
        features.append(windows.features[zones].astype(np.float32))
        compromised.append(attacked[zones])
    chosen = np.random.default_rng(seed).permutation(sum(map(len, compromised)))[: config.zones]
    return torch.as_tensor(np.concatenate(features)[chosen]), torch.as_tensor(np.concatenate(compromised)[chosen])


def _runs(seed: int, cases: Sequence[str], days: int) -> list[Run]:
    starts = (datetime(2018, 1, 20), datetime(2018, 4, 20), datetime(2018, 7, 20), datetime(2018, 10, 20))
    normal = [Run(seed=950_000_000 + 10 * seed + n, start=at, days=days, zones=12) for n, at in enumerate(starts)]
    return [attacked_run(run, cases, Schedule(mean_gap_days=2.0)) for run in normal]


def robustness(
    plant: Plant,
    model: Model,
    *,
    seed: int = 0,
    config: AttackerConfig = DEFAULT_ATTACKER,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Return the share of attacked zones and nodes in alarm, as attacked and after the features were optimized."""
    defender, raise_at = Defender(model), model.thresholds.rule.raise_at
    threshold = float(np.log(raise_at / (1 - raise_at)))
    progress("attacker: windows of attacked zones")
    features, compromised = attacked_zones(plant, model, seed, config)
    progress(f"attacker: {len(features)} zones, {config.restarts} x {config.steps} steps")
    after = evade(defender, features, compromised, config, seed)

    def shares(x: Tensor, nodes: NDArray[np.bool_]) -> dict[str, float]:
        with torch.no_grad():
            alarmed = defender.log_odds(x).numpy() >= threshold
        return {"zone": float(alarmed.any(axis=1).mean()), "node": float(alarmed[nodes].mean())}

    measured = compromised.numpy()
    return {
        "config": asdict(config),
        "zones": len(features),
        "raise_at": raise_at,
        "plain": shares(features, measured),
        "evaded": shares(after, measured),
    }
