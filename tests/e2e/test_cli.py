"""The command line in-process: results on stdout, people's text on stderr, errors as one line and an exit code."""

import json

import pytest
from click.testing import CliRunner

from builders import loop_template
from graphghha import __version__
from graphghha.cli import main
from graphghha.graph import write_graph


@pytest.fixture
def run():
    return lambda *args: CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture
def plant(tmp_path):
    write_graph(loop_template(), tmp_path / "plant.json")
    return tmp_path / "plant.json"


def test_help_and_version(run):
    assert "Detect attacks" in run("--help").stdout
    assert __version__ in run("--version").stdout


def test_doctor_tells_people_and_machines(run):
    text = run("doctor").stdout
    assert "torch" in text and "for the shipped model on 12 zones" in text
    report = json.loads(run("doctor", "--json").stdout)
    engine = report["engine"]
    assert engine["problem"] is None and engine["nodes"] == 384
    assert engine["considered"][engine["backend"]].endswith(" ms")
    assert report["machine"]["cores"] >= 1
    assert {part["package"] for part in report["parts"]} >= {"torch", "onnxruntime", "pyarrow"}


def test_graph_check_counts(run, plant):
    summary = json.loads(run("graph", "check", plant, "--json").stdout)
    assert summary["nodes"] == 8 and summary["comm_edges"] == 7 and summary["phys_edges"] == 3
    assert summary["without_signal"] == ["pump"] and summary["isolated"] == []
    assert "without signal         pump" in run("graph", "check", plant).stdout


def test_graph_draw_writes_a_picture(run, plant, tmp_path):
    result = run("graph", "draw", plant, "--zones", 2, "--out", tmp_path / "two.svg")
    assert result.exit_code == 0 and result.stdout == "" and "wrote" in result.stderr
    assert "zone-02/valve" in (tmp_path / "two.svg").read_text()


def test_cases_lists_the_catalogue_and_what_generic_attacks_there_are(run):
    listed = run("cases")
    assert any(row.startswith("FCU_VLVStuck_Cooling_100 ") for row in listed.stdout.splitlines())
    assert "generic:MECHANISM:SEED" in listed.stderr and " hold," in listed.stderr
    assert "generic:" not in run("cases", "--family", "sensor_bias").stderr


def test_our_errors_are_one_line_and_an_exit_code(run, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    result = run("graph", "check", broken)
    assert result.exit_code == 3 and result.stdout == ""
    assert result.stderr.startswith("DataError: ") and len(result.stderr.splitlines()) == 1


def test_bench_memory_ends_in_one_json_object(run):
    result = run("bench", "memory", "--nodes", 64)
    found = json.loads(result.stdout)
    (row,) = found["rows"]
    assert row["nodes"] == 64 and row["peak_mb"] >= row["before_mb"] > 0 and found["machine"]["cores"] >= 1
    assert "peak" in result.stderr and run("bench", "memory", "--nodes", 64, "--json").stderr == ""


@pytest.mark.parametrize(
    ("arguments", "page"),
    [
        (["latency", "--sizes", "32", "--batch", "2"], "latency"),
        (["degree", "--nodes", "32"], "latency"),
        (["stream", "--sizes", "32", "--zones", "1"], "latency"),
        (["threads", "--sizes", "32"], "latency"),
        (["precision", "--nodes", "32"], "precision"),
        (["events", "--zones", "2", "--minutes", "3"], "events"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_benchmarks_print_json_last_and_a_page_is_made_of_it(run, tmp_path, arguments, page):
    result = run("bench", *arguments, "--quick", "--out", tmp_path / "out.json")
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["bench"] == arguments[0] and found["rows"] and found["machine"]
    assert json.loads((tmp_path / "out.json").read_text()) == found
    written = run("bench", "page", tmp_path / "out.json", "--out", tmp_path / "page").stdout.splitlines()
    assert written == [str(tmp_path / "page" / f"{page}.md"), str(tmp_path / "page" / "README.md")]


def test_bench_paper_measures_once_and_compares(run, tmp_path):
    arguments = ("bench", "paper", "--quick", "--only", "threads", "--out", tmp_path, "--json")
    first, second = (json.loads(run(*arguments).stdout) for _ in range(2))
    assert first["ran"] == second["skipped"] == ["threads"] and not second["ran"] and not first["failed"]
    assert "Not measured yet: `graphghha bench precision`." in (tmp_path / "README.md").read_text()
    assert run("bench", "paper", "--only", "tables", "--out", tmp_path).exit_code == 7


def test_bad_sizes_are_refused(run):
    assert run("bench", "latency", "--sizes", "32,x").exit_code == 2


def test_export_asks_for_one_target(run, tmp_path):
    assert "either --out FILE.onnx or --for-engine" in run("export").stderr
    assert "either --out FILE.onnx or --for-engine" in run("export", "--for-engine", "--out", "x.onnx").stderr
    assert "name one" in run("export", "--for-engine").stderr
    result = run("export", tmp_path, "--out", tmp_path / "x.onnx")
    assert result.exit_code == 5 and "is not a model directory" in result.stderr


def test_a_model_is_a_directory_or_the_name_of_a_shipped_one(run, tmp_path):
    refused = run("score", "submarine", __file__, "--out", tmp_path / "scores.parquet")
    assert refused.exit_code == 2 and "no model of this name ships with the package" in refused.stderr
    taken = run("score", "fcu", __file__, "--out", tmp_path / "scores.parquet")
    assert taken.exit_code != 0 and "test_cli.py" in taken.stderr
    refused = run("watch", "--check", "--source", "sim:fcu?zones=1&days=1", "--model", "submarine")
    assert refused.exit_code == 2 and "no model of this name ships with the package" in refused.stderr
    taken = run("watch", "--check", "--seconds", 5, "--source", "sim:fcu?zones=1&days=1", "--model", "fcu")
    assert taken.exit_code == 0 and "29 names map" in taken.stderr
    csv = run("score", "fcu", __file__, "--out", tmp_path / "scores.csv")
    assert csv.exit_code == 2 and "written as Parquet" in csv.stderr


def test_a_training_that_cannot_be_leaves_nothing_behind(run, tmp_path):
    assert run("train", "--seed", "-1", "--out", tmp_path / "m").exit_code == 2
    assert run("train", "--layer", "nolayer", "--out", tmp_path / "m").exit_code not in (0, 1)
    assert list(tmp_path.iterdir()) == []
