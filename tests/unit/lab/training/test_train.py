import pytest

from graphghha.errors import CheckpointError, ConfigError
from graphghha.lab.training import Recipe, parse_budget, train, train_network
from graphghha.lab.training.zone_recipe import ZoneRecipe
from graphghha.lab.training.zone_train import train_zone_model
from graphghha.nn import LAYERS, GraphGHHA


def test_an_impossible_network_is_refused_before_anything_is_simulated(tmp_path):
    with pytest.raises(ConfigError, match="nonsense"):
        train_network(Recipe(adu={"layer": "nonsense"}), tmp_path, progress=pytest.fail, on_step=pytest.fail)
    assert not list(tmp_path.iterdir())


def test_a_preset_and_a_layer_suffice_and_wrong_ones_are_named(tmp_path):
    with pytest.raises(ConfigError, match="unknown preset 'tiny'; use default | quick | zones"):
        train.train_model("tiny", tmp_path / "model")
    for preset in train.PRESETS:
        with pytest.raises(ConfigError, match="unknown layer 'nonsense'"):
            train.train_model(preset, tmp_path / "model", layer="nonsense")
    assert not list(tmp_path.iterdir())


def test_an_impossible_zone_network_is_refused_before_anything_is_simulated(tmp_path):
    with pytest.raises(ConfigError, match="nonsense"):
        train_zone_model(ZoneRecipe(adu={"layer": "nonsense"}), tmp_path / "work", progress=pytest.fail)
    assert not list(tmp_path.iterdir())


def test_a_network_that_could_not_be_stored_is_refused_before_anything_is_simulated(tmp_path, monkeypatch):
    monkeypatch.setitem(LAYERS, "mine", GraphGHHA)  # and not in LAYER_WEIGHTS
    with pytest.raises(CheckpointError, match="'mine' are not described in LAYER_WEIGHTS"):
        train_network(Recipe(adu={"layer": "mine"}), tmp_path, progress=pytest.fail, on_step=pytest.fail)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["1", "0/day", "-1/day", "one/day", "1/hour"])
def test_a_budget_is_a_positive_number_per_day(text):
    assert parse_budget("0.5/day") == 0.5
    with pytest.raises(ConfigError, match="per day"):
        parse_budget(text)


def test_the_quick_preset_simulates_a_small_part_of_what_the_default_does():
    def zone_days(recipe):
        runs = (recipe.normal_runs * recipe.normal_days, recipe.attacked_runs * recipe.attacked_days)
        return recipe.zones * (sum(runs) + recipe.validation_runs * recipe.validation_days)

    assert zone_days(train.QUICK) * 8 < zone_days(train.DEFAULT)
    assert train.QUICK.fit.epochs < train.DEFAULT.fit.epochs and train.QUICK.adu == train.DEFAULT.adu
    assert train.BUDGETS["quick"] > train.BUDGETS["default"], "few buildings cannot show a small budget"
