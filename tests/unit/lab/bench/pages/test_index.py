"""All pages from stored results, and the comparison with the paper."""

from pathlib import Path

import pytest

from graphghha.errors import DataError
from graphghha.lab.bench.pages.index import write_pages
from graphghha.lab.bench.results import read_result

pytestmark = pytest.mark.slow

RESULTS = Path(__file__).parents[5] / "docs" / "results"


def test_the_comparison_shows_what_there_is_and_how_to_get_the_rest(table_iv, events, tmp_path):
    pages = [page.name for page in write_pages([table_iv, events], tmp_path)]
    assert pages == ["precision.md", "events.md", "README.md"]
    text = (tmp_path / "README.md").read_text()
    assert "Not measured yet: `graphghha bench paper --only latency-batch-64`." in text
    assert "Not measured yet: `graphghha bench precision`." not in text and "[All figures](precision.md)" in text


def test_a_result_of_the_deploy_protocol_is_not_taken_for_the_papers(tmp_path):
    config = {"protocol": "deploy", "seed": 0}
    deploy = {"bench": "detection", "machine": {"cpu": "none"}, "config": config, "rows": [{"method": "rules"}]}
    assert [page.name for page in write_pages([deploy], tmp_path)] == ["README.md"]
    assert "Not measured yet: `graphghha bench detection`." in (tmp_path / "README.md").read_text()


def test_a_result_of_another_version_is_reported_as_such(tmp_path):
    with pytest.raises(DataError, match="a result has no field 'cpu'; measure it again"):
        write_pages([{"bench": "precision", "machine": {}, "config": {"seed": 0}, "rows": []}], tmp_path)


def test_the_published_pages_are_those_of_the_published_results(tmp_path):
    results = [read_result(path) for path in sorted((RESULTS / "data").glob("*.json"))]
    for page in write_pages(results, tmp_path):
        assert page.read_text() == (RESULTS / page.name).read_text(), (
            f"{page.name}: run graphghha bench page docs/results/data/*.json --out docs/results"
        )
