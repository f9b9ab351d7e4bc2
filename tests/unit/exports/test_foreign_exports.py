"""What exports of other systems do that a reader must expect, one thing at a time."""

import math
import tomllib

import numpy as np
import pytest

from export_builders import ms, only, read, reasons
from graphghha.exports import read_exports
from graphghha.exports.naming import guess_kind, words_of
from graphghha.exports.plant_toml import plant_toml
from graphghha.exports.proposal import propose_plant
from graphghha.exports.recordings import read_recordings
from graphghha.exports.suspicions import counts_up
from graphghha.plants import parse_plant


def test_a_haystack_time_names_a_city_behind_its_offset(tmp_path):
    lines = [f"2023-08-01T{hour:02d}:00:00-06:00 Denver,{60 + hour}°F,{hour}kWh" for hour in range(24)]
    export = read(tmp_path, "ts,Zone Temp,Main\n" + "\n".join(lines) + "\n")
    zone, meter = export.series
    assert zone.times_ms[0] == ms(2023, 8, 1, 6) and len(zone) == 24
    assert (zone.stated_unit, meter.stated_unit) == ("°F", "kWh")


def test_points_of_one_name_are_told_apart_by_their_path(tmp_path):
    text = "Date / Time,Name Path Reference,Object Name,Object Value\n"
    for box in (1, 2):
        text += "".join(
            f"3/{day}/2024 1:00:00 PM,ADX:NAE-7/FC.VMA-{box}.ZN-T,ZN-T,{20 + box}.{day % 10} deg C\n"
            for day in range(1, 29)
        )
    export = read(tmp_path, text)
    assert [each.name for each in export.series] == ["ADX:NAE-7/FC.VMA-1.ZN-T", "ADX:NAE-7/FC.VMA-2.ZN-T"]


def test_rows_may_be_longer_than_their_header(tmp_path):
    rows = [f"2024-03-01 00:{minute:02d},{20 + minute % 3},5," for minute in range(30)]
    export = read(tmp_path, "Timestamp,A,B\n" + "\n".join(rows) + "\n")
    assert [each.name for each in export.series] == ["A", "B"]
    rows = [f"2024-03-01 00:{minute:02d},{{ }},{{down,stale}},0.05" for minute in range(30)]
    export = read(tmp_path, "history:/x\nTimestamp,Trend Flags,Status,Value (in/wc)\n" + "\n".join(rows) + "\n")
    assert not any(len(each) for each in export.series) and "bad" in reasons(export)


def test_words_with_marks_stay_whole():
    assert words_of("RLT01 Kühlventil-Stellung") == "RLT 01 KÜHLVENTIL STELLUNG"
    assert words_of("Außentemperatur") == "AUSSENTEMPERATUR"
    kinds = [guess_kind(name).role for name in ("Heizventil", "Kanaldruck", "U1_PMP101", "SC401", "Volumenstrom")]
    assert kinds == ["actuator", "sensor", "actuator", "actuator", "sensor"]


@pytest.mark.parametrize(
    "values, is_meter",
    [
        (np.cumsum(np.full(500, 0.7)), True),
        (np.cumsum(np.full(500, 200.0)) % 65536, True),
        (20 + np.sin(np.arange(500) / 20), False),
        (np.linspace(0, 1, 500) + np.random.default_rng(0).normal(0, 0.05, 500), False),
        (np.repeat([1.0, 2.0, 3.0], 200), False),
    ],
)
def test_meters_are_told_from_sensors(values, is_meter):
    assert counts_up(values) is is_meter


