from datetime import datetime

import numpy as np
import pytest

from graphghha.errors import ConfigError, NotFoundError
from graphghha.plants.base import CaseSpec
from graphghha.plants.fcu.conditions import CONDITIONS, TYPICAL_POINTS, parse_building
from graphghha.plants.fcu.physics.design import REFERENCE_DESIGN, random_design
from graphghha.plants.fcu.testbed import run

START = datetime(2018, 7, 2)
CASE = CaseSpec.parse("FCU_VLVStuck_Cooling_100@1,start=2018-07-03T09:00,for=6h")


def test_names_and_seeds_are_understood():
    assert parse_building("reference") == REFERENCE_DESIGN
    assert parse_building("17") == random_design(17)
    assert parse_building("17", "ideal").reporting.is_ideal
    assert parse_building("reference", "cov").reporting.mode == "cov"


def test_an_unknown_building_is_refused_with_a_hint():
    with pytest.raises(NotFoundError, match=r"did you mean 'noise-x3'\?"):
        parse_building("noise-3")
    with pytest.raises(ConfigError, match="use bms"):
        parse_building("reference", "telepathy")


def test_every_condition_differs_from_the_reference():
    assert all(design != REFERENCE_DESIGN for name, design in CONDITIONS.items() if name != "reference")
    assert len({str(design) for design in CONDITIONS.values()}) == len(CONDITIONS)


@pytest.mark.parametrize("name", CONDITIONS)
def test_the_testbed_runs_in_every_condition(name):
    (day,) = run(zones=2, days=1, start=START, seed=3, building=name)
    reported = ~np.isnan(day.values).all(axis=(0, 1))
    assert reported.sum() == (14 if name in ("points-14", "all-at-once") else 29)


def test_an_attack_is_judged_on_the_points_a_site_has():
    """A valve stuck open shows in its position, its flow and the room; a filter shows in fewer places."""

    def visible(building: str) -> int:
        days = run(zones=1, days=2, start=START, seed=3, cases=(CASE,), building=building)
        return int(sum(day.observable.any(axis=2).sum() for day in days))

    assert visible("reference") >= visible("points-14") > 0
    assert len(TYPICAL_POINTS) == 14
