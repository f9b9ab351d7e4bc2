"""Trials of commissioning: the same buildings, learned in another way."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.errors import ConfigError, NotFoundError
from graphghha.lab.evaluation import site_trials
from graphghha.lab.evaluation.site_trials import Trial, TrialConfig, trial_rows
from graphghha.lab.runs import Run
from graphghha.models import load_model, shipped_model
from graphghha.plants import CaseSpec, load_plant
from model_builders import untrained_zone_model

PLANT = load_plant("fcu")
START = datetime(2018, 3, 1)


def test_unknown_trials_and_other_models_are_refused():
    with pytest.raises(ConfigError, match="none is named 'mars'"):
        TrialConfig(trials=("mars",))
    with pytest.raises(ConfigError, match="judges zones"):
        trial_rows(load_model(shipped_model("fcu")), TrialConfig())


def test_unknown_conditions_are_refused():
    with pytest.raises(NotFoundError, match="no condition is named 'mars'"):
        trial_rows(load_model(shipped_model("fcu-zones")), TrialConfig(conditions=("mars",)))


def test_conditions_take_turns_in_both_seasons_and_random_buildings_differ():
    trial, config = Trial(name="x"), TrialConfig(conditions=("reference", "cov"))
    runs = [site_trials._building(trial, config, number) for number in range(4)]
    assert len({(run.condition, run.start.month) for run in runs}) == 4 and len({run.seed for run in runs}) == 4
    assert {run.condition for run in runs} == {"reference", "cov"}
    assert len({site_trials._building(trial, TrialConfig(), number).condition for number in range(4)}) == 4


@pytest.mark.slow
def test_new_cases_are_those_that_no_training_saw_and_have_an_error_of_their_probability():
    model = load_model(shipped_model("fcu-zones"))
    trial = Trial(name="new", zones=3, days=0, is_new=True)
    judged = site_trials._tried(model, TrialConfig(), site_trials.EngineConfig(), (trial, 0))
    cases = {outcome.attack.case for each in judged for outcome in each.matches.outcomes}
    assert cases and cases <= set(model.provenance["unseen_cases"])
    row = site_trials._row(trial, judged)
    assert 0 <= row["zone_ece"] < 1 and row["days"] == site_trials.NEW_DAYS
    assert site_trials._row(replace(trial, is_new=False), judged)["zone_ece"] is None


def test_a_part_of_a_run_has_the_attacks_that_begin_in_it():
    case = CaseSpec(name="FCU_VLVStuck_Cooling_100", zone="1", start=START, duration=timedelta(hours=3))
    cases = tuple(replace(case, start=START + timedelta(days=day)) for day in (1, 9, 20))
    whole = Run(seed=1, start=START, days=30, zones=1, cases=cases)
    part = site_trials._part(whole, START + timedelta(days=1), 14)
    assert part.days == 14 and [case.start.day for case in part.cases] == [10]


def test_rows_of_open_incidents_are_not_learned_from():
    """How restless the signals of a zone are depends on its own rows alone."""
    model = untrained_zone_model(PLANT)
    run = Run(seed=3, start=START, days=7, zones=2, condition="reference")
    whole = site_trials._commissioned(model, PLANT, run)
    hidden = [(1, START + timedelta(days=2), START + timedelta(days=4))]
    part = site_trials._commissioned(model, PLANT, run, hidden)
    one, other = (each.zone_preprocessing.levels for each in (whole, part))
    assert np.allclose(one.restlessness[0], other.restlessness[0])
    assert not np.allclose(one.restlessness[1], other.restlessness[1])


@pytest.mark.slow
def test_the_command_prints_one_object_and_its_page_has_a_row_per_trial(tmp_path):
    out = tmp_path / "trials.json"
    options = ["--model", "fcu-zones", "--quick", "--trial", "1 zone", "--json", "--out", str(out)]
    result = CliRunner().invoke(main, ["bench", "commissioning", *options])
    assert result.exit_code == 0, result.output
    [row] = json.loads(result.stdout)["rows"]
    assert row["trial"] == "1 zone" and row["buildings"] == 4 and row["days"] == 4
    page = CliRunner().invoke(main, ["bench", "page", str(out), "--out", str(tmp_path)])
    assert page.exit_code == 0, page.output
    assert "| 1 zone | 4 |" in (tmp_path / "commissioning.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_building_is_judged_week_after_week():
    trial = Trial(name="two weeks", zones=1, days=7, weeks=2)
    config = TrialConfig(buildings=1, days=1)
    judged = site_trials._tried(untrained_zone_model(PLANT), config, site_trials.EngineConfig(), (trial, 0))
    assert [round(each.matches.days) for each in judged] == [7, 7]


def test_attacks_everywhere_hit_all_zones_alike():
    run = site_trials.Run(seed=3, start=START, days=12, zones=3)
    attacked = site_trials._attacked_everywhere(run, tuple(PLANT.cases), site_trials.MANY_ATTACKS)
    events = {(spec.name, spec.start, spec.duration) for spec in attacked.cases}
    assert events and len(attacked.cases) == 3 * len(events) and {spec.zone for spec in attacked.cases} == set("123")
