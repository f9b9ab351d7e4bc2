import pytest

from graphghha.exports.dialects import recognize
from graphghha.exports.headers import split_header
from graphghha.exports.naming import guess_kind, words_of


@pytest.mark.parametrize(
    "name, role, purpose, quantity",
    [
        # Niagara and other building systems
        ("VAV-1_ZN-T", "sensor", "measurement", "temperature"),
        ("S-7_DA-H", "sensor", "measurement", "humidity"),
        ("S-7_RH-O", "actuator", "position", None),
        ("VAV-2_ACTCLGSP", "controller", "setpoint", None),
        ("S-7_DAT-SP", "controller", "setpoint", None),
        ("S-7_SF-C", "actuator", "command", None),
        ("S-7_SF-S", "actuator", "status", None),
        ("VAV-10-0CC-O", "controller", "mode", None),
        ("VAV-3-SUPFLOW", "sensor", "measurement", "flow"),
        ("S-7_BLDG-P", "sensor", "measurement", "pressure"),
        ("AHU1/CHW Valve Position", "actuator", "position", None),
        ("NAE1/N2-1.VAV-1.ZN-T.Trend - Present Value", "sensor", "measurement", "temperature"),
        ("FCU_CVLV_DM", "actuator", "command", None),
        ("RMCLGSPT", "controller", "setpoint", None),
        # SWaT, WADI, HAI, BATADAL, EDS
        ("LIT101", "sensor", "measurement", "length"),
        ("MV101", "actuator", "position", None),
        ("P101", "actuator", "status", None),
        ("1_LT_001_PV", "sensor", "measurement", "length"),
        ("2_MCV_101_CO", "actuator", "command", None),
        ("2_FIC_101_SP", "controller", "setpoint", None),
        ("P1_FCV01D", "actuator", "command", None),
        ("P1_PIT01", "sensor", "measurement", "pressure"),
        ("L_T1", "sensor", "measurement", "length"),
        ("F_PU10", "sensor", "measurement", "flow"),
        ("S_PU1", "actuator", "status", None),
        ("P_J280", "sensor", "measurement", "pressure"),
        ("ATT_FLAG", "label", "label", None),
        ("kettleTemp", "sensor", "measurement", "temperature"),
        ("liqLevSetting", "controller", "setpoint", None),
        ("flowKP", "controller", "tuning", None),
        ("heaterSwitch", "actuator", "status", None),
        ("coolingWaterPre", "sensor", "measurement", "pressure"),
        ("xyz", "unknown", "unknown", None),
    ],
)
def test_names_of_many_systems_tell_what_a_point_is(name, role, purpose, quantity):
    kind = guess_kind(name)
    assert (kind.role, kind.purpose, kind.quantity) == (role, purpose, quantity) and kind.reason


def test_a_label_a_unit_or_states_help_where_the_name_does_not():
    assert guess_kind("xyz", label="duct_static").quantity == "pressure"
    assert guess_kind("xyz", unit="degF").quantity == "temperature"
    assert guess_kind("xyz", unit="%").purpose == "position"
    assert guess_kind("xyz", is_state=True).purpose == "status"
    assert guess_kind("SF-T", is_state=True).purpose == "status"  # a word is no temperature


def test_names_are_cut_into_words():
    assert words_of("VAV-1_ZN-T") == "VAV 1 ZN T" and words_of("coolingWaterFlowRate") == "COOLING WATER FLOW RATE"


@pytest.mark.parametrize(
    "header, name, unit",
    [
        ("Value (°F)", "Value", "°F"),
        ("Room [degF]", "Room", "degF"),
        ("CHWS-T ()", "CHWS-T", None),
        ("ZN-T °F", "ZN-T", "°F"),
        ("Supply air temperature", "Supply air temperature", None),
        ("Valve (north)", "Valve", "north"),
        ("Fan Mode", "Fan Mode", None),
        ("Return Air RH", "Return Air RH", None),
        ("Return Air %RH", "Return Air", "%RH"),
        ("A (a remark that is no unit)", "A (a remark that is no unit)", None),
    ],
)
def test_units_in_headers(header, name, unit):
    found = split_header(header)
    assert (found.name, found.unit) == (name, unit)


@pytest.mark.parametrize(
    "name, role",
    [
        ("FIT101", "sensor"),
        ("MV101", "actuator"),
        ("P-203", "actuator"),
        ("LIT101", "sensor"),
        ("2_PIC_003_PV", "sensor"),
        ("2_PIC_003_CO", "actuator"),
        ("2_PIC_003_SP", "controller"),
        (r"\\HOST\LOG\1_AIT_001_PV", "sensor"),
        ("P1_FCV01D", "actuator"),
        ("P1_B2004", "controller"),
        ("P4_HT_PO", "sensor"),
        ("attack_P1", "label"),
        ("sysAuto", "controller"),
        ("1#ConValveOnInd", "actuator"),
        ("TK101_LIT.F_CV", "sensor"),
        ("FIC101.OP", "actuator"),
        ("NAE-01/FC-1.VAV-3.ZN-T.Present$20Value", "sensor"),
        ("[default]Tank1/Pump/Cmd", "actuator"),
    ],
)
def test_the_table_of_dialects_knows_names(name, role):
    assert guess_kind(name).role == role


@pytest.mark.parametrize(
    "names, columns, dialect",
    [
        (["FIT101", "LIT101", "MV101", "P101"], {"timestamp"}, "SWaT"),
        (["1_AIT_001_PV", "2_MV_001_STATUS", "2A_AIT_001_PV"], {"date", "time"}, "WADI"),
        (["P1_FT01", "P2_SIT01", "P4_LD"], {"time"}, "HAI"),
        (["L_T1", "F_PU1", "S_PU1", "P_J280"], {"datetime"}, "BATADAL"),
        (["kettleTemp", "heaterSwitch", "flowKP"], {"time"}, "EDS"),
        (["A", "B"], {"tagname", "timestamp", "value", "dataquality"}, "GE Historian"),
        (["A", "B"], {"t_stamp", "a", "b"}, "Ignition"),
        (["NAE1/N2-1.VAV-4.ZN-T", "NAE1/N2-1.VAV-5.ZN-T"], {"time"}, "Metasys"),
        (["A", "B"], {"timestamp", "trend flags", "status", "value (°c)"}, "Niagara"),
        (["Room", "Boiler"], {"zeit"}, None),
    ],
)
def test_dialects_are_recognized(names, columns, dialect):
    found = recognize(names, [frozenset(columns)])
    assert (found[0].name if found else None) == dialect
