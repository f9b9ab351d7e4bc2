"""All experiments in a row: fresh results are skipped, failures do not stop the others."""

from dataclasses import replace

import pytest

from graphghha.errors import ConfigError, EngineError, NotFoundError
from graphghha.lab.bench.experiments import EXPERIMENTS, Experiment, Scope
from graphghha.lab.bench.results import read_result
from graphghha.lab.bench.run_all import run_all
from graphghha.models import load_model, save_model
from model_builders import small_model

ROW = {"nodes": 32, "dtype": "fp32", "batch": 1, "graphs_per_s_per_core": 1.0, "node_windows_per_s_per_core": 32.0}


class CountingRun:
    """An experiment that counts its runs and fails on demand."""

    def __init__(self) -> None:
        self.runs = 0
        self.fails = False

    def __call__(self, scope):
        self.runs += 1
        if self.fails:
            raise EngineError("the engine is wrong")
        return {"bench": "stream", "machine": {"cpu": "none"}, "config": {"threads": 1}, "rows": [ROW]}


def experiment(name, run, **more):
    return Experiment(name=name, title=name, command=f"graphghha bench {name}", run=run, bench="stream", **more)


def test_a_second_run_measures_only_what_is_not_fresh(tmp_path):
    first, of_model = CountingRun(), CountingRun()
    both = [experiment("a", first), experiment("b", of_model, uses_model=True)]
    model = tmp_path / "model"
    save_model(small_model(seed=0), model)

    def go(quick=False, **more):
        return run_all(tmp_path / "out", Scope(model=model, quick=quick), experiments=both, **more)

    assert go().ran == ("a", "b") and go().skipped == ("a", "b")
    save_model(replace(load_model(model), card="another report card"), model)
    assert go().skipped == ("a", "b"), "the card does not change any score"
    save_model(small_model(seed=1), model)
    assert go().ran == ("b",)
    with pytest.raises(ConfigError, match="--quick would replace a full measurement"):
        go(quick=True)
    assert go(again=True, only=["a"]).ran == ("a",)
    (tmp_path / "out" / "data" / "a.json").write_text("{ cut off")
    assert go().ran == ("a",)
    assert (first.runs, of_model.runs) == (3, 2)


def test_one_failure_does_not_stop_the_others_and_keeps_the_last_good_result(tmp_path):
    broken, sound = CountingRun(), CountingRun()
    both = [experiment("a", broken), experiment("b", sound)]
    scope = Scope(model=tmp_path)
    run_all(tmp_path / "out", scope, experiments=both)
    broken.fails = True
    summary = run_all(tmp_path / "out", scope, experiments=both, again=True)
    assert summary.failed == {"a": "the engine is wrong"} and summary.ran == ("b",)
    assert read_result(tmp_path / "out" / "data" / "a.json")["rows"] == [ROW]


def test_an_unknown_experiment_is_refused_with_a_suggestion(tmp_path):
    with pytest.raises(NotFoundError, match="unknown experiment 'latncy'; did you mean 'latency'"):
        run_all(tmp_path, Scope(model=tmp_path), only=["latncy"])


def test_experiments_have_names_of_their_own():
    assert len({experiment.name for experiment in EXPERIMENTS}) == len(EXPERIMENTS)
