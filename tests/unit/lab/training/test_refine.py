"""A model that judges zones is refined on further buildings: its preprocessing stays, its weights are the start."""

from dataclasses import replace

import numpy as np
import pytest

from graphghha.errors import ConfigError
from graphghha.lab.training.train import train_model
from graphghha.lab.training.zone_fit import ZoneFitConfig
from graphghha.lab.training.zone_recipe import ZoneRecipe
from graphghha.lab.training.zone_train import train_zone_model
from graphghha.models import load_model

TINY = ZoneRecipe(
    seed=1,
    attacked_buildings=2,
    attacked_days=3,
    commissioning_days=4,
    validation_buildings=1,
    validation_days=1,
    zone_shares=(0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    fit=ZoneFitConfig(epochs=1, batch=32, learning_rate=1e-4),
)


@pytest.fixture(scope="module")
def base():
    return load_model("fcu-zones")


def test_a_refined_model_keeps_its_preprocessing_and_says_where_it_comes_from(base, tmp_path):
    seed = 1 + max(end for _, end in base.provenance["seeds_seen"]) // 1_000_000
    refined = train_zone_model(replace(TINY, seed=seed), tmp_path / "work", base=base, progress=lambda line: None)
    own, before = refined.zone_preprocessing, base.zone_preprocessing
    assert own.scaler == before.scaler and own.expectation is before.expectation
    moved = [name for name in base.weights if not np.array_equal(base.weights[name], refined.weights[name])]
    assert moved and all(np.abs(refined.weights[name] - base.weights[name]).max() < 0.1 for name in moved)
    assert refined.provenance["base"]["fingerprint"] == base.fingerprint
    assert len(refined.provenance["seeds_seen"]) == len(base.provenance["seeds_seen"]) + 1


def test_buildings_that_the_base_has_seen_are_refused(base, tmp_path):
    seen = base.provenance["seeds_seen"][0][0] // 1_000_000 - 1
    with pytest.raises(ConfigError, match=f"has seen the buildings of seed {seen}; give another seed"):
        train_zone_model(replace(TINY, seed=seen), tmp_path / "work", base=base, progress=pytest.fail)
    assert not list(tmp_path.iterdir())


def test_only_models_of_zones_with_the_same_layer_are_refined(base, tmp_path):
    with pytest.raises(ConfigError, match="must be a model that judges zones of 'fcu'"):
        train_zone_model(TINY, tmp_path / "work", base=load_model("fcu"), progress=pytest.fail)
    with pytest.raises(ConfigError, match="has the layer 'graphghha', which cannot be exchanged"):
        train_model("zones", tmp_path / "model", layer="vanilla_gat", seed=500, base=base)
    with pytest.raises(ConfigError, match="use the preset zones"):
        train_model("quick", tmp_path / "model", base=base)
    assert not list(tmp_path.iterdir())
