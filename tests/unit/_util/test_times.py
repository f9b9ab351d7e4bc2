from graphghha._util.times import iso, iso_ms


def test_times_are_utc_with_a_z():
    assert iso(1_530_522_000_000) == "2018-07-02T09:00:00Z"
    assert iso_ms(1_530_522_000_007) == "2018-07-02T09:00:00.007Z"


def test_times_before_1970_are_written_too():
    assert iso(-1000) == "1969-12-31T23:59:59Z"
