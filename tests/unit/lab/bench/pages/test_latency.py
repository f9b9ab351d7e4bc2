"""The latency page holds all that was measured, and the same results give the same bytes."""

import pytest

from graphghha.lab.bench.pages.latency import latency_page
from graphghha.lab.bench.speed import degree, scaling, sources, tuned

pytestmark = pytest.mark.slow


def test_the_page_holds_every_section_of_what_was_measured(setup, table_i, tmp_path):
    stream = scaling.throughput(setup, (32,), batches=(1, 3)) | {"sources": sources.measure("fcu", 1, quick=True)}
    results = [table_i, degree.run(setup, (8, 24), nodes=64), stream, scaling.thread_speedup(setup, (64,))]
    results.append(tuned.run(setup, (32,), compiled=()))
    page = latency_page(results, tmp_path).read_text()
    for heading in (
        *(
            "Ratios to methods at default",
            "1 thread, batch 1",
            "Neighbours per node at 64",
            "Ratio of one thread to two threads",
        ),
        *("Throughput of the engine", "Throughput of the sources, zones: 1", "Latency by number of threads"),
        *("Additional resident memory", "Other methods at good settings"),
    ):
        assert heading in page
    assert (tmp_path / "latency.svg").stat().st_size > 0 and (tmp_path / "degree.svg").stat().st_size > 0
    assert "| dense vanilla GAT / GraphGHHA, fp32 | 32 |" in page and "Crossover with GATConv" in page


def test_the_figure_is_of_single_windows_whatever_the_order_of_results(table_i, tmp_path):
    batched = {**table_i, "config": {**table_i["config"], "batch": 64}}
    for folder, results in (("a", [batched, table_i]), ("b", [table_i, batched])):
        latency_page(results, tmp_path / folder)
    for name in ("latency.md", "latency.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert "batch 1" in (tmp_path / "a" / "latency.svg").read_text()


def test_the_same_json_gives_the_same_page_and_figures(table_i, tmp_path):
    for folder in ("a", "b"):
        latency_page([table_i], tmp_path / folder)
    for name in ("latency.md", "latency.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
