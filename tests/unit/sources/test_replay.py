from graphghha.sources import open_source, parse_address
from source_builders import NINE, PLANT, POINTS

SETTINGS = {"site": "site", "points": POINTS, "plant": PLANT}


def test_a_speed_paces_the_rows_by_the_plants_own_time():
    address = "sim:fcu?zones=2&seed=3&start=2018-07-02T09:00&days=1&speed="
    slow = open_source(parse_address(address + "0.001"), **SETTINGS)
    assert slow.poll(0).times_ms.tolist() == [NINE]
    assert slow.poll(0.01) is None and slow.status.is_connected
    quick = open_source(parse_address(address + "6000"), **SETTINGS)
    first = quick.poll(0)
    later = quick.poll(5)
    assert first.times_ms[0] == NINE and later.times_ms[0] == first.times_ms[-1] + 60_000
