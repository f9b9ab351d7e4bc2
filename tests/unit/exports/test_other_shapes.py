"""Plants nobody here has seen: steps from a minute to an hour, other names, units, dialects and clocks."""

import math
import tomllib
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from graphghha.exports import ExportOptions, read_exports
from graphghha.exports.check import check_exports
from graphghha.exports.check_page import page
from graphghha.exports.plant_toml import plant_toml
from graphghha.exports.proposal import propose_plant


def times(zone, start, minutes, count):
    first = datetime.fromisoformat(start).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    return [(first + timedelta(minutes=minutes * row)).astimezone(ZoneInfo(zone)) for row in range(count)]


def wave(row, low, high):
    return low + (high - low) * (0.5 + 0.5 * math.sin(row / 9)) + 0.07 * (row % 7)


def german_hours(folder):
    """Hours over the change to summer time, semicolons, decimal commas, names in German."""
    lines = ["Zeit;Kessel1_Vorlauf-T [°C];Kessel1_Pumpe-S;Kessel2_Vorlauf-T [°C];Kessel2_Pumpe-S;Aussen-T [°C]"]
    for row, time in enumerate(times("Europe/Berlin", "2023-03-20", 60, 400)):
        cells = [f"{wave(row + n, 40, 70):.1f}".replace(".", ",") for n in (0, 3)]
        state = "Ein" if row % 24 < 12 else "Aus"
        outside = f"{wave(row, -2, 9):.1f}".replace(".", ",")
        lines.append(f"{time:%d.%m.%Y %H:%M};{cells[0]};{state};{cells[1]};{state};{outside}")
    (folder / "werte.csv").write_text("\n".join(lines) + "\n")


def american_minutes(folder):
    """Minutes of two fan-coil units in one long table in degF, with qualities, over the end of summer time."""
    lines = ["Tagname,TimeStamp,Value,DataQuality"]
    for row, time in enumerate(times("America/New_York", "2023-11-05T00:00", 1, 300)):
        for unit in (1, 2):
            stamp = f"{time:%m/%d/%Y %I:%M:%S %p}"
            lines.append(f"FCU{unit}.SpaceTemp.F_CV,{stamp},{wave(row + unit, 68, 74):.2f},Good")
            lines.append(f"FCU{unit}.ValveCmd.F_CV,{stamp},{wave(row, 0, 99):.1f},{'Bad' if row == 9 else 'Good'}")
    (folder / "historian.csv").write_text("\n".join(lines) + "\n")


def quarter_hours_of_points(folder):
    """A file for each point of three heat pumps at 15 min; one of them lacks a point."""
    for pump in (11, 12, 13):
        for point, unit, low, high in (("LWT", "°F", 90, 120), ("COMP-S", "", 0, 0), ("HTG-SP", "°F", 0, 0)):
            if (pump, point) == (13, "HTG-SP"):
                continue
            lines = [f"Timestamp,Value ({unit})" if unit else "Timestamp,Value"]
            for row, time in enumerate(times("UTC", "2024-01-01", 15, 200)):
                if point == "LWT":
                    lines.append(f"{time:%Y-%m-%dT%H:%M:%SZ},{wave(row + pump, low, high):.1f}")
                elif (row * row + pump) % 37 == 0:
                    lines.append(
                        f"{time:%Y-%m-%dT%H:%M:%SZ},{'On' if row % 80 < 40 else 'Off'}"
                        if point == "COMP-S"
                        else f"{time:%Y-%m-%dT%H:%M:%SZ},{100 + row // 40}"
                    )
            (folder / f"HP-{pump}_{point}.csv").write_text("\n".join(lines) + "\n")


def proposed(folder, **options):
    proposal = propose_plant(read_exports([folder], ExportOptions(**options)), "plant")
    return proposal, tomllib.loads(plant_toml(proposal))


