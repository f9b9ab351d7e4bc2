"""The model of a plant of the user's own learns on from later rows, and keeps what it has learned before."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.errors import DataError
from graphghha.exports.recordings import Recording
from graphghha.lab.training.own_relearn import learn_on, quiet_recordings, quiet_rows
from graphghha.lab.training.own_train import OwnRecipe, fit_own_plant
from graphghha.learning import Learner, OwnLearningPlan
from graphghha.models.manifest import fingerprint
from graphghha.models.own import load_own_model, save_own_model
from graphghha.monitor import Journal
from graphghha.monitor.journal import Commit
from graphghha.plants import parse_plant
from graphghha.settings import read_settings
from graphghha.windows import Rows
from graphghha.wiring import open_monitor

PLANT = """
[plant]
step_s = 300
[[template]]
name = "room"
signal = [{ name = "outdoor" }, { name = "room" }, { name = "valve", kind = "actuator" }]
edges = [["valve", "room", "phys"], ["outdoor", "room", "near"]]
"""
DAY = 288
STEP_MS = 300_000
SMALL = OwnRecipe(budget_per_day=1.0, synthetic=40, epochs=1)


def readings(days, seed, warmer=0.0):
    rng = np.random.default_rng(seed)
    at = np.arange(days * DAY)
    outdoor = 10 + warmer + 5 * np.sin(2 * np.pi * at / DAY) + rng.normal(0, 0.2, len(at))
    valve = np.clip(50 - 2 * (outdoor - 10) + rng.normal(0, 1, len(at)), 0, 100)
    room = 21 + 0.02 * (valve - 50) + 0.05 * (outdoor - 10) + rng.normal(0, 0.05, len(at))
    return np.round(np.stack([outdoor, room, valve], axis=1), 2)


def recording(values, first_day=0):
    return Recording("days", (), (first_day * DAY + np.arange(len(values))) * STEP_MS, values)


@pytest.fixture(scope="module")
def base():
    return fit_own_plant(parse_plant(PLANT), [recording(readings(7, 0))], recipe=SMALL)


@pytest.fixture
def directory(base, tmp_path):
    save_own_model(base, tmp_path / "base")
    return tmp_path / "base"


def test_later_rows_join_and_earlier_ones_stay(base):
    warm = recording(readings(7, 1, warmer=6.0), first_day=7)
    learned = learn_on(base, [warm])
    assert learned.provenance["normal_days"] == pytest.approx(14.0) and base.provenance["normal_days"] == 7.0
    low, high = learned.preprocessing.scale.low[0], learned.preprocessing.scale.high[0]
    assert low == pytest.approx(base.preprocessing.scale.low[0], abs=1e-3), "the cold days are not forgotten"
    assert high > base.preprocessing.scale.high[0] + 4
    record = learned.provenance["learned_on"]
    assert record["later_days"] == 7 and record["last"] == "1970-01-15T00:00:00Z"
    twice = learn_on(learned, [recording(readings(3, 2), first_day=14)])
    assert twice.provenance["normal_days"] == pytest.approx(17.0)


def test_rows_in_alarm_are_not_learned(base):
    values = readings(7, 3)
    values[DAY : DAY + 60, 1] += 15.0
    quiet = quiet_recordings(base, [recording(values, first_day=7)])
    assert len(quiet) >= 2 and max(each.values[:, 1].max() for each in quiet) < 30
    assert sum(len(each.times_ms) for each in quiet) > 5 * DAY


def test_rows_of_incidents_are_left_out_unless_somebody_called_them_false(base):
    values = readings(4, 4).astype(np.float32)
    rows = Rows(np.arange(len(values)) * STEP_MS, values, np.isfinite(values), np.ones(len(values), np.bool_))
    incident = {"since": "1970-01-02T00:00:00Z", "closed": "1970-01-02T06:00:00Z"}
    kept = sum(len(each.times_ms) for each in quiet_rows(base, rows, [incident]))
    assert 3 * DAY < kept < 4 * DAY - 72
    false = incident | {"disposition": {"is": "false"}}
    assert sum(len(each.times_ms) for each in quiet_rows(base, rows, [false])) == 4 * DAY
    with pytest.raises(DataError, match="find out what the alarms are about first"):
        quiet_rows(base, rows, [{"since": "1970-01-01T03:00:00Z", "closed": None}])


def test_a_model_without_its_readings_says_so(base):
    with pytest.raises(DataError, match="train it again on old and new files together"):
        learn_on(replace(base, lessons=None), [recording(readings(1, 0))])


def test_readings_and_labelled_attacks_are_kept_in_the_directory(base, directory):
    assert load_own_model(directory).lessons is None, "a monitor does not load them"
    lessons = load_own_model(directory, with_lessons=True).lessons
    (kept,) = lessons.recordings()
    assert np.allclose(kept.values, readings(7, 0), atol=1e-4) and lessons.events == ()


def test_the_command_learns_from_files_and_the_base_is_unchanged(directory, tmp_path):
    times = np.datetime64("2026-03-01T00:00:00") + np.arange(3 * DAY) * np.timedelta64(300, "s")
    lines = [f"{t},{a},{b},{c}" for t, (a, b, c) in zip(times, readings(3, 5), strict=True)]
    (tmp_path / "later.csv").write_text("\n".join(["time,outdoor,room,valve", *lines]))
    before = fingerprint(directory)
    arguments = ["commission", tmp_path / "later.csv", "--model", directory, "--out", tmp_path / "learned", "--json"]
    result = CliRunner().invoke(main, [str(each) for each in arguments])
    assert result.exit_code == 0, result.output
    assert fingerprint(directory) == before
    assert load_own_model(tmp_path / "learned").provenance["learned_on"]["base"] == before


@pytest.mark.slow
def test_a_monitor_lets_its_plant_learn_on_and_uses_the_result(directory, tmp_path):
    state = tmp_path / "state"
    (tmp_path / "live.toml").write_text(
        f'[monitor]\nstate_dir = "{state}"\n[[site]]\nname = "north"\nsource = "mqtt://127.0.0.1:1/bms"\n'
        f'plant = "{directory / "plant.toml"}"\nmodel = "{directory}"\nlearn_days = 7\n'
    )
    journal = state / "journal.sqlite"
    state.mkdir()
    with Journal(journal) as written:
        for day in range(7):
            times = [(day * DAY + at) * STEP_MS for at in range(DAY)]
            rows = [readings(1, 10 + day).astype(np.float32)]
            written.write([Commit(site="north", time_ms=times[-1], times_ms=times, rows=rows)])
    plan = OwnLearningPlan(
        base=directory, folder=state / "models" / "north", zones=1, step_ms=STEP_MS, days=7, again_days=3
    )
    learner = Learner(journal, {"north": plan})
    assert learner.due() == ["north"] and plan.newest() is None
    learned = learner.commission("north")
    assert plan.newest()[0] == learned and learner.due() == [], "three days have to pass"
    settings = read_settings(tmp_path / "live.toml")
    service = open_monitor(settings)
    try:
        detector = service._monitor.sites["north"].detector
        assert detector.is_own and detector.model.startswith(learned.name)
        assert detector.commissioning["days"] == 7.0
    finally:
        service._shut_down()
