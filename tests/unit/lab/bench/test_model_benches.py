"""Benchmarks of the shipped model: Table IV, events on normal operation, and all experiments in a row."""

import json
from dataclasses import replace

import numpy as np
import pytest

from graphghha.engine import Engine
from graphghha.errors import ConfigError, DataError, EngineError, NotFoundError
from graphghha.lab.bench.experiments import EXPERIMENTS, Experiment, Scope
from graphghha.lab.bench.harness import Effort
from graphghha.lab.bench.pages.incremental import events_page
from graphghha.lab.bench.pages.index import read_result, write_pages
from graphghha.lab.bench.pages.precision import precision_page
from graphghha.lab.bench.run_all import run_everything
from graphghha.lab.bench.speed import incremental as events
from graphghha.lab.bench.speed import precision
from graphghha.lab.bench.speed.graphs import synthetic_template
from graphghha.lab.bench.speed.latency import task_of
from graphghha.lab.bench.speed.methods import default_config
from graphghha.lab.bench.speed.normal_windows import normal_windows
from graphghha.models import load_model, save_model
from graphghha.models.shipped import shipped_model
from model_builders import small_model

pytestmark = pytest.mark.slow

QUICK = Effort(budget_s=0.0, min_rounds=1, slice_s=0.0)
SHIPPED = shipped_model("fcu")


@pytest.fixture(scope="module")
def table_iv():
    return json.loads(json.dumps(precision.run(SHIPPED, 64, test=precision.QUICK_TEST, effort=QUICK), allow_nan=False))


@pytest.fixture(scope="module")
def on_plant():
    return json.loads(json.dumps(events.run(SHIPPED, (2,), 12, calm_nodes=320), allow_nan=False))


def test_every_dtype_is_judged_on_the_same_windows(table_iv):
    exact, half, brain = table_iv["rows"]
    assert [row["dtype"] for row in table_iv["rows"]] == ["fp32", "fp16", "bf16"]
    assert exact["max_difference"] == exact["flipped"] == 0.0 and 0 < exact["f1"] <= 1
    # other windows, or an engine that ignores its dtype, would show here
    assert 0 < half["max_difference"] < brain["max_difference"] < 0.1
    assert brain["f1"] == pytest.approx(exact["f1"], abs=0.02)
    assert table_iv["config"]["node_minutes"] == 1440 * 4 * 32


def test_table_iv_stands_beside_the_printed_one(table_iv, tmp_path):
    page = precision_page(table_iv, tmp_path).read_text()
    assert "| 0.970 | 0.975 | 0.973 | 0.098 | 35.5 |" in page.replace("0.97 |", "0.970 |")
    assert (tmp_path / "precision.svg").stat().st_size > 0
    worse = {**table_iv, "rows": [{**row, "flipped": 0.002} for row in table_iv["rows"]]}
    assert "is below the aim" in page and "is not below the aim" in precision_page(worse, tmp_path).read_text()


def test_normal_operation_is_consecutive_and_at_the_engines_scale():
    model = load_model(SHIPPED)
    longer, shorter = (normal_windows(model, 2, minutes, 5) for minutes in (6, 4))
    assert longer.shape == (6, 64, 18)
    np.testing.assert_array_equal(longer[:4], shorter)
    assert 0 < np.abs(np.diff(longer, axis=0)).max() < 10


def test_events_follow_normal_operation_and_say_whether_it_pays(on_plant, tmp_path):
    plant = [row for row in on_plant["rows"] if row["stream"] == "normal operation"]
    assert plant[0]["tolerance"] == 0.0 and plant[0]["max_difference"] == 0.0 and plant[0]["flipped"] == 0.0
    assert plant[-1]["rows_share"] < plant[0]["rows_share"] == 1.0
    assert [row["bound"] for row in on_plant["bounds"]] == list(events.BOUNDS)
    nothing = {**on_plant, "best": [{"nodes": 64, "tolerance": None, "ratio": None}]}
    assert "it does not pay" in events_page(nothing, tmp_path).read_text()
    something = {**on_plant, "best": [{"nodes": 64, "tolerance": 0.1, "ratio": 0.4}]}
    assert "tolerance 0.1 keeps every label" in events_page(something, tmp_path).read_text()


def test_only_a_setting_that_keeps_every_score_and_saves_time_is_best():
    good = {"stream": "a", "nodes": 1, "tolerance": 0.1, "max_difference": 1e-3, "flipped": 0.0}
    good |= {"rows_share": 0.5, "ratio": 0.6}
    assert events.best_of([good, {**good, "ratio": 0.5, "tolerance": 0.2}], "a", 1)["tolerance"] == 0.2
    spoilt = {"max_difference": 2e-3, "flipped": 1e-6, "rows_share": 1.0, "ratio": 1.1, "nodes": 2, "stream": "b"}
    for worse in ({name: value} for name, value in spoilt.items()):
        assert events.best_of([{**good, **worse}], "a", 1)["tolerance"] is None


def test_foresight_recomputes_the_zones_that_move_and_no_others():
    task = task_of(synthetic_template(), default_config(), 128, "fp32", 1, 1, 0)
    engine = Engine(task.adu("graphghha", "fp32"), task.graph, backend="native")
    still = np.repeat(task.windows(), 5, axis=0)
    assert [row["zones_share"] for row in events.foresight(engine, still, 4)] == [0.0] * 3
    moving = still.copy()
    moving[1::2, :32] += 3.0  # one zone of four jumps to and fro; the others feel it by less than the last bound
    assert events.foresight(engine, moving, 4)[-1]["zones_share"] == 0.25


