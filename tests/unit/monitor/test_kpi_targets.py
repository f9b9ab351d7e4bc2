"""Targets of ISA-18.2: within, outside with the reason, or too early to say."""

import pytest

from graphghha.monitor.kpi_targets import TARGETS, verdicts

CALM = {
    "days": 30.0,
    "annunciated": 400,
    "per_10_min": 0.09,
    "most_in_10_min": 4,
    "share_of_periods_above_10": 0.0,
    "share_of_time_in_flood": 0.001,
    "top_10_share": 0.04,
    "chattering": 0,
    "stale": 4,
    "priorities": {"low": 0.8, "medium": 0.15, "high": 0.05},
}


def test_a_calm_site_keeps_every_target():
    found = verdicts(CALM)
    assert set(found) == {target.figure for target in TARGETS}
    assert {each["verdict"] for each in found.values()} == {"within"}


@pytest.mark.parametrize(
    ("figure", "value", "why"),
    [
        ("per_10_min", 1.5, "outside: more than 1; up to 2 are manageable"),
        ("per_10_min", 2.5, "outside: more than 2, which an operator cannot manage"),
        ("most_in_10_min", 11, "outside: more than 10 at once: nobody can read them"),
        ("share_of_time_in_flood", 0.02, "outside: more than 1 % of the time"),
        ("stale", 5, "outside: more than 4: standing for more than 24 h"),
        ("priorities", {"high": 0.7, "medium": 0.3}, "outside: 70% are high: operators learn to ignore"),
        ("priorities", {"medium": 1.0}, "outside: only 0% are low"),
    ],
)
def test_what_is_outside_says_why(figure, value, why):
    assert verdicts(CALM | {figure: value})[figure]["verdict"].startswith(why)


def test_little_data_is_no_verdict():
    early = verdicts(CALM | {"days": 0.4, "annunciated": 3, "top_10_share": 1.0, "per_10_min": 3.0})
    assert early["per_10_min"]["verdict"] == "cannot be said yet: less than 1 day of data"
    assert early["top_10_share"]["verdict"] == "cannot be said yet: fewer than 200 announcements"
    assert early["chattering"]["verdict"] == "within"
