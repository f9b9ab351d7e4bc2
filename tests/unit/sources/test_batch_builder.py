import pytest

from graphghha.sources import Rejection
from graphghha.sources.batch_builder import BatchBuilder
from graphghha.sources.mapping import Mapper
from source_builders import NINE, points, readings

ROOM = "zone-01/RM_TEMP"


def build(*adds, **settings):
    builder = BatchBuilder("site", Mapper(points()), **settings)
    for arguments in adds:
        builder.add(*arguments)
    return builder.take(NINE)


@pytest.mark.parametrize("quality", [None, "good", "Good", "uncertain", "repaired", "OK"])
def test_a_reading_of_usable_quality_is_taken_in_si(quality):
    assert readings(build((ROOM, 68, NINE, "degF", quality))) == [(ROOM, NINE, 20.0)]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((ROOM, 20.0, NINE, None, "bad"), Rejection.BAD_QUALITY),
        ((ROOM, 20.0, NINE, None, 3), Rejection.BAD_QUALITY),
        ((ROOM, None, NINE), Rejection.BAD_QUALITY),
        ((ROOM, 20.0, NINE, 3), Rejection.WRONG_UNIT),
        ((ROOM, 20.0, NINE, "bar"), Rejection.WRONG_UNIT),
        (("cellar", 20.0, NINE), Rejection.UNMAPPED),
        ((ROOM, True, NINE), Rejection.MALFORMED),
        ((ROOM, float("nan"), NINE), Rejection.MALFORMED),
        ((ROOM, 10**400, NINE), Rejection.OUT_OF_LIMITS),
        ((ROOM, 1e9, NINE), Rejection.OUT_OF_LIMITS),
        ((ROOM, 20.0, 0), Rejection.BAD_TIME),
        ((ROOM, 1e9, 1 << 80), Rejection.BAD_TIME),
    ],
)
def test_any_other_reading_is_rejected_for_one_reason(arguments, reason):
    batch = build(arguments)
    assert len(batch) == 0 and {why: count for why, count in batch.rejected.items() if count} == {reason: 1}


def test_a_reading_may_be_a_little_ahead_of_our_clock():
    assert len(build((ROOM, 20.0, NINE + 5_000), max_ahead_s=5)) == 1
    assert build((ROOM, 20.0, NINE + 5_001), max_ahead_s=5).rejected[Rejection.BAD_TIME] == 1


def test_readings_with_impossible_times_are_rejected_and_show_whose_clock_is_wrong():
    dead, ahead = 1_000, NINE + 400 * 86_400_000
    batch = build((ROOM, 20.0, dead), (ROOM, 20.0, NINE), (ROOM, 20.0, ahead))
    columns, times = batch.strays
    assert len(batch) == 1 and columns.tolist() == [batch.points[0]] * 2 and times.tolist() == [dead, ahead]
    assert build((ROOM, 20.0, NINE)).strays == ()


def test_what_was_taken_is_not_handed_over_again():
    builder = BatchBuilder("site", Mapper(points()))
    builder.add(ROOM, 20.0, NINE)
    builder.reject(Rejection.TOO_LARGE, 2)
    assert len(builder) == 1 and builder.take(NINE, "receipt").receipt == "receipt"
    again = builder.take(NINE)
    assert len(builder) == len(again) == 0 and not any(again.rejected.values())


def test_readings_that_are_bad_or_impossible_withdraw_the_point():
    batch = build((ROOM, 20.0, NINE - 9, None, "bad"), (ROOM, 20.0, NINE - 5, None, "bad"), (ROOM, 1e9, NINE))
    columns, times = batch.withdrawn
    assert len(set(columns.tolist())) == 1 and times.tolist() == [NINE - 5, NINE]
    assert build((ROOM, 20.0, NINE)).withdrawn == ()
    assert build((ROOM, 20.0, 0, None, "bad")).withdrawn == (), "a wrong clock withdraws nothing"