def tags(folder, rows=1500):
    """Two lines of a valve, a flow and a level each, under tags that name one instrument each."""
    noise = np.random.default_rng(3).normal(0, 0.05, (rows, 4))
    lines = ["time,U1_XV101,U1_FT101,U1_LT101,U2_XV201,U2_FT201,U2_LT201,TOTAL"]
    flow, level = np.zeros(2), np.array([5.0, 7.0])
    for row in range(rows):
        valve = np.array([row % 90 < 40, (row + 31) % 70 < 30], np.float64)
        flow += 0.6 * (2 * valve - flow) + noise[row, :2]
        level = level + 0.1 * (flow - 0.8 * np.sqrt(np.maximum(level, 0.1)) * 0.3) + 0.1 * noise[row, 2:]
        cells = [c for k in (0, 1) for c in (f"{valve[k]:.0f}", f"{flow[k]:.3f}", f"{level[k]:.3f}")]
        lines.append(
            f"2024-05-{1 + row // 1440:02d} {row // 60 % 24:02d}:{row % 60:02d}:00,{','.join(cells)},{row * 3}"
        )
    (folder / "tags.csv").write_text("\n".join(lines) + "\n")
    return read_exports([folder / "tags.csv"])


def test_tags_of_instruments_are_joined_by_what_they_read(tmp_path):
    proposal = propose_plant(tags(tmp_path), "works")
    plant = parse_plant(plant_toml(proposal))
    joined = {frozenset((edge.source, edge.target)) for edge in plant.template.edges}
    assert {frozenset(("U1_XV101", "U1_FT101")), frozenset(("U2_XV201", "U2_FT201"))} <= joined
    assert not any({each[:2] for each in pair} == {"U1", "U2"} for pair in joined)
    assert "TOTAL" not in plant.template.names
    assert any(each.about == "TOTAL" and "meter" in each.reason for each in proposal.omissions)


def test_a_state_that_never_changed_may_change_later(tmp_path):
    def write(name, word, temperature):
        rows = [f"2024-03-01 {n // 60:02d}:{n % 60:02d},{temperature + math.sin(n):.1f},{word}" for n in range(90)]
        (tmp_path / name).write_text("time,ZN-T [degC],FREEZE-S\n" + "\n".join(rows) + "\n")
        return tmp_path / name

    path = write("normal.csv", "Off", 20)
    plant = parse_plant(plant_toml(propose_plant(read_exports([path]), "room")))
    column = plant.template.points.index("FREEZE-S")
    assert set(read_recordings([path], plant).recordings[0].values[:, column]) == {0.0}
    assert set(read_recordings([write("later.csv", "On", 20)], plant).recordings[0].values[:, column]) == {1.0}


def test_a_word_that_is_no_state_makes_its_reading_unknown(tmp_path):
    rows = [f"2024-03-01 {n // 60:02d}:{n % 60:02d},{['Off', 'On'][n % 2]}" for n in range(90)]
    path = tmp_path / "fan.csv"
    path.write_text("time,FAN-S\n" + "\n".join(rows) + "\n")
    plant = parse_plant(plant_toml(propose_plant(read_exports([path]), "fan")))
    rows[40] = rows[40].replace("Off", "Maintenance")
    path.write_text("time,FAN-S\n" + "\n".join(rows) + "\n")
    recorded = read_recordings([path], plant)
    assert np.isfinite(recorded.recordings[0].values).sum() >= 89
    assert any("'Maintenance', which is none of its states Off, On" in note for note in recorded.notes)


def test_units_of_water_and_power_are_known(tmp_path):
    series = only(
        read(tmp_path, "time,Load [MW]\n" + "\n".join(f"2024-03-01 00:{n:02d},{n}" for n in range(30)) + "\n")
    )
    assert series.unit == "W" and series.values[2] == 2e6
    assert tomllib.loads(plant_toml(propose_plant(tags(tmp_path), "x")))["plant"]["step_s"] == 60


def test_a_column_named_a_value_may_hold_words(tmp_path):
    head = "Date / Time,Name Path Reference,Object Name,Object Value\n"
    for name, cells in (("SF-S", ("On", "Off")), ("DA-T", ("55.1 deg F", "56.2 deg F"))):
        rows = [f"3/{day}/2024 1:00:00 PM,ADX:NAE-7/AHU-1.{name},{name},{cells[day % 2]}" for day in range(1, 29)]
        (tmp_path / f"{name}.csv").write_text(head + "\n".join(rows) + "\n")
    export = read_exports([tmp_path])
    assert sorted(each.name for each in export.series) == ["ADX:NAE-7/AHU-1.DA-T", "ADX:NAE-7/AHU-1.SF-S"]
    assert {each.stated_unit for each in export.series} == {"deg F", None}


