import json
import re

import numpy as np
import pytest

from export_builders import only, read
from graphghha.exports.check import check_exports, trace_of
from graphghha.exports.check_page import page
from graphghha.exports.check_text import group_findings, lines, summary_lines
from graphghha.exports.findings import Topic, check_series
from graphghha.exports.suspicions import encoded_as


def minutes(values, *, header="time,ZN-T (°C)", skip=(), shift_s=None):
    """A table with a reading each minute; `shift_s` is (row, seconds) from which on the clock is shifted."""
    lines = [header]
    for row, value in enumerate(values):
        if row in skip:
            continue
        second = row * 60 + (shift_s[1] if shift_s and row >= shift_s[0] else 0)
        time = np.datetime64("2021-05-30T00:00:00") + np.timedelta64(second, "s")
        lines.append(f"{time},{value}")
    return "\n".join(lines) + "\n"


def wave(rows=400):
    return [round(20 + 5 * float(np.sin(row / 9)) + 0.01 * (row % 7), 2) for row in range(rows)]


def found(tmp_path, text, topic):
    return [finding for finding in check_series(only(read(tmp_path, text))) if finding.topic is topic]


def test_sound_readings_give_no_finding(tmp_path):
    assert not list(check_series(only(read(tmp_path, minutes(wave())))))


def test_gaps_are_counted_and_the_longest_is_placed(tmp_path):
    (gap,) = found(tmp_path, minutes(wave(), skip={10, *range(50, 60)}), Topic.GAP)
    assert "2 gaps, 11 readings are absent (2.8%)" in gap.text and "11 min from 2021-05-30T00:49:00Z" in gap.text


def test_a_value_that_stands_still_is_found_but_not_where_it_rests(tmp_path):
    values = wave()
    values[100:200] = [21.37] * 100
    (flat,) = found(tmp_path, minutes(values), Topic.FLAT)
    assert "stands at 21.37 for 99 min from 2021-05-30T01:40:00Z" in flat.text
    resting = [0.0 if row % 100 < 60 else value for row, value in enumerate(wave(1000))]
    resting[200:300] = [0.0] * 100
    assert not found(tmp_path, minutes(resting, header="time,FLOW (L/s)"), Topic.FLAT)


def test_a_clock_that_jumps_and_one_that_goes_back(tmp_path):
    (jump,) = found(tmp_path, minutes(wave(), shift_s=(200, 23)), Topic.CLOCK)
    assert "the clock jumps 1 time; at 2021-05-30T03:20:23Z by +23 s" in jump.text
    (back,) = found(tmp_path, minutes(wave(), shift_s=(200, -600)), Topic.CLOCK)
    assert "time goes back 1 time" in back.text


@pytest.mark.parametrize(
    "header, low, high, text",
    [
        ("time,ZN-T", 68, 75, "no unit is stated; state it; it reads like degF"),
        ("time,ZN-T (°C)", 68, 75, "stated as °C, but its readings from 68 to 75 read like degF"),
        ("time,Room temp [degF]", 19, 23, "stated as degF, but its readings from 19 to 23 read like degC"),
        ("time,CLG-O", 0, 100, "it reads like %"),
        ("time,CLG-O (%)", 0, 1, "read like fraction"),
        ("time,DA-H", 30, 60, "it reads like %RH"),
        ("time,DUCT-STATIC-P", 0, 1.2, "it reads like inH2O"),
        ("time,CHWS-T (°C)", 68, 75, None),  # water may be hot
        ("time,OA-T (°F)", 10, 30, None),
        ("time,x (furlong)", 0, 9, "the unit 'furlong' is unknown and not converted"),
    ],
)
def test_readings_that_do_not_fit_their_unit(header, low, high, text, tmp_path):
    values = np.round(np.linspace(low, high, 60), 2).tolist()
    units = found(tmp_path, minutes(values, header=header), Topic.UNIT)
    assert (text in units[0].text) if text else not units


def test_numbers_that_are_encoded():
    bits = np.array([5.0, 8.5, 0.02], np.float32).view(np.uint32).astype(float)
    assert encoded_as(bits) == "the bits of a 32-bit number, 0.02 to 8.5"
    assert "signed 16-bit numbers" in encoded_as(np.array([65530.0, 3.0, 65535.0, 120.0]))
    assert encoded_as(np.array([1.0, 2.0, 30000.0])) is None


