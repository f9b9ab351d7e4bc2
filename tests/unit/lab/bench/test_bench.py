"""The benchmarks run, gate themselves and keep their JSON contract. How fast is never a test."""

import json

import numpy as np
import pytest

from graphghha.errors import ConfigError, EngineError
from graphghha.graph import NeighborRule, neighborhood
from graphghha.lab.bench.harness import Effort, Timing, interleaved, peak_mb
from graphghha.lab.bench.pages.latency import latency_page
from graphghha.lab.bench.speed import correctness as gate
from graphghha.lab.bench.speed import degree, latency, stream, stream_sources, threads
from graphghha.lab.bench.speed.graphs import ring, synthetic_template
from graphghha.lab.bench.speed.methods import (
    BYTES_PER_PAIR,
    LARGEST_CALL_BYTES,
    available,
    default_config,
    windows_per_call,
)
from graphghha.lab.paper import printed_tables as paper

pytestmark = pytest.mark.slow

QUICK = Effort(budget_s=0.0, min_rounds=1, slice_s=0.0)


@pytest.fixture(scope="module")
def measured():
    return latency.run((32, 64), dtype=("fp32", "bf16"), effort=QUICK)


def test_latency_keeps_the_contract_of_its_json(measured):
    result = json.loads(json.dumps(measured))
    assert result["bench"] == "latency"
    expected = {"layers": 3, "heads": 8, "width": 64, "mlp_ratio": 2, "batch": 1, "threads": 1}
    assert expected.items() <= result["config"].items()
    assert {row["method"] for row in result["rows"]} == set(available())
    for row in result["rows"]:
        assert 0 < row["best_ms"] <= row["ms"] <= row["p99_ms"]
    dtypes = {(row["method"], row["dtype"]) for row in result["rows"]}
    assert {("graphghha", "fp32"), ("graphghha", "bf16"), ("gemm_floor", "bf16")} <= dtypes
    assert {verdict["dtype"] for verdict in result["gate"]} == {"fp32", "bf16"}
    assert "/" not in (result["machine"]["compiler"] or "") and "-" not in result["machine"]["system"]


def test_dense_methods_stop_where_they_would_need_gigabytes():
    result = latency.run((1568,), effort=QUICK, methods=["vanilla_gat", "graphghha"])
    assert [row["method"] for row in result["rows"]] == ["graphghha"]


def test_a_batch_that_a_rival_cannot_hold_is_measured_in_parts():
    result = latency.run((96,), batch=64, effort=QUICK, methods=["vanilla_gat", "graphghha"])
    whole = {row["method"]: row["windows_per_call"] for row in result["rows"]}
    assert whole == {"vanilla_gat": 64, "graphghha": 64}
    large = latency.task_of(synthetic_template(), default_config(), 1536, "fp32", 64, 1, 0)
    assert windows_per_call("graphghha", large) == 64 > windows_per_call("vanilla_gat", large) >= 1
    assert windows_per_call("vanilla_gat", large) * 8 * 1536 * 1536 * BYTES_PER_PAIR <= LARGEST_CALL_BYTES


def test_times_of_a_batch_are_per_window():
    assert Timing(128.0, 192.0, 64.0, 7).per(64) == Timing(2.0, 3.0, 1.0, 7)


def test_no_speed_is_reported_for_an_engine_that_is_wrong(monkeypatch):
    monkeypatch.setitem(gate.TOLERANCE, "fp32", 1e-12)
    with pytest.raises(EngineError, match="no speed is reported"):
        latency.run((32,), effort=QUICK)


def test_sizes_and_methods_that_make_no_sense_are_refused():
    with pytest.raises(ConfigError, match="no multiple of the template's 32"):
        latency.run((33,), effort=QUICK)
    with pytest.raises(ConfigError, match="unknown or missing methods"):
        latency.run((32,), methods=["gat"], effort=QUICK)


def test_the_page_holds_every_section_of_what_was_measured(measured, tmp_path):
    results = [
        measured,
        degree.run((8, 24), nodes=64, effort=QUICK),
        stream.run((32,), batches=(1, 3), effort=QUICK) | {"sources": stream_sources.measure(1, is_quick=True)},
        threads.run((64,), effort=QUICK),
    ]
    page = latency_page(json.loads(json.dumps(results)), tmp_path).read_text()
    for heading in (
        *("Ratios, one thread", "1 thread, batch 1", "Neighbours per node at 64"),
        *("Throughput of the engine", "Throughput of the sources, zones: 1", "More threads", "Resident memory"),
    ):
        assert heading in page
    assert (tmp_path / "latency.svg").stat().st_size > 0 and (tmp_path / "degree.svg").stat().st_size > 0
    assert "| dense vanilla GAT / GraphGHHA, fp32 | 32 |" in page and "Crossover with GATConv" in page


def test_the_figure_is_of_single_windows_whatever_the_order_of_results(measured, tmp_path):
    batched = {**measured, "config": {**measured["config"], "batch": 64}}
    for folder, results in (("a", [batched, measured]), ("b", [measured, batched])):
        latency_page(results, tmp_path / folder)
    for name in ("latency.md", "latency.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert "batch 1" in (tmp_path / "a" / "latency.svg").read_text()


def test_the_same_json_gives_the_same_page_and_figures(measured, tmp_path):
    for folder in ("a", "b"):
        latency_page([measured], tmp_path / folder)
    for name in ("latency.md", "latency.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_every_method_is_called_in_every_round():
    order = []
    calls = {name: lambda name=name: order.append(name) for name in "abc"}
    timings = interleaved(calls, Effort(budget_s=0.0, min_rounds=4, slice_s=0.0))
    assert order[-12:] == ["a", "b", "c"] * 4
    assert {timing.calls for timing in timings.values()} == {4}


def test_peak_memory_sees_what_a_call_holds():
    def build():
        block = np.ones(40 << 20, np.uint8)
        return lambda: block.sum()

    _, peak = peak_mb(build)
    assert peak is None or peak >= 35


def test_the_synthetic_unit_resembles_a_fan_coil_unit():
    template = synthetic_template()
    degrees = neighborhood(template, NeighborRule()).degrees
    assert template.num_nodes == 32 and sum(signal is None for signal in template.signals) == 3
    assert 8 <= degrees.mean() <= 11


@pytest.mark.parametrize(("wanted", "others"), [(0, 0), (8, 8), (32, 32), (64, 63), (100, 63)])
def test_a_ring_has_the_degree_that_was_asked_for(wanted, others):
    degrees = neighborhood(ring(64, wanted), NeighborRule(self_loops=False)).degrees
    assert (degrees == others).all()


def test_printed_figures_are_complete_and_the_notes_on_them_hold():
    for column in (*paper.TABLE_I_MS.values(), *paper.TABLE_I_REDUCTION.values(), *paper.TABLE_II.values()):
        assert len(column) == len(paper.SIZES)
    strange = {
        (method, nodes)
        for method, rows in paper.TABLE_II.items()
        for nodes, (p, r, f1) in zip(paper.SIZES, rows, strict=True)
        if abs(2 * p * r / (p + r) - f1) > 1.1e-3
    }
    assert strange == {("vanilla_gat", 1024), ("quantized_gat", 1024)}
    for method, reductions in paper.TABLE_I_REDUCTION.items():
        for nodes, reduction in zip(paper.SIZES, reductions, strict=True):
            ratio = paper.latency_ms(method, nodes) / paper.latency_ms("vanilla_gat", nodes)
            assert reduction == pytest.approx(100 * (1 - ratio), abs=0.02)
    assert paper.latency_ms("graphghha", 33) is None
