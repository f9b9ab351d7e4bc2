"""Table I: every method at every size, no speed of a wrong engine. Speed itself is not tested."""

import pytest

from graphghha.errors import ConfigError, EngineError
from graphghha.lab.bench.speed import correctness, latency
from graphghha.lab.bench.speed.methods import available

pytestmark = pytest.mark.slow


def test_latency_keeps_the_contract_of_its_json(table_i):
    assert table_i["bench"] == "latency"
    expected = {"layers": 3, "heads": 8, "width": 64, "mlp_ratio": 2, "batch": 1, "threads": 1}
    assert expected.items() <= table_i["config"].items()
    assert {row["method"] for row in table_i["rows"]} == set(available())
    for row in table_i["rows"]:
        assert 0 < row["best_ms"] <= row["ms"] <= row["p99_ms"]
    dtypes = {(row["method"], row["dtype"]) for row in table_i["rows"]}
    assert {("graphghha", "fp32"), ("graphghha", "bf16"), ("gemm_floor", "bf16")} <= dtypes
    assert {verdict["dtype"] for verdict in table_i["gate"]} == {"fp32", "bf16"}


def test_dense_methods_stop_where_they_would_need_gigabytes(setup):
    result = latency.run(setup, (1568,), methods=["vanilla_gat", "graphghha"])
    assert [row["method"] for row in result["rows"]] == ["graphghha"]


def test_no_speed_is_reported_for_an_engine_that_is_wrong(setup, monkeypatch):
    monkeypatch.setitem(correctness.TOLERANCE, "fp32", 1e-12)
    with pytest.raises(EngineError, match="no speed is reported"):
        latency.run(setup, (32,))


def test_a_size_that_is_not_whole_zones_and_an_unknown_method_are_refused(setup):
    with pytest.raises(ConfigError, match="not a multiple of the template's 32"):
        latency.run(setup, (33,))
    with pytest.raises(ConfigError, match="unknown or not installed methods"):
        latency.run(setup, (32,), methods=["gat"])
