"""Random buildings for training: every purpose its own, no catalogue case among the attacks unless asked for."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from graphghha.errors import ConfigError
from graphghha.lab.runs import split_cases
from graphghha.lab.training.zone_calibrate import OPERATION
from graphghha.lab.training.zone_recipe import ATTACKED, EXPECTATION, FEW_POINTS, LEVELS, ZoneRecipe
from graphghha.plants import load_plant, load_testbed

RECIPE = ZoneRecipe()
PLANT = load_plant("fcu")


def every_run(recipe, count=12):
    for number in range(count):
        yield from recipe.normal(EXPECTATION, number)
        yield recipe.level_run(number)
        yield from recipe.attacked(number)
        yield from recipe.validation(number, OPERATION)


def test_no_building_serves_two_purposes_and_all_seeds_lie_in_the_stated_range():
    seeds = {
        purpose: {run.seed for number in range(12) for run in runs(number)}
        for purpose, runs in (
            (EXPECTATION, lambda n: RECIPE.normal(EXPECTATION, n)),
            (LEVELS, lambda n: [RECIPE.level_run(n)]),
            (ATTACKED, RECIPE.attacked),
            (4, lambda n: RECIPE.validation(n, OPERATION)),
        )
    }
    assert len(set.union(*seeds.values())) == sum(map(len, seeds.values())) == 48
    first, end = RECIPE.seeds
    assert all(first <= seed < end for group in seeds.values() for seed in group)
    other = replace(RECIPE, seed=1)
    assert other.seeds[0] == end


def test_the_same_recipe_gives_the_same_buildings():
    assert list(every_run(RECIPE, 3)) == list(every_run(ZoneRecipe(), 3))


def test_buildings_are_random_and_the_attacked_days_follow_the_commissioned_ones():
    names = {run.condition for run in every_run(RECIPE)}
    assert all(name.isdigit() for name in names) and not names & set(load_testbed("fcu").conditions)
    for number in range(12):
        normal, judged = RECIPE.attacked(number)
        assert (normal.seed, normal.condition, normal.zones) == (judged.seed, judged.condition, judged.zones)
        assert not normal.cases and judged.cases
        assert judged.start >= normal.start + timedelta(days=normal.days)


def test_the_catalogue_is_an_exam_unless_a_share_of_it_is_asked_for():
    rng = np.random.default_rng(0)
    assert all(name.startswith("generic:") for name in RECIPE.cases(rng))
    some = replace(RECIPE, catalogue_share=0.33).cases(np.random.default_rng(0))
    listed = [name for name in some if name in PLANT.cases]
    assert 0.2 < len(listed) / len(some) < 0.46
    assert not set(listed) & set(split_cases(PLANT).unseen_cases), "really new cases stay new"


def test_a_mechanism_can_be_left_out():
    left = replace(RECIPE, without=("replay", "concealment")).cases(np.random.default_rng(0))
    assert not [name for name in left if name.split(":")[1] in ("replay", "concealment")]
    with pytest.raises(ConfigError, match="no mechanism is named 'magic'"):
        replace(RECIPE, without=("magic",))
    with pytest.raises(ConfigError, match="seed 900"):
        ZoneRecipe(seed=900)


def test_some_buildings_have_few_points():
    few = replace(RECIPE, few_points_share=1.0)
    testbed = load_testbed("fcu")
    for number in range(6):
        normal, _ = few.attacked(number)
        assert len(testbed.points_of(normal.condition)) <= FEW_POINTS * len(PLANT.signals)


def test_small_buildings_may_be_sampled_more_densely():
    dense = replace(RECIPE, least_stride_min=12)
    assert [RECIPE.stride(zones) for zones in (1, 6, 12)] == [60, 60, 60]
    assert [dense.stride(zones) for zones in (1, 2, 6, 8, 12)] == [12, 15, 45, 60, 60]


def test_shares_of_building_sizes_must_be_complete():
    with pytest.raises(ConfigError, match="zone_shares must be 7 numbers"):
        replace(RECIPE, zone_shares=(0.5, 0.5))
