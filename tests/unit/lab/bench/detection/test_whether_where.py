"""The comparison of methods that judge zones, and of what they were taught on, at their smallest sizes."""

import json

import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.errors import CheckpointError, ConfigError
from graphghha.lab.bench.detection.diets import FAMILIES, DietConfig, diet_study
from graphghha.lab.bench.detection.effects import TAUGHT
from graphghha.lab.bench.detection.whether_where import QUICK, training_recipe, whether_where
from graphghha.models import load_model, shipped_model
from graphghha.plants import load_testbed
from model_builders import small_model


def run(tmp_path, *arguments, model=("--model", "fcu-zones")):
    out = tmp_path / "result.json"
    options = [*model, "--quick", "--work", str(tmp_path / "work"), "--out", str(out), "--json"]
    result = CliRunner().invoke(main, ["bench", *arguments, *options])
    assert result.exit_code == 0, result.output
    page = CliRunner().invoke(main, ["bench", "page", str(out), "--out", str(tmp_path)])
    assert page.exit_code == 0, page.output
    return json.loads(result.stdout)


@pytest.mark.slow
def test_all_methods_answer_both_questions_on_the_same_buildings(tmp_path):
    printed = run(tmp_path, "whether-where", "--falsify", "0.5")
    recipe = json.loads((tmp_path / "work" / "falsified-1" / "config.json").read_text())["provenance"]["recipe"]
    assert recipe["fit"]["falsify_share"] == 0.5 and recipe["fit"]["seed"] == 1
    methods = {question: set() for question in ("whether", "where")}
    for row in printed["rows"]:
        methods[row["question"]].add(row["method"])
    taught = {"graphghha", "graphghha-falsified-1", "zone_mlp", "zone_boosting"}
    assert methods["whether"] >= {*taught, "largest_evidence", "gumbel_tail", "conformal_tail", "evidence_cusum"}
    assert methods["where"] in (set(), {*taught, "largest_evidence", "first_cause"})
    page = (tmp_path / "whether-where.md").read_text(encoding="utf-8")
    assert (
        "| GraphGHHA (the model) |" in page
        and "| GraphGHHA, trained anew with seed 1, with another share of falsified readings |" in page
    )


@pytest.mark.slow
def test_every_diet_is_judged_on_every_exam(tmp_path):
    printed = run(tmp_path, "diets")
    exams = {"shifted readings", "commands", "catalogue", "new cases"}
    diets = {"all families", "without shifted readings", "without commands", "catalogue a third"}
    assert {(row["diet"], row["exam"]) for row in printed["rows"]} == {(d, e) for d in diets for e in exams}
    assert "without commands" in (tmp_path / "diets.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_model_without_effects_of_reporting_is_judged_beside_one_with_them(tmp_path):
    printed = run(tmp_path, "effects", model=())
    views = {(row["taught"], row["condition"], row["commissioned"]) for row in printed["rows"]}
    assert views == {(name, "cov", state) for name in TAUGHT for state in (False, True)}
    assert "| cov | without effects of reporting |" in (tmp_path / "effects.md").read_text(encoding="utf-8")
    settings = [json.loads((tmp_path / "work" / name / "recipe.json").read_text()) for name in TAUGHT.values()]
    assert [each.pop("observe") for each in settings] == ["bms", "ideal"] and settings[0] == settings[1]


def test_the_diets_have_one_size_and_name_every_mechanism_once():
    config = DietConfig(buildings=60)
    assert {sum(counts.values()) for counts in config.diets.values()} == {60}
    assert config.diets["catalogue a third"]["catalogue"] == 20
    assert "commands" not in config.diets["without commands"]
    assert sorted(name for family in FAMILIES.values() for name in family) == sorted(load_testbed("fcu").mechanisms)
    with pytest.raises(ConfigError, match="at least 6 buildings"):
        DietConfig(buildings=3)


def test_only_a_base_model_that_judges_zones_is_compared(tmp_path):
    with pytest.raises(CheckpointError):
        whether_where(small_model(), QUICK, tmp_path)
    model = load_model(shipped_model("fcu-zones"))
    with pytest.raises(ConfigError, match="no mechanism named 'magic'"):
        diet_study(model, DietConfig(families={"x": ("magic",)}), tmp_path)


def test_the_recipe_of_a_stored_model_is_the_one_it_was_trained_by():
    model = load_model(shipped_model("fcu-zones"))
    recipe = training_recipe(model)
    assert recipe.seeds == tuple(model.provenance["seeds_seen"][0])
    assert recipe.attacked(3) == training_recipe(model).attacked(3)
