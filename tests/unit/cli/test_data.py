import json

import pytest
from click.testing import CliRunner

from export_builders import table
from graphghha.cli import main
from graphghha.errors import GraphGHHAError


def run(*arguments):
    return CliRunner().invoke(main, ["data", "check", *map(str, arguments)])


@pytest.fixture
def room(tmp_path):
    path = tmp_path / "room.csv"
    path.write_text(table("Date/Time;ZN-T", "%d.%m.%Y %H:%M;{v}"))
    return path


def test_a_check_prints_findings_and_guesses_and_writes_a_page(room, tmp_path):
    outcome = run(room, "--html", tmp_path / "page.html", "--zone", "Europe/Berlin")
    assert outcome.exit_code == 0, outcome.output
    assert "unit       ZN-T: no unit is stated; state it; it reads like degC" in outcome.stdout
    assert "guessed    room.csv: time zone Europe/Berlin: stated" in outcome.stdout
    assert "1 file: 1 read (point), 0 left out" in outcome.stderr
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_json_is_one_object(room):
    outcome = run(room, "--json")
    assert json.loads(outcome.stdout)["points"][0]["name"] == "ZN-T"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["absent.csv"], "no such file or folder"),
        (["{room}", "--zone", "Mars"], "time zone 'Mars' is unknown"),
        (["{room}", "--html", "/nowhere/page.html"], "there is no folder /nowhere"),
        (["{room}", "--html", "{folder}"], "is a directory"),
        (["{room}", "--time-column", "when"], "no column 'when' holds times"),
    ],
)
def test_mistakes_are_one_sentence(arguments, message, room, tmp_path):
    outcome = run(*(text.format(room=room, folder=tmp_path) for text in arguments))
    assert outcome.exit_code in (2, 3) and message in outcome.output
    assert outcome.exception is None or isinstance(outcome.exception, SystemExit | GraphGHHAError)
