"""A multilayer perceptron that reads one node's own window and its identity, but no neighbors.

The distance to it shows what the graph contributes. Shapes: k windows of one zone, n nodes of the template, f features.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from graphghha.classes import CLASSES
from graphghha.lab.baselines.base import BaselineInput, Floats, TrainingData
from graphghha.plants import Plant

WIDTH = 64
BATCH = 512  # windows of a single zone
EPOCHS = 4
LEARNING_RATE = 3e-3


class _Perceptron(nn.Module):
    def __init__(self, num_nodes: int, num_features: int) -> None:
        super().__init__()
        self.node = nn.Embedding(num_nodes, WIDTH)
        self.first = nn.Linear(num_features, WIDTH)
        self.rest = nn.Sequential(nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, len(CLASSES)))

    def forward(self, features: Tensor) -> Tensor:
        """Return logits [.. n c] of features [.. n f]."""
        logits: Tensor = self.rest(self.first(features) + self.node.weight)
        return logits


@dataclass(frozen=True, slots=True)
class NodeMlp:
    network: _Perceptron

    def score(self, inputs: BaselineInput) -> Floats:
        with torch.inference_mode():
            logits = self.network(torch.as_tensor(np.asarray(inputs.features, np.float32)))
            probs: Floats = logits.softmax(dim=-1).numpy()
        return probs


def fit_mlp(plant: Plant, data: TrainingData) -> NodeMlp:
    """Fit with AdamW on all windows, without reweighting the classes."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(data.seed)
        network = _Perceptron(plant.template.num_nodes, data.features.shape[-1])
        steps = EPOCHS * max(1, len(data.labels) // BATCH)
        optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps)
        order = torch.cat([torch.randperm(len(data.labels)) for _ in range(EPOCHS)])
        for step in range(steps):
            rows = order[step * BATCH : (step + 1) * BATCH].numpy()
            logits = network(torch.as_tensor(data.features[rows].astype(np.float32)))
            labels = torch.as_tensor(data.labels[rows].astype(np.int64))
            losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
            counts = torch.as_tensor(data.counts[rows]).flatten()
            loss = (losses * counts).sum() / counts.sum().clamp_min(1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return NodeMlp(network.eval())
