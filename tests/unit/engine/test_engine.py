"""What an engine promises its callers, whatever runs inside."""

import logging
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch

from engine_builders import difference, judge, masks, model, plant, windows
from graphghha.engine import Engine, EngineConfig, FrozenModel
from graphghha.errors import CheckpointError, ConfigError, DataError, EngineError, SchemaError
from graphghha.nn import ADU

pytestmark = pytest.mark.slow

PLANT = plant(40)


@pytest.fixture(scope="module")
def adu() -> ADU:
    return model(PLANT)


@pytest.fixture(scope="module")
def engine(adu) -> Engine:
    return Engine(adu, PLANT, backend="native")


def test_one_window_and_a_batch_of_windows_score_alike(engine):
    x, mask = windows(PLANT, 4), masks(PLANT, 4)
    np.testing.assert_array_equal(engine.score(x, mask), [engine.score(x[b], mask[b]) for b in range(4)])


def test_one_mask_serves_a_whole_batch(engine):
    x, mask = windows(PLANT, 3), masks(PLANT)[0]
    np.testing.assert_array_equal(engine.score(x, mask), engine.score(x, np.stack([mask] * 3)))


def test_tensors_and_double_precision_are_taken_as_well(engine):
    x = windows(PLANT)[0]
    want = engine.score(x)
    np.testing.assert_array_equal(engine.score(torch.from_numpy(x), torch.ones(40, dtype=torch.bool)), want)
    np.testing.assert_array_equal(engine.score(x.astype(np.float64)), want)
    np.testing.assert_array_equal(engine.score(np.asfortranarray(x)), want)


def test_scores_do_not_share_memory_between_calls(engine):
    first = engine.score(windows(PLANT)[0])
    kept = first.copy()
    engine.score(windows(PLANT, seed=1)[0])
    np.testing.assert_array_equal(first, kept)


@pytest.mark.parametrize("threads", [1, 2, 3], ids=["one-thread", "two-threads", "three-threads"])
def test_the_bits_do_not_change_from_call_to_call_nor_with_the_threads(adu, threads):
    graph = PLANT.replicate(7)
    x = windows(graph, 5)
    want = Engine(adu, graph, backend="native").score(x)
    engine = Engine(adu, graph, threads=threads, backend="native")
    for _ in range(3):
        np.testing.assert_array_equal(engine.score(x), want)
        np.testing.assert_array_equal(engine.score(x[0]), want[0])


@pytest.mark.parametrize("backend", ["native", "torch", "onnx"])
def test_many_callers_at_once_get_what_a_lone_caller_gets(saved, backend):
    engine = Engine(saved, PLANT.replicate(2), backend=backend)
    inputs = [windows(engine.graph, 1 + seed % 3, seed=seed) for seed in range(24)]
    want = [engine.score(x) for x in inputs]
    with ThreadPoolExecutor(8) as pool:
        for got, alone in zip(pool.map(engine.score, inputs), want, strict=True):
            np.testing.assert_array_equal(got, alone)


