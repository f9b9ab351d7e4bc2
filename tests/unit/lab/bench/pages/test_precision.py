"""Our Table IV stands beside the printed one."""

import pytest

from graphghha.lab.bench.pages.precision import precision_page

pytestmark = pytest.mark.slow


def test_table_iv_stands_beside_the_printed_one(table_iv, tmp_path):
    page = precision_page(table_iv, tmp_path).read_text()
    assert "| 0.970 | 0.975 | 0.973 | 0.098 | 35.5 |" in page
    assert (tmp_path / "precision.svg").stat().st_size > 0


def test_the_page_states_whether_the_aims_are_met(table_iv, tmp_path):
    worse = {**table_iv, "rows": [{**row, "flipped": 0.002} for row in table_iv["rows"]]}
    assert "is below the aim" in precision_page(table_iv, tmp_path).read_text()
    assert "is not below the aim" in precision_page(worse, tmp_path).read_text()
