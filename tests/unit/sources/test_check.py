from contextlib import closing

from graphghha.sources import Rejection, check_address, open_source, parse_address
from source_builders import PLANT, POINTS, collect
from waiting import until

SETTINGS = {"site": "site", "points": POINTS, "plant": PLANT}
ROOM = "bms/zone-01/RM_TEMP"


def test_a_check_of_a_file_says_what_maps_what_does_not_and_what_is_silent(tmp_path):
    file = tmp_path / "readings.csv"
    file.write_text("time,zone-01/RM_TEMP,zone-1/FCU_DAT,zone-02/RM_TEMP (bar)\n2018-07-02T09:00:00Z,20,13,1\n")
    report = check_address(f"csv:{file}", **SETTINGS, seconds=5)
    as_json = report.to_dict()
    assert as_json["mapped"] == [
        {
            "name": "zone-01/RM_TEMP",
            "point": "zone-01/RM_TEMP",
            "unit": "degC",
            "readings": 1,
            "last_value": 20.0,
            "last_value_unit": "degC",
            "last_time": "2018-07-02T09:00:00Z",
            "unit_assumed": True,
            "out_of_limits": 0,
            "doubt": None,
        }
    ]
    unknown, misfit = as_json["unmapped"]
    assert (unknown["name"], unknown["nearest"]) == ("zone-1/FCU_DAT", "zone-01/FCU_DAT")
    assert misfit["name"] == "zone-02/RM_TEMP" and "degC | degF | K" in misfit["why"]
    assert len(as_json["silent"]) == len(POINTS) - 1 and not as_json["sound"]
    assert report.rows()[0] == ("zone-1/FCU_DAT", "-", "", "1", "no such point; did you mean zone-01/FCU_DAT?")


def test_a_check_shows_a_value_in_the_unit_of_the_sender_and_in_that_of_the_point(tmp_path):
    file = tmp_path / "readings.csv"
    file.write_text("time,zone-01/RM_TEMP [degF],zone-01/FCU_DAT [degC]\n2018-07-02T09:00:00Z,68,13\n")
    report = check_address(f"csv:{file}", **SETTINGS, seconds=5)
    remarks = {row[1]: row[4] for row in report.rows()}
    assert remarks["zone-01/RM_TEMP"] == "last 68 degF = 20 degC" and remarks["zone-01/FCU_DAT"] == "last 13"
    assert {each["last_value_unit"] for each in report.to_dict()["mapped"]} == {"degC"}


def test_a_check_of_a_sound_source_finds_nothing_wrong():
    report = check_address("sim:fcu?zones=2&days=1", **SETTINGS, seconds=60)
    assert report.is_sound and len(report.rows()) == len(POINTS) and report.readings == 1440 * len(POINTS)


def test_a_check_hears_the_broker_and_leaves_the_session_to_the_monitor(broker):
    address = f"{broker.address}/bms"
    with closing(open_source(parse_address(address), site="site", points=POINTS, plant=PLANT)) as monitor:
        until(lambda: monitor.status.is_connected)
    with broker.publisher() as device:
        device.send("bms/zone-01/RM_TMP", b"20.0", retain=True)
        device.send(ROOM, {"time": "2018-07-02T09:00:00Z", "value": 21.0})
        report = check_address(address, site="site", points=POINTS, plant=PLANT, seconds=1.0)
    assert report.rejected == {Rejection.RETAINED: 1} and report.silent == POINTS
    with closing(open_source(parse_address(address), site="site", points=POINTS, plant=PLANT)) as monitor:
        assert 21.0 in collect(monitor, 2)[0]
