"""The paper's printed figures are complete, and our notes on their inconsistencies are right."""

import pytest

from graphghha.lab.paper import printed_tables as paper


def test_every_column_has_a_value_for_every_size():
    for column in (*paper.TABLE_I_MS.values(), *paper.TABLE_I_REDUCTION.values(), *paper.TABLE_II.values()):
        assert len(column) == len(paper.SIZES)
    assert paper.latency_ms("graphghha", 33) is None and paper.latency_ms("pyg_gatconv", 32) is None


def test_two_printed_f1_do_not_follow_from_their_precision_and_recall():
    inconsistent = {
        (method, nodes)
        for method, rows in paper.TABLE_II.items()
        for nodes, (p, r, f1) in zip(paper.SIZES, rows, strict=True)
        if abs(2 * p * r / (p + r) - f1) > 1.1e-3
    }
    assert inconsistent == {("vanilla_gat", 1024), ("quantized_gat", 1024)}


def test_printed_reductions_follow_from_the_printed_latencies():
    for method, reductions in paper.TABLE_I_REDUCTION.items():
        for nodes, reduction in zip(paper.SIZES, reductions, strict=True):
            ratio = paper.latency_ms(method, nodes) / paper.latency_ms("vanilla_gat", nodes)
            assert reduction == pytest.approx(100 * (1 - ratio), abs=0.02)


def test_graphghha_in_tables_i_and_ii_is_the_fp16_run_of_table_iv():
    p, r, f1, ms, _ = paper.TABLE_IV["fp16"]
    assert paper.latency_ms("graphghha", 1024) == ms
    assert paper.TABLE_II["graphghha"][paper.SIZES.index(1024)] == (p, r, f1)