def test_a_number_that_a_lost_device_writes_among_states_is_left_out(tmp_path):
    cells = ["OPEN" if row % 20 == 0 else "CLOSED" for row in range(200)]
    cells[70] = "0"
    fan = ["OFF"] * 200
    fan[9] = "0"
    rows = [f"2024-03-01 {row // 60:02d}:{row % 60:02d},{cells[row]},{fan[row]}" for row in range(200)]
    export = read(tmp_path, "time,F1.BKR,FAN\n" + "\n".join(rows) + "\n")
    breaker, fan = export.series
    assert breaker.states == ("CLOSED", "OPEN") and len(breaker) == 199
    assert fan.states == ("OFF", "not OFF") and len(fan) == 199
    assert "not a word of a state, such as '0'" in reasons(export)


def test_numbers_with_a_word_here_and_there_stay_numbers(tmp_path):
    cells = ["Low" if row % 2 else str(row) for row in range(200)]
    rows = [f"2024-03-01 {row // 60:02d}:{row % 60:02d},{cells[row]}" for row in range(200)]
    (series,) = read(tmp_path, "time,level\n" + "\n".join(rows) + "\n").series
    assert not series.states and len(series) == 100


def test_a_point_that_reads_minus_999_throughout_has_no_sensor(tmp_path):
    rows = [f"2024-03-01 00:{row:02d},{20 + row % 3},{'No Data' if row == 5 else -999}" for row in range(60)]
    (tmp_path / "d.csv").write_text("time,SAT,SPARE T\n" + "\n".join(rows) + "\n")
    proposal = propose_plant(read_exports([tmp_path / "d.csv"]), name="site")
    (omission,) = [each for each in proposal.omissions if each.about == "SPARE T"]
    assert "-999 means no sensor" in omission.reason


def test_copies_with_letters_of_other_alphabets_are_found(tmp_path):
    header = "Zeit;Gebläse 1 Drehzahl;Gebläse 1 Strom;Gebläse 2 Drehzahl;Gebläse 2 Strom\n"
    rows = [f"01.03.2024 00:{row:02d};{row},5;{row % 7},1;{60 - row},2;{row % 5},3" for row in range(60)]
    (tmp_path / "d.csv").write_text(header + "\n".join(rows) + "\n")
    (template,) = propose_plant(read_exports([tmp_path / "d.csv"]), name="werk").templates
    assert template.copies == ("Gebläse 1", "Gebläse 2")


def test_copies_that_write_a_role_differently_share_it(tmp_path):
    names = ["VAV_2_01_ZnTmp", "VAV_2_01_DmprPos", "VAV2-02 Zn_Temp", "VAV2-02 DamperPos", "VAV_2_03_ZNT"]
    names += ["VAV_2_03_DmprPos", "VAV_2_03_SaTmp", "VAV_2_03_DaTmp"]
    rows = [f"2024-03-01 00:{row:02d}," + ",".join(f"{row % (3 + n)}" for n in range(8)) for row in range(60)]
    (tmp_path / "d.csv").write_text("time," + ",".join(names) + "\n" + "\n".join(rows) + "\n")
    proposal = propose_plant(read_exports([tmp_path / "d.csv"]), name="site")
    (template,) = proposal.templates
    roles = {signal.role: len(signal.columns) for signal in template.signals}
    assert roles == {"ZN-TMP": 3, "DMPR-POS": 3, "SA-TMP": 1, "DA-TMP": 1}, "one copy has both air temperatures"
    assert any(guess.what == "role" and guess.value == "also ZN-TEMP, ZNT" for guess in proposal.guesses)