def test_calm_streams_save_rows_and_streams_without_tolerance_do_not():
    task = task_of(synthetic_template(), default_config(), 320, "fp32", 1, 1, 0)
    stream = events.calm_stream(task, 6)
    exact, calm = events.sweep("calm", task.adu("graphghha", "fp32"), task, stream, ((0.0, 0.05), (0.05, 0.05)))
    assert exact["rows_share"] > 0.95 and exact["flipped"] == 0.0 and exact["max_difference"] < 1e-6
    assert calm["rows_share"] < 0.6 and calm["max_difference"] < 0.05


class Counting:
    """An experiment of the tests' own: it counts its runs and fails when told to."""

    def __init__(self) -> None:
        self.runs = 0
        self.fails = False

    def __call__(self, scope):
        self.runs += 1
        if self.fails:
            raise EngineError("the gate is shut")
        return {"bench": "stream", "machine": {"cpu": "none"}, "config": {"threads": 1}, "rows": [_ROW]}


_ROW = {"nodes": 32, "dtype": "fp32", "batch": 1, "graphs_per_s_per_core": 1.0, "node_windows_per_s_per_core": 32.0}


def experiment(name, run, **more):
    return Experiment(name=name, shows=name, command=f"graphghha bench {name}", run=run, bench="stream", **more)


def test_a_second_run_measures_only_what_is_not_fresh(tmp_path):
    plain, of_model = Counting(), Counting()
    both = [experiment("a", plain), experiment("b", of_model, uses_model=True)]
    model = tmp_path / "model"
    save_model(small_model(seed=0), model)

    def go(**more):
        settings = {"quick": more.pop("quick", False)}
        return run_everything(tmp_path / "out", Scope(model=model, **settings), experiments=both, **more)

    assert go().ran == ("a", "b") and go().skipped == ("a", "b")
    save_model(replace(load_model(model), card="another report card"), model)
    assert go().skipped == ("a", "b"), "a card decides no score"
    save_model(small_model(seed=1), model)
    assert go().ran == ("b",)
    with pytest.raises(ConfigError, match="a quick look would replace"):
        go(quick=True)
    assert go(again=True, only=["a"]).ran == ("a",)
    (tmp_path / "out" / "data" / "a.json").write_text("{ cut off")
    assert go().ran == ("a",)
    assert (plain.runs, of_model.runs) == (3, 2)


def test_one_failure_does_not_stop_the_others_and_keeps_the_last_good_result(tmp_path):
    broken, whole = Counting(), Counting()
    both = [experiment("a", broken), experiment("b", whole)]
    scope = Scope(model=tmp_path)
    run_everything(tmp_path / "out", scope, experiments=both)
    broken.fails = True
    done = run_everything(tmp_path / "out", scope, experiments=both, again=True)
    assert done.failed == {"a": "the gate is shut"} and done.ran == ("b",)
    assert read_result(tmp_path / "out" / "data" / "a.json")["rows"] == [_ROW]
    with pytest.raises(NotFoundError, match="no experiment 'c'"):
        run_everything(tmp_path / "out", scope, experiments=both, only=["c"])


def test_the_comparison_shows_what_there_is_and_how_to_get_the_rest(table_iv, on_plant, tmp_path):
    pages = [page.name for page in write_pages([table_iv, on_plant], tmp_path)]
    assert pages == ["precision.md", "events.md", "README.md"]
    text = (tmp_path / "README.md").read_text()
    assert "Not measured yet: `graphghha bench paper --only latency-batch-64`." in text
    assert "Not measured yet: `graphghha bench precision`." not in text and "[All of it](precision.md)" in text
    assert len({experiment.name for experiment in EXPERIMENTS}) == len(EXPERIMENTS)


def test_a_result_of_the_deploy_protocol_is_not_taken_for_the_papers(tmp_path):
    config = {"protocol": "deploy", "seed": 0}
    deploy = {"bench": "detection", "machine": {"cpu": "none"}, "config": config, "rows": [{"method": "rules"}]}
    assert [page.name for page in write_pages([deploy], tmp_path)] == ["README.md"]
    assert "Not measured yet: `graphghha bench detection`." in (tmp_path / "README.md").read_text()


def test_a_result_is_a_whole_file_or_the_last_line_of_an_output(tmp_path):
    path, result = tmp_path / "out.json", {"bench": "stream", "machine": {}, "config": {}, "rows": []}
    path.write_text("words\n" + json.dumps(result) + "\n")
    assert read_result(path) == result
    path.write_text(json.dumps(result, indent=1))
    assert read_result(path) == result
    for damaged in (b"\xff\xfe{", b"[]", json.dumps(result | {"config": None}).encode(), b'{"bench": "stream"}'):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="is no benchmark result: expected .* bench, rows, machine, config"):
            read_result(path)


def test_a_result_of_another_version_is_told_apart_from_a_mistake_of_ours(tmp_path):
    with pytest.raises(DataError, match="a result has no 'cpu'; measure it again"):
        write_pages([{"bench": "precision", "machine": {}, "config": {"seed": 0}, "rows": []}], tmp_path)
