"""The recipes of docs/architecture.md, carried out with toy parts: each part is written and listed in one table."""

import sys
from threading import Event as Flag
from types import ModuleType
from typing import Annotated, Literal

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from pydantic import Field

from builders import loop_template
from graphghha import ADU, plants
from graphghha.classes import CLASSES
from graphghha.cli import main
from graphghha.engine import Scorer
from graphghha.lab import baselines
from graphghha.lab.baselines import BaselineInput, TrainingData
from graphghha.models import load_model, save_model
from graphghha.models.weights import LAYER_WEIGHTS
from graphghha.monitor import Journal, Monitor
from graphghha.monitor.sinks import Cursor, Follower, FollowRule
from graphghha.nn import LAYERS
from graphghha.nn.block import Attended, AttentionBlock
from graphghha.plants import Plant, Points, Signal, known_plants, load_plant
from graphghha.settings import Settings
from graphghha.settings.consistency import unusable_parts
from graphghha.settings.tables import JsonlTable, SinkTable
from graphghha.sources import Rejection, SourceStatus
from graphghha.sources.batch_builder import BatchBuilder
from graphghha.sources.mapping import Mapper
from model_builders import small_model
from monitor_builders import CONFIG, GRAPH, detector, telemetry
from monitor_builders import PLANT as MONITORED

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


class Dictionaries:
    """A source of dictionaries, one per minute, that remembers what was acknowledged."""

    def __init__(self, site, minutes):
        self.builder = BatchBuilder(site, Mapper(Points.from_names(MONITORED, GRAPH.points)))
        self.minutes, self.acknowledged = list(minutes), 0

    def poll(self, timeout_s):
        if not self.minutes:
            return None
        time_ms, readings = self.minutes.pop(0)
        for name, value in readings.items():
            self.builder.add(name, value, time_ms)
        return self.builder.take(received_ms=time_ms)

    def acknowledge(self, batch):
        self.acknowledged += 1

    @property
    def status(self):
        return SourceStatus(is_connected=True, is_finished=not self.minutes)

    def close(self):
        pass


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "journal.sqlite") as opened:
        yield opened


def watch(journal):
    """Watch two attacks that a toy source reports, with one name that no point has."""
    times, values = telemetry(100)
    minutes = [
        (int(time), dict(zip(GRAPH.points, map(float, row), strict=True)) | {"lift": 3.0})
        for time, row in zip(times, values, strict=True)
    ]
    source, monitor = Dictionaries("office", minutes), Monitor(journal)
    site = monitor.add("office", detector(), CONFIG)
    monitor.run([monitor.feed("office", source)], Flag())
    return source, site


def test_a_source_is_a_class_that_polls_and_acknowledges(journal):
    source, site = watch(journal)
    assert source.acknowledged == 100 and site.rejected[Rejection.UNMAPPED] == 100
    assert "incident.annunciated" in {event.kind for event in journal.events_after(0, 1000)}


class ListSink:
    """A sink that keeps what it is given."""

    def __init__(self, name):
        self.name, self.events = name, []

    def deliver(self, events):
        self.events += events

    def close(self):
        pass


class ListTable(SinkTable):
    """kind = "list"."""

    kind: Literal["list"]

    def open(self):
        return ListSink(self.name)


class SettingsWithLists(Settings):
    """Settings whose union of sinks has one more table."""

    sink: Annotated[tuple[Annotated[JsonlTable | ListTable, Field(discriminator="kind")], ...], Field(strict=False)]


def test_a_sink_is_a_class_and_a_table(journal, tmp_path):
    raw = {
        "monitor": {"state_dir": tmp_path},
        "site": [{"name": "office", "source": "sim:fcu?zones=1"}],
        "sink": [{"name": "kept", "kind": "list", "events": ["incident.*"]}],
    }
    settings = SettingsWithLists.model_validate(raw)
    assert list(unusable_parts(settings)) == []
    (table,) = settings.sink
    sink = table.open()
    watch(journal)
    follower = Follower(journal, sink, Cursor(tmp_path / "kept.cursor"), FollowRule(kinds=table.events))
    follower.start()
    follower.ask_to_stop()
    assert follower.join(60.0)
    assert sink.events and {event.kind.partition(".")[0] for event in sink.events} == {"incident"}


class AlwaysTheValve:
    """A baseline that always accuses the valve."""

    def __init__(self, template):
        self.valve = template.index("valve")

    def score(self, inputs):
        probs = np.zeros((*inputs.known.shape, len(CLASSES)), np.float32)
        probs[..., 0] = 1.0
        probs[..., self.valve, :] = 0.0, 1.0, 0.0, 0.0
        return probs


def test_a_baseline_is_a_function_and_a_row(module, monkeypatch):
    name = module("graphghha.lab.baselines.toy", fit_valve=lambda plant, data: AlwaysTheValve(plant.template))
    monkeypatch.setitem(baselines.FITS, "valve", (name.rpartition(".")[2], "fit_valve"))
    readings = np.full((100, 7), 20.0)
    labels = np.zeros((4, 8), np.uint8)
    data = TrainingData(readings, readings, np.zeros((4, 8, 6)), labels, labels == 0, seed=0)
    fitted = baselines.fit_baseline("valve", PLANT, data)
    inputs = BaselineInput(np.full((70, 1, 7), 20.0), np.zeros((10, 1, 8, 6)), np.ones((10, 1, 8), bool))
    assert fitted.score(inputs)[..., TEMPLATE.index("valve"), 0].max() == 0.0


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


def test_a_model_with_a_new_layer_is_saved_loaded_and_scored(monkeypatch, tmp_path):
    monkeypatch.setitem(LAYERS, "mean_of_neighbors", MeanOfNeighbors)
    monkeypatch.setitem(LAYER_WEIGHTS, "mean_of_neighbors", lambda width, heads: {"W_V.weight": (width, width)})
    model = small_model(layer="mean_of_neighbors")
    save_model(model, tmp_path / "model")
    scorer = Scorer(load_model(tmp_path / "model"), model.template.replicate(2))
    readings = np.full((1, len(scorer.points)), 20.0)
    probs = scorer.push(readings, np.ones(readings.shape, bool), np.ones(1, bool)).probs
    assert probs.shape == (1, scorer.num_nodes, len(CLASSES)) and np.isfinite(probs).all()
