"""The main job, headless: a real building, the shipped model, attacks named on the right node."""

import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.cli._demo_page import why_no_page
from graphghha.engine import Engine
from graphghha.engine.scorer import check_known_answer
from graphghha.models import load_model, shipped_model
from graphghha.monitor.journal import PageReader


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


@contextmanager
def page_demo(*arguments):
    command = [sys.executable, "-m", "graphghha", "demo", "--no-browser", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        process.stdout.close()
        process.stderr.close()


@pytest.mark.slow
def test_with_the_page_the_first_attack_is_named_on_its_node_and_a_taken_port_is_no_obstacle(tmp_path):
    with socket.socket() as taken:
        with contextlib.suppress(OSError):  # somebody else may have it
            taken.bind(("127.0.0.1", 8420))
            taken.listen()
        with page_demo("--state", str(tmp_path), "--speed", "600") as process:
            assert "Port 8420 is taken" in process.stderr.readline()
            assert re.fullmatch(
                r"The page is at http://127\.0\.0\.1:\d+/\?token=\S+", process.stderr.readline().strip()
            )
            assert "Zone 7: cooling valve is anomalous" in process.stdout.readline()
    with PageReader(tmp_path / "journal.sqlite") as reader:
        assert len(reader.events_before(None, 10, ("studio.injected",))) == 6
        assert reader.about("demo")[1]["is_simulated"]


def test_a_chosen_port_that_is_taken_is_an_error():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = CliRunner().invoke(main, ["demo", "--no-browser", "--port", str(taken.getsockname()[1])])
    assert result.exit_code == 2 and "choose another with --port" in result.stderr


def test_without_a_built_page_the_words_say_what_to_do(tmp_path):
    assert "scripts/page" in why_no_page(static=tmp_path)


def test_minutes_are_refused_with_the_page():
    result = CliRunner().invoke(main, ["demo", "--minutes", "5"])
    assert result.exit_code == 2 and "--terminal" in result.stderr
