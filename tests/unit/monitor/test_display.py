"""Times and readings as people read them: the site's zone beside UTC, and the units they chose."""

import pytest

from graphghha.errors import ConfigError
from graphghha.monitor.display import PLAIN, Display
from graphghha.plants import load_plant

CHICAGO = Display(time_zone="America/Chicago", units="degF")


@pytest.mark.parametrize(
    ("time", "moment"),
    [
        ("2018-07-03T14:07:00Z", "2018-07-03 09:07 CDT (14:07 UTC)"),
        ("2018-07-03T02:12:00Z", "2018-07-02 21:12 CDT (3 Jul 02:12 UTC)"),
        ("2018-01-03T14:07:00Z", "2018-01-03 08:07 CST (14:07 UTC)"),
        ("2018-11-04T06:30:00Z", "2018-11-04 01:30 CDT (06:30 UTC)"),
        ("2018-11-04T07:30:00Z", "2018-11-04 01:30 CST (07:30 UTC)"),
    ],
    ids=["summer", "another day", "winter", "doubled hour", "doubled hour again"],
)
def test_a_moment_is_local_with_utc_beside_it(time, moment):
    assert CHICAGO.moment(time) == moment


def test_utc_is_said_once_and_a_zone_without_a_name_by_its_distance():
    assert PLAIN.moment("2018-07-03T14:07:00Z") == "2018-07-03 14:07 UTC"
    assert Display(time_zone="America/Sao_Paulo").clock(0, 0) == "21:00 UTC-03"


def test_a_time_of_day_has_its_date_where_it_is_another_day():
    assert CHICAGO.clock("2018-07-03T14:07:00Z", on="2018-07-03T20:00:00Z") == "09:07 CDT"
    assert CHICAGO.clock("2018-07-03T14:07:00Z", on="2018-07-04T20:00:00Z") == "3 Jul 2018 09:07 CDT"
    assert CHICAGO.clock("2018-07-03T14:07:00Z") == "3 Jul 2018 09:07 CDT"


def test_temperatures_are_converted_and_nothing_else():
    text = "room reads warm (24.5 °C, expected 22.9); humidity is high (53 %RH, expected 45); water 7.0 °C"
    shown = CHICAGO.reword(text)
    assert shown == "room reads warm (76.1 °F, expected 73.2); humidity is high (53 %RH, expected 45); water 44.6 °F"
    assert PLAIN.reword(text) == text and PLAIN.reword(shown) == text
    assert CHICAGO.reading(load_plant("fcu").signal("RM_TEMP"), -40.0) == "-40.0 °F"
    assert CHICAGO.reading(load_plant("fcu").signal("FCU_CVLV"), 0.44) == "44%"


def test_what_a_journal_keeps_is_used_unless_something_else_is_asked_for():
    about = CHICAGO.to_dict()
    assert Display.of_site(about) == CHICAGO and Display.of_site({}) == PLAIN
    assert Display.of_site(about, "Europe/Berlin", "degC") == Display(time_zone="Europe/Berlin")
    assert Display.of_site({"time_zone": "Mars/Olympus", "units": 7}) == PLAIN, "a journal that somebody else wrote"


@pytest.mark.parametrize("wrong", [{"time_zone": "Mars/Olympus"}, {"time_zone": "../etc/passwd"}, {"units": "K"}])
def test_what_cannot_be_shown_is_refused(wrong):
    with pytest.raises(ConfigError, match="zone|units"):
        Display(**wrong)
