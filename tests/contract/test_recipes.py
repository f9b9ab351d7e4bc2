"""The recipes of docs/architecture.md, carried out with toy parts: each part is written and listed in one table."""

import sys
from types import ModuleType

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from builders import loop_template
from graphghha import ADU, plants
from graphghha.classes import CLASSES
from graphghha.cli import main
from graphghha.lab import baselines
from graphghha.lab.baselines import TrainingData, View
from graphghha.nn import LAYERS
from graphghha.nn.block import Attended, AttentionBlock
from graphghha.plants import Plant, Signal, known_plants, load_plant

TEMPLATE = loop_template()
PLANT = Plant(
    name="loops",
    title="Two control loops",
    template=TEMPLATE,
    signals=tuple(
        Signal(name=name, meaning=name, unit="degC", low=-50, high=50, noise=0.1) for name in TEMPLATE.signals if name
    ),
    step_s=60.0,
)


@pytest.fixture
def module(monkeypatch):
    """Make an importable module with these attributes."""

    def make(name, **attributes):
        made = ModuleType(name)
        vars(made).update(attributes)
        monkeypatch.setitem(sys.modules, name, made)
        return name

    return make


def test_a_plant_is_a_module_and_a_row(module, monkeypatch):
    monkeypatch.setitem(plants._PLANTS, "loops", module("toy_plant", PLANT=PLANT))
    assert load_plant("loops") is PLANT and "loops" in known_plants()
    result = CliRunner().invoke(main, ["graph", "check", "loops"])
    assert result.exit_code == 0 and "without signal         pump" in result.stdout


class AlwaysTheValve:
    """A baseline that always accuses the valve."""

    def __init__(self, template):
        self.valve = template.index("valve")

    def score(self, view):
        probs = np.zeros((*view.known.shape, len(CLASSES)), np.float32)
        probs[..., 0] = 1.0
        probs[..., self.valve, :] = 0.0, 1.0, 0.0, 0.0
        return probs


def test_a_baseline_is_a_function_and_a_row(module, monkeypatch):
    name = module("graphghha.lab.baselines.toy", fit_valve=lambda plant, data: AlwaysTheValve(plant.template))
    monkeypatch.setitem(baselines._FITS, "valve", (name.rpartition(".")[2], "fit_valve"))
    readings = np.full((100, 7), 20.0)
    labels = np.zeros((4, 8), np.uint8)
    data = TrainingData(readings, readings, np.zeros((4, 8, 6)), labels, labels == 0, seed=0)
    fitted = baselines.fit_of("valve")(PLANT, data)
    view = View(np.full((70, 1, 7), 20.0), np.zeros((10, 1, 8, 6)), np.ones((10, 1, 8), bool))
    assert fitted.score(view)[..., TEMPLATE.index("valve"), 0].max() == 0.0


class MeanOfNeighbors(AttentionBlock):
    """A layer that attends to all neighbors alike."""

    def build(self):
        self.W_V = torch.nn.Linear(self.width, self.width, bias=False)

    def attend(self, H, neighbors, node_mask):
        A = neighbors.visible(node_mask).to(H.dtype)
        A = (A / A.sum(-1, keepdim=True).clamp(min=1.0))[..., None, :].expand(*H.shape[:-1], self.heads, -1)
        V = self.W_V(H)[..., neighbors.nbr, :]
        return Attended((A[..., :1, :].transpose(-1, -2) * V).sum(-2), A)


def test_a_layer_is_a_class_and_a_row(monkeypatch):
    monkeypatch.setitem(LAYERS, "mean_of_neighbors", MeanOfNeighbors)
    adu = ADU(TEMPLATE, in_features=6, layer="mean_of_neighbors", width=16, heads=2)
    probs = adu(torch.randn(3, 24, 6), TEMPLATE.replicate(3))
    assert probs.shape == (3, 24, len(CLASSES)) and torch.allclose(probs.sum(-1), torch.ones(3, 24))
    probs[..., 0].sum().backward()
    assert all(parameter.grad is not None for parameter in adu.parameters())
