"""Every backend and dtype against the ADU, and the native path against the oracle of Algorithm 1."""

import numpy as np
import pytest
import torch

from engine_builders import difference, judge, masks, model, plant, windows
from graphghha.engine import Engine
from graphghha.graph import PAPER_RULE, NeighborRule, neighborhood
from graphghha.nn import ADU, reference_layer

pytestmark = pytest.mark.slow

TOLERANCE = {"fp32": 1e-5, "fp16": 2e-3, "bf16": 1e-2}
PLANT = plant(40)


@pytest.fixture(scope="module")
def adu() -> ADU:
    return model(PLANT)


@pytest.mark.parametrize(
    ("backend", "dtype"),
    [
        ("native", "fp32"),
        ("native", "fp16"),
        ("native", "bf16"),
        ("torch", "fp32"),
        ("torch", "bf16"),
        ("onnx", "fp32"),
    ],
)
@pytest.mark.parametrize("masked", [False, True], ids=["all-present", "some-absent"])
def test_a_backend_agrees_with_the_adu(adu, saved, backend, dtype, masked):
    graph = PLANT.replicate(3)
    engine = Engine(saved if backend == "onnx" else adu, graph, dtype=dtype, backend=backend)
    assert engine.backend == backend
    x, mask = windows(graph, 2), masks(graph, 2) if masked else None
    assert difference(engine.score(x, mask), judge(adu, x, graph, mask)) < TOLERANCE[dtype]


@pytest.mark.parametrize("gate", ["open", "global", "local"])
def test_a_gate_that_is_not_learned_is_folded_into_the_weights(gate):
    adu, graph = model(PLANT, options={"gate": gate}), PLANT.replicate(2)
    x = windows(graph, 2)
    engine = Engine(adu, graph, backend="native")
    assert engine.backend == "native"
    assert difference(engine.score(x), judge(adu, x, graph)) < TOLERANCE["fp32"]
    assert difference(engine.score(x), judge(model(PLANT), x, graph)) > TOLERANCE["fp32"]


def oracle(adu: ADU, x: np.ndarray, graph) -> np.ndarray:
    """The ADU with every layer replaced by the plain reference, in double precision."""
    adj = torch.from_numpy(neighborhood(graph, adu.config.neighbors).dense())
    judge64 = ADU.from_config(adu.template, adu.config)
    judge64.load_state_dict(adu.state_dict())
    judge64.double()
    with torch.no_grad():
        H, _ = judge64.embed(torch.from_numpy(x).double(), judge64.tensors(graph), None)
        for layer in judge64.layers:
            norm = adu.config.options.get("global_norm", "rms")
            H = reference_layer(H, adj, dict(layer.named_parameters()), heads=adu.config.heads, global_norm=norm)
        return judge64.classifier(H).softmax(dim=-1).float().numpy()


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="the-usual"),
        pytest.param({"options": {"global_norm": "raw"}, "width": 16, "heads": 2}, id="raw-sum"),
        pytest.param({"neighbors": NeighborRule(max_neighbors=3)}, id="cap-binds"),
        pytest.param({"neighbors": PAPER_RULE}, id="paper-rule-with-isolated-nodes"),
        pytest.param({"width": 24, "heads": 4}, id="three-wide-heads-padded-to-four"),
        pytest.param({"width": 32, "heads": 16}, id="one-wide-heads"),
        pytest.param({"width": 32, "heads": 8}, id="two-wide-heads"),
        pytest.param({"width": 64, "heads": 4}, id="eight-wide-heads"),
        pytest.param({"width": 64, "heads": 2}, id="sixteen-wide-heads"),
        pytest.param({"width": 80, "heads": 1, "layers": 1}, id="forty-wide-head-over-several-vectors"),
        pytest.param({"width": 10, "heads": 5, "mlp_ratio": 1.3}, id="nothing-fits-a-vector"),
        pytest.param({"head": "binary", "layers": 2}, id="binary-head"),
        pytest.param({"in_features": 1, "layers": 1, "heads": 1, "width": 2}, id="smallest"),
    ],
)
def test_the_native_path_agrees_with_algorithm_1(settings):
    adu = model(PLANT, **settings)
    graph = PLANT.replicate(2)
    x = windows(graph, features=adu.config.in_features)
    got = Engine(adu, graph, backend="native").score(x[0])
    assert difference(got, oracle(adu, x[0], graph)) < 1e-5


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("num_nodes", [1, 2, 5, 31, 47, 48, 49, 96, 97, 200])
def test_any_number_of_nodes_fits_the_tiles(num_nodes, dtype):
    graph = plant(num_nodes, seed=num_nodes)
    adu = model(graph, seed=num_nodes)
    x, mask = windows(graph, 3), masks(graph, 3, seed=num_nodes)
    engine = Engine(adu, graph, dtype=dtype, backend="native")
    assert difference(engine.score(x), judge(adu, x, graph)) < TOLERANCE[dtype]
    assert difference(engine.score(x, mask), judge(adu, x, graph, mask)) < TOLERANCE[dtype]


def test_a_window_in_which_every_node_is_absent_is_all_unknown(adu):
    probs = Engine(adu, PLANT, backend="native").score(windows(PLANT)[0], np.zeros(PLANT.num_nodes, bool))
    assert np.isnan(probs).all()


@pytest.mark.parametrize("backend", ["native", "onnx", "torch"])
def test_what_an_absent_or_unmeasured_node_reads_does_not_matter(saved, backend):
    engine = Engine(saved, PLANT, backend=backend)
    x, mask = windows(PLANT)[0], masks(PLANT)[0]
    silent = ~mask | np.array([signal is None for signal in PLANT.signals])
    changed = np.where(silent[:, None], np.float32(np.nan), x)
    np.testing.assert_array_equal(engine.score(x, mask), engine.score(changed, mask))


def test_the_other_layers_run_on_the_torch_backend():
    adu = model(PLANT, layer="sparsified_gat")
    engine = Engine(adu, PLANT)
    assert engine.backend == "torch"
    assert "graphghha layers only" in engine.describe()["considered"]["native"]
    x = windows(PLANT)
    assert difference(engine.score(x), judge(adu, x, PLANT)) < 1e-6


def test_an_adu_is_exported_when_the_onnx_backend_is_asked_for(unchecked):
    adu = model(PLANT, layers=1, width=8, heads=1)
    engine = Engine(adu, PLANT, backend="onnx")
    assert engine.backend == "onnx"
    x = windows(PLANT)
    assert difference(engine.score(x), judge(adu, x, PLANT)) < 1e-5


@pytest.mark.parametrize("settings", [{}, {"width": 32, "heads": 1}], ids=["narrow-heads", "wide-heads"])
def test_a_hostile_node_is_cut_as_in_the_adu(settings):
    adu, graph = model(PLANT, **settings), PLANT.replicate(3)
    x = windows(graph, 1)
    for size in (1e3, 1e6, 1e12, 1e30):
        x[0, 5] = size
        found = Engine(adu, graph, backend="native").score(x)
        assert np.isfinite(found).all()
        assert difference(found, judge(adu, x, graph, None)) < 1e-3
