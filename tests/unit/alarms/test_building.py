"""Incidents of many zones at once."""

import pytest

from graphghha.alarms import BuildingRule, Opening, members_of_building, newcomers
from graphghha.errors import ConfigError

MINUTE = 60_000
RULE = BuildingRule()


def opened(*minutes):
    return [Opening(f"i-{at}", f"zone-{at:02}", minute * MINUTE) for at, minute in enumerate(minutes)]


@pytest.mark.parametrize(("zones", "least"), [(1, 3), (3, 3), (9, 3), (10, 4), (12, 4), (100, 34)])
def test_it_takes_three_zones_and_a_third_of_the_building(zones, least):
    assert RULE.least(zones) == least


def test_zones_that_begin_together_are_one_incident_of_the_building():
    assert members_of_building(opened(0, 5, 30), 30 * MINUTE, 30 * MINUTE, RULE, 9) == ("i-0", "i-1", "i-2")
    assert members_of_building(opened(0, 5, 31), 31 * MINUTE, 30 * MINUTE, RULE, 9) == (), "the first is too old"
    assert members_of_building(opened(0, 5, 30), 30 * MINUTE, 30 * MINUTE, RULE, 12) == (), "too few"


def test_several_incidents_of_one_zone_are_one_zone():
    same = [Opening(f"i-{at}", "zone-01", 0) for at in range(5)]
    assert members_of_building(same, 0, 30 * MINUTE, RULE, 9) == ()


def test_further_zones_join_while_it_grows():
    late = opened(0, 40)
    assert newcomers(late, 40 * MINUTE, 30 * MINUTE, ["zone-00"], 15 * MINUTE) == ("i-1",)
    assert newcomers(late, 40 * MINUTE, 30 * MINUTE, ["zone-00"], 5 * MINUTE) == (), "it no longer grows"
    assert newcomers(late, 40 * MINUTE, 30 * MINUTE, ["zone-00", "zone-01"], 15 * MINUTE) == (), "the zone is part"


@pytest.mark.parametrize("wrong", [{"zones": 1}, {"share": 0.0}, {"share": 1.5}, {"within": -1}], ids=str)
def test_a_rule_without_sense_is_refused(wrong):
    with pytest.raises(ConfigError, match=r"incident\.building"):
        BuildingRule(**wrong)