def test_of_two_large_pieces_nobody_knows_which_one_feeds_the_copies(tmp_path):
    names = [f"HK{copy} {role}" for copy in (1, 2) for role in ("Vorlauf", "Rücklauf", "Ventil")]
    names += [f"Kessel 1 {role}" for role in ("Vorlauf", "Brenner", "Druck")]
    names += [f"RLT01 {role}" for role in ("Zuluft", "Abluft", "Druck")]
    noise = np.random.default_rng(4).normal(0, 0.3, (600, 13))
    shared = np.cumsum(noise[:, 12])  # the boiler and what it feeds
    values = np.where(np.arange(12) < 9, shared[:, None] + noise[:, :12], np.cumsum(noise[:, :12], axis=0))
    rows = [
        f"01.03.2024 {row // 60:02d}:{row % 60:02d};" + ";".join(f"{v:.2f}".replace(".", ",") for v in values[row])
        for row in range(600)
    ]
    (tmp_path / "d.csv").write_text("Zeit;" + ";".join(names) + "\n" + "\n".join(rows) + "\n")
    proposal = propose_plant(read_exports([tmp_path / "d.csv"]), name="schule")
    assert not any(guess.what == "fed by" for guess in proposal.guesses)
    joined = {frozenset((edge.source, edge.target)) for edge in proposal.shared_edges}
    assert frozenset(("hk", "Kessel 1")) in joined


@pytest.mark.parametrize(
    "name, role, quantity",
    [
        ("CWSTMP", "sensor", "temperature"),
        ("OAHUM", "sensor", "humidity"),
        ("CHWPSPD", "actuator", None),
        ("DC1/Hall/ITLoad", "sensor", "share"),
        ("SUB7.FDR1.MW", "sensor", "power"),
        ("SUB7.FDR1.BKR", "actuator", None),
        ("XFMR1.TAP", "actuator", None),
    ],
)
def test_names_of_plants_and_power_systems(name, role, quantity):
    kind = guess_kind(name)
    assert (kind.role, kind.quantity) == (role, quantity)


def test_decimal_commas_may_have_units_behind_them(tmp_path):
    rows = [f'"RLT01.TMP";"01.03.2024 00:{row:02d}";"{20 + row % 7},{row % 10} °C";"OK"' for row in range(60)]
    rows[5] = rows[5].replace('"OK"', '"Gestört"')
    (series,) = read(tmp_path, '"Objekt";"Zeit";"Wert";"Qualität"\n' + "\n".join(rows) + "\n").series
    assert series.values[10] == 24.1 and series.stated_unit == "°C"
    assert len(series) == 59, "one reading is marked as bad"


def test_points_of_a_long_table_that_are_left_out_are_named(tmp_path):
    rows = [f"2024-03-01 00:{row:02d},T,{20 + row % 7}" for row in range(60)]
    rows += [f"2024-03-01 00:{row:02d},Operator,message {row} of somebody" for row in range(60)]
    (tmp_path / "d.csv").write_text("time,tag,value\n" + "\n".join(rows) + "\n")
    proposal = propose_plant(read_exports([tmp_path / "d.csv"]), name="site")
    assert any("Operator" in each.about and "neither numbers" in each.reason for each in proposal.omissions)


def test_the_hour_of_the_day_may_stand_in_a_column_of_its_own(tmp_path):
    rows = [f"03/{13 + row // 24}/2024,{row % 24 + 1},{300 + row % 5}.5" for row in range(96)]
    (series,) = read(tmp_path, "Date,Hour Ending,Main kW\n" + "\n".join(rows) + "\n").series
    assert series.reporting.step_ms == 3_600_000
    assert series.times_ms[0] == ms(2024, 3, 13, 1) and series.times_ms[23] == ms(2024, 3, 14)


def test_a_time_may_be_named_with_its_unit(tmp_path):
    rows = [f"{1711324800000 + row * 10000},{32 + row % 3}" for row in range(60)]
    (series,) = read(tmp_path, "time_ms,flow\n" + "\n".join(rows) + "\n").series
    assert series.times_ms[0] == 1711324800000