@pytest.mark.parametrize("threads", [2, 3], ids=["two-threads", "three-threads"])
def test_many_callers_may_share_the_helper_threads(adu, threads):
    engine = Engine(adu, PLANT.replicate(12), threads=threads, backend="native")
    inputs = [windows(engine.graph, 1 + seed % 4, seed=seed) for seed in range(24)]
    want = [Engine(adu, engine.graph, backend="native").score(x) for x in inputs]
    with ThreadPoolExecutor(6) as pool:
        for got, alone in zip(pool.map(engine.score, inputs), want, strict=True):
            np.testing.assert_array_equal(got, alone)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_scores_with_helpers_of_its_own(adu):
    engine = Engine(adu, PLANT.replicate(12), threads=2, backend="native")
    x = windows(engine.graph)
    want = engine.score(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn that threads do not survive a fork
        child = os.fork()
    if child == 0:
        os._exit(0 if all(np.array_equal(engine.score(x), want) for _ in range(5)) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_training_on_does_not_change_an_engine(adu):
    changing = model(PLANT, seed=5)
    engine = Engine(changing, PLANT, backend="native")
    x = windows(PLANT)[0]
    before = engine.score(x)
    with torch.no_grad():
        changing.classifier.weight.add_(1.0)
    np.testing.assert_array_equal(engine.score(x), before)


def test_a_model_directory_is_scored_without_the_adu(adu, saved):
    engine = Engine(saved, PLANT)
    assert all(engine.describe()["considered"][name].endswith(" ms") for name in ("native", "torch", "onnx"))
    x = windows(PLANT)
    assert difference(engine.score(x), judge(adu, x, PLANT)) < 1e-5


def test_scoring_a_model_directory_loads_no_torch(saved):
    code = (
        "import sys, numpy as np; from graphghha.engine import Engine; from graphghha.graph import read_graph;"
        f"graph = read_graph(__import__('pathlib').Path({str(saved)!r}) / 'template.json');"
        f"engines = [Engine({str(saved)!r}, graph, backend=b) for b in ('native', 'onnx')];"
        "a, b = [e.score(np.ones((40, 5), np.float32)) for e in engines];"
        "print([e.backend for e in engines], np.abs(a - b).max() < 1e-5, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['native', 'onnx'] True False"


def test_a_model_directory_that_is_not_one_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        Engine(tmp_path, PLANT)


def test_auto_says_what_it_chose_and_why(adu, caplog):
    with caplog.at_level(logging.DEBUG, logger="graphghha.engine"):
        engine = Engine(adu, PLANT)
    considered = engine.describe()["considered"]
    assert engine.backend in ("native", "torch") and engine.describe()["backend"] == engine.backend
    assert considered["native"].endswith(" ms") and considered["torch"].endswith(" ms")
    assert "exporting" in considered["onnx"]
    assert f"{engine.backend} chosen for 40 nodes in fp32" in caplog.text


def test_a_backend_that_cannot_run_is_replaced_with_a_message(adu, caplog):
    engine = Engine(adu, PLANT, dtype="bf16", backend="onnx")
    assert engine.backend in ("native", "torch")
    assert "the onnx backend is replaced by another: unavailable: the onnx backend runs fp32, not bf16" in caplog.text


def test_a_rival_on_auto_is_no_cause_for_a_warning(caplog):
    """Nobody can mend that the kernel runs graphghha layers only; who asks for it by name is told."""
    rival = model(PLANT, layer="vanilla_gat")
    engine = Engine(rival, PLANT)
    assert engine.backend == "torch" and "graphghha layers only" in engine.describe()["considered"]["native"]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert Engine(rival, PLANT, backend="native").backend == "torch" and "is replaced" in caplog.text


def test_no_backend_at_all_is_an_error_that_names_every_reason(adu):
    arrays = FrozenModel.from_adu(model(PLANT, layer="vanilla_gat"))
    arrays = FrozenModel(arrays.config, arrays.role_names, arrays.weights)
    with pytest.raises(EngineError, match=r"native: .*graphghha layers only.*torch: .*only arrays"):
        Engine(arrays, PLANT, dtype="bf16")


@pytest.mark.parametrize(
    ("window", "mask", "message"),
    [
        pytest.param(np.zeros((39, 5), np.float32), None, "40 nodes", id="wrong-nodes"),
        pytest.param(np.zeros((40, 4), np.float32), None, "5 features", id="wrong-features"),
        pytest.param(np.zeros((1, 1, 40, 5), np.float32), None, "with or without a batch axis", id="too-many-axes"),
        pytest.param(np.zeros((40, 5), np.int64), None, "floating point", id="integers"),
        pytest.param(np.zeros((40, 5), np.float32), np.ones(40), "bool", id="mask-of-floats"),
        pytest.param(np.zeros((40, 5), np.float32), np.ones(39, bool), "40 nodes", id="short-mask"),
    ],
)
def test_an_input_of_the_wrong_shape_or_type_is_refused(engine, window, mask, message):
    with pytest.raises(SchemaError, match=message):
        engine.score(window, mask)


@pytest.mark.parametrize("backend", ["native", "torch", "onnx"])
@pytest.mark.parametrize("value", [np.nan, np.inf], ids=["nan", "inf"])
def test_features_that_are_not_numbers_are_refused_by_node(saved, backend, value):
    engine = Engine(saved, PLANT, backend=backend)
    x = windows(PLANT, 2)
    x[1, 7, 3] = value
    with pytest.raises(DataError, match="features of node 7 contain NaN or Inf"):
        engine.score(x)
    x[1, 7, 3] = 0.0
    assert np.isfinite(engine.score(x)).all()


@pytest.mark.parametrize("backend", ["native", "torch"])
def test_scores_that_are_not_finite_are_never_returned(backend):
    adu = model(PLANT, options={"global_norm": "raw"})
    with torch.no_grad():
        adu.layers[0].W_QKV.weight.mul_(1e9)
    with pytest.raises(EngineError, match="scores are not finite"):
        Engine(adu, PLANT, backend=backend).score(1e9 * windows(PLANT)[0])


@pytest.fixture
def torch_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_the_torch_backend_sets_the_thread_count_when_built_and_never_in_a_score(adu, torch_threads):
    engine = Engine(adu, PLANT, threads=1, backend="torch")
    assert torch.get_num_threads() == 1
    torch.set_num_threads(2)
    engine.score(windows(PLANT))
    assert torch.get_num_threads() == 2


def test_a_torch_backend_that_is_not_kept_leaves_the_thread_count_alone(adu, torch_threads):
    engine = Engine(adu, PLANT, threads=1)
    assert "torch" in engine.describe()["considered"]
    assert torch.get_num_threads() == (1 if engine.backend == "torch" else 2)


def test_a_configuration_gives_the_engine_it_describes(adu):
    config = EngineConfig(dtype="bf16", threads=2, backend="native")
    engine = Engine.from_config(adu, PLANT, config)
    assert engine.config == config and (engine.dtype, engine.threads, engine.backend) == ("bf16", 2, "native")


def test_impossible_settings_and_strange_graphs_are_refused(adu):
    with pytest.raises(ConfigError, match="unknown dtype 'int8'"):
        Engine(adu, PLANT, dtype="int8")
    with pytest.raises(ConfigError, match="threads must be 1 to 1024, got 0"):
        Engine(adu, PLANT, threads=0)
    with pytest.raises(ConfigError, match="unknown backend 'cuda'"):
        Engine(adu, PLANT, backend="cuda")
    with pytest.raises(ConfigError, match="expected an ADU"):
        Engine(object(), PLANT)
    with pytest.raises(CheckpointError, match="roles this model was not built for: n40"):
        Engine(adu, plant(41), backend="native")
    broken = model(PLANT)
    with torch.no_grad():
        broken.classifier.bias[0] = torch.nan
    with pytest.raises(CheckpointError, match=r"not finite: classifier\.bias"):
        Engine(broken, PLANT)
    whole = FrozenModel.from_adu(model(PLANT))
    lacking = replace(whole, weights={k: v for k, v in whole.weights.items() if k != "classifier.bias"}, adu=None)
    with pytest.raises(CheckpointError, match=r"weights 'classifier\.bias' are missing"):
        Engine(lacking, PLANT, backend="native")
