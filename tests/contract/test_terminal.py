"""No command lets a control or direction character of a stranger reach the terminal."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import graphghha.cli
from graphghha.alarms import Command, Verb
from graphghha.cli import main
from graphghha.monitor import Journal, Monitor
from monitor_builders import CONFIG, detector, telemetry, wide

HOSTILE = "night\x1b]0;gone\x07\x1b[2Jshift\u202e\x9b\rall clear\nsite  incident closed"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def test_commands_print_through_one_function():
    """`click.echo` and `print` would pass everything on."""
    folder = Path(graphghha.cli.__file__).parent
    files = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    direct = [name for name, text in files.items() if re.search(r"click\.s?echo\(|(?<![.\w])print\(", text)]
    assert direct == ["_output.py"]


@pytest.fixture
def journal(tmp_path):
    """A journal with an incident whose operator wrote hostile text."""
    path = tmp_path / "journal.db"
    times, values = telemetry(40)
    with Journal(path) as opened:
        monitor = Monitor(opened)
        monitor.add("office", detector(), CONFIG)
        monitor.step(wide(times, values))
        (body,) = opened.reader.incidents()
        more = {"target": body["id"], "by": HOSTILE, "reason": HOSTILE}
        monitor.command("office", Command(verb=Verb.DISPOSE, disposition="false", **more))
        monitor.command("office", Command(verb=Verb.SHELVE, **more))
    return path, body["id"]


@pytest.mark.parametrize("words", [("list",), ("show", "{id}"), ("show", "{id}", "--why"), ("export",), ("kpi",)])
@pytest.mark.parametrize("as_json", [False, True])
def test_alarms(journal, words, as_json):
    path, key = journal
    arguments = [word.format(id=key) for word in words] + ["--journal", str(path)] + ["--json"] * as_json
    result = CliRunner().invoke(main, ["alarms", *arguments])
    assert result.exit_code == 0, result.output
    assert not UNSAFE.search(result.output)
    assert not re.search(r"^site  incident closed", result.output, re.MULTILINE), "no forged line"


def test_json_output_is_complete(journal):
    path, key = journal
    result = CliRunner().invoke(main, ["alarms", "show", key, "--journal", str(path), "--json"])
    assert json.loads(result.stdout)["disposition"]["reason"] == HOSTILE


def test_check_of_a_source_with_hostile_names(tmp_path):
    file = tmp_path / "odd.csv"
    file.write_text(f'time,"{HOSTILE}",zone-01/RM_TEMP\n2018-07-02T09:00:00Z,1,21\n', encoding="utf-8")
    for more in ([], ["--json"]):
        arguments = ["watch", "--check", "--source", f"csv:{file}", "--zones", "1", "--seconds", "5", *more]
        result = CliRunner().invoke(main, arguments)
        assert "shift" in result.output
        assert not UNSAFE.search(result.output)


def test_errors_and_wrong_arguments(tmp_path):
    hostile = HOSTILE.replace("\n", "")
    for words in (["alarms", hostile], ["alarms", "list", "--journal", f"{tmp_path}/{hostile}"], ["watch", hostile]):
        result = CliRunner().invoke(main, words)
        assert result.exit_code != 0
        assert "shift" in result.output and not UNSAFE.search(result.output)
