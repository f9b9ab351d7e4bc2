"""The buildings of a recipe: never the same for two purposes, and known from a model's provenance."""

from dataclasses import asdict, replace

from graphghha.lab.runs import Schedule
from graphghha.lab.training import FitConfig, Recipe, Validation

CASES = ("A", "B")


def test_no_building_serves_two_purposes():
    recipe, validation = Recipe(seed=3), Validation()
    parts = [
        recipe.normal(),
        recipe.attacked(CASES),
        recipe.selection(CASES),
        validation.attacked(recipe, CASES),
        validation.normal(recipe),
    ]
    buildings = [run.building for runs in parts for run in runs]
    assert len(set(buildings)) == len(buildings)
    assert not {run.building for run in Recipe(seed=4).normal()} & set(buildings)


def test_the_provenance_of_a_model_gives_the_buildings_it_was_trained_on():
    recipe = Recipe(seed=3, zones=2, schedule=Schedule(ramp_share=0.1), fit=FitConfig(epochs=9), workers=5)
    known = Recipe.from_provenance({"recipe": asdict(recipe)})
    assert known.normal() == recipe.normal() and known.attacked(CASES) == recipe.attacked(CASES)
    assert known == replace(recipe, fit=FitConfig(), workers=Recipe().workers)
    assert Recipe.from_provenance({}) == Recipe()
