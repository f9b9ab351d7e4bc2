"""Thresholds are read strictly: a threshold that is not what it seems would silence alarms."""

import json
from dataclasses import replace

import pytest

from graphghha.alarms import BuildingRule, GroupRule
from graphghha.errors import ConfigError, SchemaError
from graphghha.models import BudgetSearch, Thresholds, load_model, shipped_model
from graphghha.windows import Fingerprint, Span

SEARCH = BudgetSearch(
    budget_per_day=0.2,
    false_alarms=3,
    days=20.0,
    curve=((0.9, 0.0), (0.5, 0.15)),
    seen=Fingerprint((Span("seed 1", 0, 1440),), "abc"),
)
FITTED = Thresholds(search=SEARCH)


JOINING = Thresholds(group=GroupRule(building=BuildingRule(zones=4, share=0.25, within=20)))


@pytest.mark.parametrize("thresholds", [Thresholds(), FITTED, JOINING], ids=["defaults", "fitted", "building"])
def test_thresholds_survive_json(thresholds):
    assert Thresholds.from_dict(json.loads(json.dumps(thresholds.to_dict()))) == thresholds


@pytest.mark.parametrize("name", ["thresholds", "calibration"])
def test_the_shipped_file_is_written_back_byte_for_byte(name):
    directory = shipped_model("fcu")
    value = getattr(load_model(directory), name)
    assert json.dumps(value.to_dict(), indent=1) + "\n" == (directory / f"{name}.json").read_text(encoding="utf-8")


def test_a_budget_that_was_never_fitted_is_an_error():
    assert FITTED.budget_per_day == 0.2
    with pytest.raises(ConfigError, match="no alert budget"):
        _ = replace(FITTED, search=None).budget_per_day


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "x"}, "format 'x', but this version reads"),
        ({"days": None}, "days must be a finite number, got None"),
        ({"days": 0}, "must be positive"),
        ({"budget_per_day": float("nan")}, "budget_per_day must be a finite number"),
        ({"false_alarms": 1.5}, "false_alarms must be a whole number"),
        ({"curve": [[0.5]]}, "not enough values"),
        ({"more": 1}, "unknown field 'more'"),
        ({"seen": {}}, "fingerprint"),
        ({"rule": {"raise_at": 0.5}}, "the field 'clear_at' is missing"),
        ({"rule": 3}, "expected an object, got int"),
    ],
)
def test_a_field_that_does_not_fit_is_named(change, message):
    with pytest.raises(SchemaError, match=f"thresholds: .*{message}"):
        Thresholds.from_dict(FITTED.to_dict() | change)


@pytest.mark.parametrize(
    ("part", "name", "value", "message"),
    [
        ("rule", "raise_at", 2, "raise_at 2.0 must lie above 0"),
        ("rule", "raise_at", True, "rule.raise_at must be a finite number, got True"),
        ("rule", "votes", 2.0, "rule.votes must be a whole number"),
        ("rule", "height", 1, "unknown field 'height'"),
        ("group", "linger", "30", "group.linger must be a whole number, got '30'"),
        ("group", "linger", -1, "linger -1 must not be negative"),
        ("rule", "raise_at", 1.0, "raise_at 1 would never raise an alarm"),
        ("rule", "raise_at", 10**400, ""),
        ("rule", "clear_after", 2**63, "must be at least 1 and at most 10080"),
        ("rule", "window", 2**63, "votes <= window <= 64"),
        ("group", "max_hops", 2**63, "max_hops 9223372036854775808 must not be above 100"),
        ("group", "join_within", 2**63, "must not be above"),
        ("group", "linger", 2**63, "must not be above"),
        ("group", "settle", 2**63, "must not be above"),
        ("group", "height", 1, "unknown field 'height'"),
        ("group", "building", None, "expected an object, got NoneType"),
        ("group", "building", {"zones": 3, "share": 0.3}, "the field 'within' is missing"),
        ("group", "building", {"zones": 3, "share": 0.3, "within": 9, "x": 1}, "unknown field 'x'"),
        ("group", "building", {"zones": 1, "share": 0.3, "within": 9}, "use two zones"),
    ],
)
def test_a_rule_that_does_not_fit_is_refused(part, name, value, message):
    data = FITTED.to_dict()
    data[part] = {**data[part], name: value}
    with pytest.raises(SchemaError, match=f"thresholds: .*{message}"):
        Thresholds.from_dict(data)
