"""Results are stored whole and read from a file or from the end of a command's output."""

import json

import pytest

from graphghha.errors import DataError
from graphghha.lab.bench.results import is_paper_protocol, make_result, read_result, write_result

RESULT = {"bench": "stream", "machine": {}, "config": {}, "rows": []}


def test_a_result_names_its_bench_and_machine_and_comes_back_as_it_was_written(tmp_path):
    result = make_result("stream", {"threads": 1}, [{"ms": 1.0}], part="engine")
    assert result["bench"] == "stream" and result["machine"]["packages"] and result["part"] == "engine"
    write_result(result, tmp_path / "new" / "out.json")
    assert read_result(tmp_path / "new" / "out.json") == result
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["out.json"]


def test_a_result_is_a_whole_file_or_the_last_line_of_an_output(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("text\n" + json.dumps(RESULT) + "\n")
    assert read_result(path) == RESULT
    path.write_text(json.dumps(RESULT, indent=1))
    assert read_result(path) == RESULT


@pytest.mark.parametrize(
    "content", [b"\xff\xfe{", b"[]", json.dumps(RESULT | {"config": None}).encode(), b'{"bench": 1}']
)
def test_anything_else_is_refused(tmp_path, content):
    path = tmp_path / "out.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match="not a benchmark result; expected .* bench, rows, machine, config"):
        read_result(path)


def test_results_of_the_deploy_protocol_are_told_apart():
    assert is_paper_protocol(RESULT) and not is_paper_protocol(RESULT | {"config": {"protocol": "deploy"}})
