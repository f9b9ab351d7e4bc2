"""Days without readings, zones without a voice and points that nobody could use make no model, and it is said why."""

import re

import numpy as np
import pytest

from builders import loop_template
from graphghha.commissioning.coverage import Coverage
from graphghha.commissioning.rows import commission_rows
from graphghha.errors import DataError
from graphghha.plants import load_plant
from graphghha.windows import Rows
from model_builders import small_zone_model

TEMPLATE = load_plant("fcu").template
SIGNALS = len(TEMPLATE.points)
MINUTE, DAY = 60_000, 1440


def fresh(days, zones=3, signals=SIGNALS):
    return np.ones((days * DAY, zones, signals), np.bool_)


def covered(heard, *, template=TEMPLATE):
    rows, zones, _ = heard.shape
    graph = template.replicate(zones)
    coverage = Coverage(graph, template, first_ms=0, days=rows // DAY, step_ms=MINUTE)
    for part in np.array_split(np.arange(rows), 5):
        coverage.push(MINUTE * part, heard[part].reshape(len(part), -1))
    return coverage


def refused(heard, **out_of_limits):
    with pytest.raises(DataError) as caught:
        covered(heard).require_enough("site.csv", out_of_limits)
    assert "\n" not in str(caught.value) and str(caught.value).startswith("site.csv: ")
    return str(caught.value)


def test_whole_days_are_enough_and_a_day_counts_from_half_of_its_minutes():
    heard = fresh(14)
    heard[: DAY // 2] = False
    heard[5 * DAY : 5 * DAY + DAY // 2 + 1] = False
    coverage = covered(heard)
    coverage.require_enough("site.csv", {})
    assert coverage.days == 13 and coverage.short_zones == {}


def test_days_without_readings_do_not_count_and_the_gap_is_named():
    heard = fresh(14)
    heard[3 * DAY : 12 * DAY] = False
    said = refused(heard)
    assert "only 5 of the 14 chosen days" in said and "(gap from 1970-01-04 00:00 to 1970-01-13 00:00 UTC)" in said
    assert "fewer than 7" in said


def test_a_zone_that_was_never_heard_is_named():
    heard = fresh(14)
    heard[:, 1] = False
    assert "zone-02 of 3 zones was never heard" in refused(heard)
    heard[:, 2] = False
    said = refused(heard, **{"zone-03/RM_TEMP": 20_160})
    assert "zone-02, zone-03 of 3 zones were never heard" in said and "20,160 readings of 1 points" in said


def test_nothing_usable_at_all_is_said_with_the_reason():
    said = refused(~fresh(14), **{"zone-01/RM_TEMP": 20_160, "zone-01/FCU_DAT": 840})
    assert "no usable reading" in said and "21,000 readings of 2 points are out of limits" in said


def test_a_zone_of_seven_points_is_refused_and_one_of_eight_is_not():
    heard = fresh(14)
    heard[:, :, 7:] = False
    said = refused(heard)
    assert f"only 7 of the {SIGNALS} points of a zone were ever usable" in said and "and 2 more" in said
    assert TEMPLATE.point_signals[0] in said
    heard[:, 1, 7] = True
    covered(heard).require_enough("site.csv", {})
    heard[:] = False
    heard[:, :, 3] = True
    assert f"points of a zone was ever usable, {TEMPLATE.point_signals[3]}, and" in refused(heard)


def test_a_zone_that_came_late_is_listed_with_its_days():
    heard = fresh(14)
    heard[: 9 * DAY, 2] = False
    coverage = covered(heard)
    coverage.require_enough("site.csv", {})
    assert coverage.days == 14 and coverage.short_zones == {"zone-03": 5}


def rows_of(values):
    times = MINUTE * np.arange(len(values), dtype=np.int64)
    flat = values.reshape(len(values), -1)
    return Rows(times, flat, np.isfinite(flat), np.isfinite(flat).any(axis=1))


def commissioned(values, **changes):
    model = small_zone_model(scale=0.0)
    settings = {"days": 9, "step_ms": MINUTE, "data": "d", "where": "site.csv", **changes}
    return commission_rows(model, [rows_of(values)], values.shape[1], **settings)


def readings(days):
    return 20 + np.random.default_rng(0).normal(0, 0.3, (days * DAY, 3, len(loop_template().points)))


def test_the_record_tells_the_days_that_were_there():
    values = readings(9)
    values[2 * DAY : 4 * DAY] = np.nan
    record = commissioned(values, rejected=lambda: {"zone-01/temp": 12}).commissioning
    assert record.days == 7 and record.out_of_limits == {"zone-01/temp": 12} and record.short_zones == {}
    values[5 * DAY : 6 * DAY] = np.nan
    with pytest.raises(DataError, match=re.escape("only 6 of the 9 chosen days")):
        commissioned(values)


def test_what_is_hidden_on_purpose_is_no_gap():
    """Rows of incidents are not learned from; they were heard all the same."""

    def hide(rows):
        hidden = rows.fresh.copy()
        hidden[2 * DAY : 6 * DAY] = False
        return Rows(rows.times_ms, np.where(hidden, rows.values, np.nan), hidden, rows.heard)

    assert commissioned(readings(9), hide=hide).commissioning.days == 9
