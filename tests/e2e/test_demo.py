"""The main job, headless: a real building, the shipped model, attacks named on the right node."""

import json

import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.engine import Engine
from graphghha.engine.scorer import check_known_answer
from graphghha.models import load_model, shipped_model


def run(*arguments):
    result = CliRunner().invoke(main, ["demo", "--headless", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def test_the_first_attack_is_named_on_the_right_node_within_minutes():
    *incidents, card = (json.loads(line) for line in run("--minutes", "40", "--json"))
    first = incidents[0]
    assert (first["zone"], first["root"], first["class"]) == ("zone-07", "FCU_CVLV", "actuator")
    assert "2018-07-10T09:15:00Z" <= first["since"] <= first["time"] <= "2018-07-10T09:30:00Z"
    assert {"signal"} <= {item["kind"] for item in first["evidence"]} and "T1692.001" in first["consistent_with"]
    assert card["scorecard"]["attacks"] == card["scorecard"]["detected"] == 1
    assert card["scorecard"]["hit_at_1"] == 1 and card["scorecard"]["median_ttd_min"] < 15


def test_people_read_sentences():
    lines = run("--minutes", "30")
    assert (
        "Zone 7: cooling valve" in lines[0]
        and "actuator attack, p = " in lines[0]
        and "1 of 1 attacks found" in lines[-1]
    )


def test_before_the_first_attack_there_is_nothing_to_score():
    assert run("--minutes", "3") == ["", "0 of 0 attacks found, 0 false alarms"]
    assert json.loads(run("--minutes", "3", "--json")[-1])["scorecard"]["hit_at_1"] is None


def test_minutes_beyond_the_day_are_refused():
    result = CliRunner().invoke(main, ["demo", "--headless", "--minutes", "2000"])
    assert result.exit_code == 2 and "ConfigError: demo: --minutes must be 1 to 900, got 2000" in result.stderr


@pytest.mark.parametrize("backend", ["native", "torch"])
def test_the_shipped_model_gives_its_known_answer(backend):
    model = load_model(shipped_model("fcu"))
    for named in (model, shipped_model("fcu")):
        check_known_answer(model, Engine(named, model.template, backend=backend))


def test_the_shipped_model_is_small():
    assert sum(path.stat().st_size for path in shipped_model("fcu").iterdir()) < 5_000_000