def test_constants_and_coarse_steps(tmp_path):
    (constant,) = found(tmp_path, minutes([21.5] * 50), Topic.CONSTANT)
    assert constant.text == "always 21.5 degC, in 50 readings"
    (coarse,) = found(tmp_path, minutes([round(value) for value in wave()]), Topic.COARSE)
    assert "moves in steps of 1 degC" in coarse.text


@pytest.fixture
def export(tmp_path):
    folder = tmp_path / "exports"
    folder.mkdir()
    fine = [f"{value + 0.00123 * row}" for row, value in enumerate(wave())]
    (folder / "fine.csv").write_text(minutes([f"{value},{value}" for value in fine], header="time,A-T,B-T"))
    (folder / "rounded.csv").write_text(minutes([f"{value},{value}" for value in wave()], header="time,A-T,B-T"))
    (folder / "empty.csv").write_text("")
    return folder


def test_rounding_that_differs_between_files_is_found(export):
    check = check_exports([export])
    (rounding,) = [finding for finding in check.findings if finding.topic is Topic.ROUNDING]
    assert "rounded.csv is rounded to 2 decimals, fine.csv is not: 2 points (A-T, B-T)" in rounding.text
    assert [finding.topic for finding in check.findings][0] is Topic.FILE


def test_equal_findings_are_told_once(export):
    check = check_exports([export])
    units = [group for group in group_findings(check.findings) if group.topic == "unit"]
    assert [(group.abouts, group.text) for group in units] == [(("A-T", "B-T"), "no unit is stated; state it")]
    text = "\n".join(lines(check))
    assert "guessed    fine.csv, rounded.csv: time zone UTC: no file states a zone" in text
    assert list(summary_lines(check))[:3] == [
        "3 files: 2 read (wide), 1 left out",
        "4 points: 4 sampled",
        "interval: 1 min",
    ]


def test_the_result_is_json_and_a_page_of_its_own(export):
    check = check_exports([export])
    as_json = json.loads(json.dumps(check.to_dict()))
    assert [file["read"] for file in as_json["files"]].count(False) == 1 and as_json["step_s"] == 60
    html = page(check, "a <site>")
    assert html.count("<svg") == 4 and "a &lt;site&gt;" in html and "empty.csv" in html
    assert not re.search(r'(?:src|href)="', html)  # nothing is loaded from elsewhere


def test_a_trace_shows_every_extreme_and_every_gap(tmp_path):
    values = wave(4000)
    values[2000] = 99.0
    trace = trace_of(only(read(tmp_path, minutes(values, skip=range(1000, 1200)))))
    assert np.nanmax(trace.high) == 99.0 and np.isnan(trace.low).sum() > 10
    held = trace_of(
        only(read(tmp_path, "time,OCC-C\n2021-05-30 00:00,Off\n2021-05-30 05:00,On\n2021-05-30 09:00,Off\n"))
    )
    assert np.isfinite(held.low).all() and held.low[:150].max() == 0.0 and held.low[250] == 1.0


def test_the_roundings_of_batadal_are_found_unaided(data_dir):
    folder = data_dir / "batadal"
    check = check_exports([folder / "train_normal.parquet", folder / "train_attacks.parquet"])
    (rounding,) = [finding for finding in check.findings if finding.topic is Topic.ROUNDING]
    assert rounding.text.startswith("train_attacks.parquet is rounded to 2 decimals, train_normal.parquet is not")
    assert "P_J280 moves hardly more than that rounding" in rounding.text
    constants = {finding.about for finding in check.findings if finding.topic is Topic.CONSTANT}
    assert {"S_PU1", "S_PU3", "S_PU5", "S_PU9"} <= constants


def test_a_check_of_the_real_site_names_its_traps(data_dir):
    check = check_exports([data_dir / "real_site" / "exports"])
    by_topic = {topic: {finding.about for finding in check.findings if finding.topic is topic} for topic in Topic}
    assert by_topic[Topic.FILE] == {"S-7_FBD-SP.csv"} and by_topic[Topic.UNIT] == {"DA-P", "SF-O"}
    assert len(by_topic[Topic.DEAD]) == 5 and {"S-7_RH-O", "DAP-SP"} <= by_topic[Topic.CONSTANT]
    assert {"S-7_DAT-SP", "VAV-1_ACTCLGSP", "VAV-6-ACTHTGSP"} <= by_topic[Topic.SPAN]
    assert check.step_ms == 300_000 and check.zone.clock.zone == "America/Chicago"
