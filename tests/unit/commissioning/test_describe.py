"""What a commissioning found is said in sentences that fit one zone and many."""

from graphghha.commissioning.rows import describe
from graphghha.models import CommissioningRecord

ZONES = ("zone-01", "zone-02")


def said(zones=ZONES, **found):
    usual = {
        "base": "a",
        "data": "b",
        "first": "2018-01-01T00:00:00+00:00",
        "last": "2018-01-15T00:00:00+00:00",
        "days": 14,
        "threshold": 5.0,
        "own_threshold": 4.0,
        "expected_false_per_day": (0.0, 0.4),
    }
    return describe(CommissioningRecord(zones=zones, **{**usual, **found}))


def test_days_and_false_alarms_of_others_come_first():
    assert said()[:2] == [
        "commissioned 2 zones on 14 days, 2018-01-01 00:00 to 2018-01-15 00:00 UTC",
        "other buildings of this size had 0.0 to 0.4 false alarms a day after commissioning",
    ]


def test_rare_false_alarms_are_told_by_the_days_between_them():
    lines = said(zones=("zone-01",), expected_false_per_day=(0.0, 0.03125))
    assert lines[0].startswith("commissioned 1 zone on") and "had at most one false alarm in 32 days" in lines[1]


def test_points_that_no_zone_has_are_named_once():
    missing = ("zone-01/FCU_MAT", "zone-02/FCU_MAT", "zone-02/FCU_RAT")
    lines = said(missing_points=missing)
    assert "points that the site does not have: FCU_MAT" in lines
    assert "points that were never heard: zone-02/FCU_RAT" in lines


def test_days_without_readings_are_told():
    assert said(days=9)[0].endswith(
        "on 9 days, 2018-01-01 00:00 to 2018-01-15 00:00 UTC (of 14; the others hold too few usable readings)"
    )
    assert "zone-02 was heard on 1 day only; commission again once it has 7" in said(short_zones={"zone-02": 1})


def test_points_whose_readings_were_rejected_are_not_called_points_that_the_site_lacks():
    lines = said(
        missing_points=("zone-01/FCU_MAT", "zone-02/FCU_MAT", "zone-01/FCU_RAT", "zone-02/FCU_RAT"),
        out_of_limits={"zone-01/FCU_MAT": 196_000, "zone-02/FCU_MAT": 110, "zone-02/RM_TEMP": 3},
    )
    assert "points that the site does not have: FCU_RAT" in lines
    never = "points that were never usable: 196,110 readings out of limits (zone-01/FCU_MAT, zone-02/FCU_MAT)"
    assert f"{never}; check their units" in lines
    assert "not used of points that are usable otherwise: 3 readings out of limits (zone-02/RM_TEMP)" in lines
