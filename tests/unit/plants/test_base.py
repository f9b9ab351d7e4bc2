from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.errors import ConfigError, NotFoundError
from graphghha.plants import CaseSpec, load_plant
from graphghha.plants.base import LONGEST, SUSTAINED, choose_cases

NINE = datetime(2018, 7, 2, 9)

names = st.text("abcXYZ019_+-%@", min_size=1)
zones = st.text("abc019-_", min_size=1)
minutes = st.integers(0, LONGEST // timedelta(minutes=1)).map(lambda count: timedelta(minutes=count))
starts = st.datetimes().map(lambda time: time.replace(second=0, microsecond=0))


@given(
    name=names,
    zone=zones,
    start=starts,
    duration=st.none() | st.just(SUSTAINED) | minutes.filter(bool),
    ramp=st.none() | minutes,
    on=st.lists(st.text("ABC_0", min_size=1), max_size=3).map(tuple),
)
def test_a_case_specification_reads_back_from_its_notation(name, zone, start, duration, ramp, on):
    spec = CaseSpec(name=name, zone=zone, start=start, duration=duration, ramp=ramp, on=on)
    assert CaseSpec.parse(str(spec)) == spec


def test_the_notation_is_read_with_spaces_and_any_order_of_options():
    spec = CaseSpec.parse("Replay@zone-02, on=RM_TEMP+FCU_RAT, for=1d2h3m, start=2018-07-02 09:00")
    assert spec == CaseSpec(
        name="Replay",
        zone="zone-02",
        start=NINE,
        duration=timedelta(days=1, hours=2, minutes=3),
        on=("RM_TEMP", "FCU_RAT"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X,start=2018-07-02", "no zone; write NAME@ZONE"),
        ("X@1", "no start"),
        ("X@1,start=noon", "not a time like"),
        ("X@1,start=2018-07-02T09:00:30", "whole minute"),
        ("X@1,start=2018-07-02T09:00+02:00", "time zone"),
        ("X@1,start=2018-07-02,for=6", "not a duration like"),
        ("X@1,start=2018-07-02,for=", "not a duration like"),
        ("X@1,start=2018-07-02,ramp=sustained", "not a duration like"),
        ("X@1,start=2018-07-02,for=0h", "is too short"),
        ("X@1,start=2018-07-02,until=3h", "cannot read 'until=3h'"),
        ("X@1,start=2018-07-02,for=1h,for=2h", "given twice"),
        ("X@1,start=2018-07-02,for=99999999d", "longer than a century"),
        ("X@1,start=2018-07-02,ramp=99999999999999d", "longer than a century"),
        (f"X@1,start=2018-07-02,for={'9' * 5000}m", "longer than a century"),
    ],
)
def test_a_wrong_case_specification_is_refused_with_a_way_out(text, message):
    with pytest.raises(ConfigError, match=message):
        CaseSpec.parse(text)


@pytest.mark.parametrize("seconds", [-60, 90])
def test_durations_and_ramps_are_whole_minutes_and_not_negative(seconds):
    for option in ("duration", "ramp"):
        with pytest.raises(ConfigError, match="negative|whole minutes"):
            CaseSpec(name="X", zone="1", start=NINE, **{option: timedelta(seconds=seconds)})


def test_cases_are_chosen_by_family_and_class():
    plant = load_plant("fcu")
    valves = choose_cases(plant, family="valve")
    assert valves and {case.family for case in valves} == {"valve"}
    sensors = choose_cases(plant, attack_class="sensor")
    assert sensors and {case.attack_class for case in sensors} == {"sensor"}
    with pytest.raises(NotFoundError, match="no family 'vavle'"):
        choose_cases(plant, family="vavle")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("FCU_CVLV", 0.9998, "100%"),
        ("FCU_HVLV_DM", -0.0001, "0%"),
        ("RM_TEMP", 22.4641, "22.5 °C"),
        ("RMCLGSPT", 22.2222, "22.2 °C"),
        ("FCU_OA_CFM", 100.44, "100 L/s"),
        ("FCU_CLG_GPM", 0.36001, "0.36 L/s"),
        ("FCU_CTRL", 1.9998, "setback"),
        ("FAN_CTRL", 1.0, "auto"),
        ("FAN_CTRL", 7.0, "off"),
    ],
)
def test_no_digit_is_finer_than_the_instrument_and_modes_have_names(name, value, text):
    assert load_plant("fcu").signal(name).format_reading(value) == text
