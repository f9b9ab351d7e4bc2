"""The studies name themselves and take the sizes they are given."""

import pytest

from graphghha.errors import ConfigError
from graphghha.lab.bench.detection import studies
from graphghha.lab.bench.detection.paper_protocol import QUICK, PaperBench
from graphghha.lab.bench.detection.variants import BASELINES, METHODS

pytestmark = pytest.mark.slow


def test_the_studies_name_themselves_and_their_machine(bench, study):
    result = studies.table_ii(bench, [32, 64], [0, 1])
    assert result["bench"] == "detection" and result["machine"]["packages"]
    assert result["rows"][: len(study["rows"])] == study["rows"]
    assert {row["method"] for row in result["rows"]} == {variant.name for variant in (*METHODS, *BASELINES)}


def test_quick_runs_use_the_given_sizes(tmp_path):
    quick = PaperBench(tmp_path, QUICK)
    usual = ((32, 1024), (32, 128))
    assert studies._sizes(quick, [64], *usual) == [64] and studies._sizes(quick, None, *usual) == [32, 128]
    with pytest.raises(ConfigError, match="33 nodes are not a multiple of the template's 32"):
        studies.table_ii(quick, [32, 33], [0])