def test_german_hours_over_the_change_to_summer_time(tmp_path):
    german_hours(tmp_path)
    proposal, plant = proposed(tmp_path)
    assert plant["plant"]["step_s"] == 3600 and plant["plant"]["zone"] == "Europe/Berlin"
    boilers = next(template for template in plant["template"] if len(template["copies"]) == 2)
    kinds = {signal["name"]: signal["kind"] for signal in boilers["signal"]}
    assert sorted(kinds.values()) == ["actuator", "sensor"]
    states = next(signal["states"] for signal in boilers["signal"] if "states" in signal)
    assert states == ["Aus", "Ein"]
    outdoor = {edge["to"] for edge in plant["edge"] if edge["from"].endswith("AUSSEN-T") and edge["kind"] == "near"}
    assert outdoor == {f"{boilers['name']}/VORLAUF-T"}  # outdoor air is shared
    assert any("clocks of Central Europe change" in guess.reason for guess in proposal.guesses)


def test_american_minutes_over_the_end_of_summer_time(tmp_path):
    american_minutes(tmp_path)
    proposal, plant = proposed(tmp_path, zone="America/New_York")
    assert plant["plant"]["step_s"] == 60
    assert plant["template"][0]["copies"] == ["FCU1", "FCU2"]
    temperature = next(signal for signal in plant["template"][0]["signal"] if signal["kind"] == "sensor")
    assert temperature["columns"]["FCU2"] == "FCU2.SpaceTemp.F_CV" and temperature["stale_after_s"] == 180
    assert plant["template"][0]["edges"] == [["VALVE-CMD", "SPACE-TEMP", "phys"]]
    assert any(guess.value == "GE Historian" for guess in proposal.guesses)
    # the hour that comes twice is no gap and no duplicate
    findings = check_exports([tmp_path], ExportOptions(zone="America/New_York")).findings
    odd = {(str(finding.topic), finding.about) for finding in findings if finding.topic in ("gap", "duplicate")}
    assert odd == {("gap", f"FCU{unit}.ValveCmd.F_CV") for unit in (1, 2)}  # the reading that is marked as bad


def test_a_file_for_each_point_of_three_heat_pumps(tmp_path):
    quarter_hours_of_points(tmp_path)
    _, plant = proposed(tmp_path)
    (pumps,) = plant["template"]
    assert plant["plant"]["step_s"] == 900 and pumps["copies"] == ["HP-11", "HP-12", "HP-13"]
    signals = {signal["name"]: signal for signal in pumps["signal"]}
    assert signals["HTG-SP"]["missing"] == ["HP-13"] and signals["HTG-SP"]["sampling"] == "cov"
    assert signals["LWT"]["unit"] == "degF" and signals["LWT"]["sampling"] == 900


@pytest.mark.parametrize("write", [german_hours, american_minutes, quarter_hours_of_points])
def test_every_kind_edge_and_column_of_a_plant_file_is_known(tmp_path, write):
    write(tmp_path)
    _, plant = proposed(tmp_path)
    for template in plant["template"]:
        names = {signal["name"] for signal in template["signal"]}
        assert {end for edge in template["edges"] for end in edge[:2]} <= names
        for signal in template["signal"]:
            assert signal["kind"] in ("sensor", "controller", "actuator")
            assert set(signal["columns"]) | set(signal.get("missing", ())) == set(template["copies"])


def test_a_page_shows_jumps_and_what_is_odd_beside_the_plot(tmp_path):
    lines = ["time,A-S,B-T (°C)"]
    for row in range(400):
        time = datetime(2024, 1, 1) + timedelta(minutes=row + (90 if row > 200 else 0))
        lines.append(f"{time:%Y-%m-%d %H:%M},{int(row >= 100)},{wave(row, 18, 24):.2f}")
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    text = page(check_exports([tmp_path / "a.csv"]), "a.csv")
    assert '<span class="odd">gap: 1 gap, 90 readings are absent' in text and "steps of 0.01" in text
    # the column in which A-S jumps from 0 to 1 is as high as the plot
    first = text.split('aria-label="A-S')[1].split("</svg>")[0]
    points = [tuple(map(float, each.split(","))) for each in first.split('points="')[1].split('"')[0].split()]
    heights = {x: [y for other, y in points if other == x] for x, _ in points}
    assert max(max(ys) - min(ys) for ys in heights.values()) > 45
