"""Points and zones that are never heard, readings that are all rejected, and names that lead to no point."""

from dataclasses import replace

import numpy as np

from graphghha.monitor.point_watch import NAMES_AFTER_MS, POINTS_AFTER_ROWS, ZONES_AFTER_ROWS, PointWatch
from graphghha.sources import ReadingBatch, Refused, Rejection
from monitor_builders import MINUTE, START, long, wide

POINTS = ("zone-01/temp", "zone-01/valve", "zone-02/temp", "zone-02/valve")


def rows(count, silent=(), first=0):
    values = np.full((count, len(POINTS)), 20.0)
    values[:, list(silent)] = np.nan
    return wide(START + MINUTE * np.arange(first, first + count), values)


def reported(watch, rows, received_ms=START, **more):
    return {event.kind: event.body for event in watch.report(START, rows, received_ms, **more)}


def test_a_zone_that_does_not_exist_is_reported_after_some_rows_with_count_reason_and_example():
    watch = PointWatch(POINTS)
    watch.take(rows(ZONES_AFTER_ROWS, silent=(2, 3)))
    assert reported(watch, ZONES_AFTER_ROWS - 1) == {}
    (body,) = reported(watch, ZONES_AFTER_ROWS).values()
    assert body["zones"] == ["zone-02"] and (body["count"], body["of"]) == (1, 2) and body["priority"] == "high"
    assert body["text"] == "zone zone-02 was never heard, such as zone-02/temp: nothing arrived"
    assert [each.kind for each in watch.conditions("office")] == ["zones.unheard"]
    assert reported(watch, POINTS_AFTER_ROWS) == {}, "its points are not reported again one by one"


def test_a_point_that_was_never_heard_is_a_condition_until_it_is():
    watch = PointWatch(POINTS)
    watch.take(rows(POINTS_AFTER_ROWS, silent=(1,)))
    body = reported(watch, POINTS_AFTER_ROWS)["points.unheard"]
    assert body["points"] == ["zone-01/valve"] and body["reason"] == "nothing arrived" and body["priority"] == "medium"
    again = PointWatch(POINTS)
    again.load(watch.to_state())
    assert again.conditions("office") == watch.conditions("office") != []
    again.take(rows(1, first=POINTS_AFTER_ROWS))
    assert reported(again, POINTS_AFTER_ROWS + 1)["points.heard"]["points"] == ["zone-01/valve"]
    assert again.conditions("office") == []


def test_a_point_that_the_site_is_known_to_lack_is_no_condition():
    watch = PointWatch(POINTS, absent=("zone-01/valve",))
    watch.take(rows(POINTS_AFTER_ROWS, silent=(1,)))
    assert reported(watch, POINTS_AFTER_ROWS) == {}


def test_a_point_whose_readings_are_all_rejected_names_the_reason_and_one_of_them():
    watch = PointWatch(POINTS)
    refused = {(0, Rejection.OUT_OF_LIMITS): Refused(12, "72.3")}
    watch.take(replace(rows(12, silent=(0,)), refused=refused))
    body = reported(watch, 12)["points.rejected"]
    assert (body["readings"], body["reason"]) == (12, "out_of_limits") and body["example"] == "zone-01/temp = 72.3"
    assert watch.refused[0] == {"out_of_limits": [12, "72.3"]}
    watch.take(rows(1, first=12))
    assert "points.heard" in reported(watch, 13)


def test_names_that_lead_to_no_point_are_urgent_while_nothing_else_is_heard():
    watch = PointWatch(POINTS)
    strange = {("R101.Temp", Rejection.UNMAPPED): Refused(58, "")}
    empty = replace(ReadingBatch.empty("office", START, {Rejection.UNMAPPED: 58}), refused=strange)
    watch.take(empty)
    assert reported(watch, 0, START + NAMES_AFTER_MS - 1) == {}
    body = reported(watch, 0, START + NAMES_AFTER_MS)["readings.unmapped"]
    assert body["priority"] == "high" and (body["count"], body["example"]) == (58, "R101.Temp")
    assert "58 readings of a name that leads to no point, such as 'R101.Temp'" in watch.describe_refusals()
    watch.take(rows(ZONES_AFTER_ROWS))
    assert reported(watch, ZONES_AFTER_ROWS) == {} and watch.conditions("office") == [], (
        "a site that is whole lacks nothing"
    )


def test_last_reading_and_usual_step_of_each_point():
    watch = PointWatch(POINTS)
    for minute in (0, 15, 30, 45):
        watch.take(long([START + minute * MINUTE], [2], [20.0 + minute]))
    assert watch.value[2] == 65.0 and watch.heard_ms[2] == START + 45 * MINUTE
    assert watch.step_ms[2] == 15 * MINUTE and watch.step_ms[0] == 0
    watch.take(long([START + 600 * MINUTE], [2], [1.0]))
    assert watch.step_ms[2] == 18 * MINUTE, "one gap changes the usual step by a little only"
