"""Table IV: every dtype scores the same windows."""

import pytest

pytestmark = pytest.mark.slow


def test_every_dtype_scores_the_same_windows(table_iv):
    exact, half, brain = table_iv["rows"]
    assert [row["dtype"] for row in table_iv["rows"]] == ["fp32", "fp16", "bf16"]
    assert exact["max_difference"] == exact["flipped"] == 0.0 and 0 < exact["f1"] <= 1
    # other windows, or an engine that ignores its dtype, would show here
    assert 0 < half["max_difference"] < brain["max_difference"] < 0.1
    assert brain["f1"] == pytest.approx(exact["f1"], abs=0.02)
    assert table_iv["config"]["node_minutes"] == 1440 * 4 * 32
