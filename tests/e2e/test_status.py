"""`graphghha status`, and commands that take a settings file in place of --journal."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.monitor import Journal, Monitor
from graphghha.sources import Refused, Rejection
from monitor_builders import CONFIG, GRAPH, detector, telemetry, wide

TIMES, VALUES = telemetry(140)
SILENT = GRAPH.points.index("zone-01/flow")


@pytest.fixture
def settings(tmp_path):
    """A settings file whose monitor has never heard one point, rejects another, and has suspended alarms."""
    values = VALUES.copy()
    values[:, [SILENT, GRAPH.points.index("zone-03/valve")]] = np.nan
    refused = {
        (GRAPH.points.index("zone-03/valve"), Rejection.OUT_OF_LIMITS): Refused(140, "72.3"),
        ("R101.Temp", Rejection.UNMAPPED): Refused(7, ""),
    }
    (tmp_path / "state").mkdir()
    with Journal(tmp_path / "state" / "journal.sqlite") as writer:
        monitor = Monitor(writer)
        monitor.add("office", detector(), CONFIG)
        monitor.step(replace(wide(TIMES, values), refused=refused))
    path = tmp_path / "site.toml"
    path.write_text('[monitor]\nstate_dir = "state"\n[[site]]\nname = "office"\nsource = "sim:fcu?zones=3"\n')
    return path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(each) for each in arguments])
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


def test_status_names_every_point_with_reading_age_unit_step_and_rejections(settings):
    (site,) = [json.loads(line) for line in run("status", settings, "--json").splitlines()]
    points = {point["point"]: point for zone in site["zones"] for point in zone["points"]}
    assert set(points) == set(GRAPH.points)
    heard = points["zone-02/valve"]
    assert heard["value"] == pytest.approx(VALUES[-1, GRAPH.points.index("zone-02/valve")])
    assert (heard["unit"], heard["step_s"], heard["age_s"]) == ("degC", 60.0, 0)
    assert points["zone-01/flow"]["time"] is None and points["zone-01/flow"]["rejected"] == {}
    assert points["zone-03/valve"]["rejected"] == {"out_of_limits": {"count": 140, "example": "72.3"}}
    assert {each["condition"] for each in site["conditions"]} == {
        "points.unheard",
        "points.rejected",
        "readings.unmapped",
    }
    assert site["unmapped"] == [{"name": "R101.Temp", "why": "unmapped", "readings": 7}]


def test_status_in_words_and_in_brief(settings):
    whole, brief = run("status", settings), run("status", settings, "--brief")
    assert len(whole.splitlines()) > len(brief.splitlines())
    assert "flow             never heard" in brief and "140 out_of_limits, such as 72.3" in brief
    assert "has no zone 'zone-9'" in run("status", settings, "--zone", "zone-9", code=7)
    assert "has no site 'x'" in run("status", settings, "--site", "x", code=7)


def test_status_shows_local_times_chosen_units_and_the_units_of_the_sender(settings, tmp_path):
    shown = run("status", settings, "--time-zone", "America/Chicago", "--units", "degF", "--zone", "zone-02")
    warm = VALUES[-1, GRAPH.points.index("zone-02/valve")] * 1.8 + 32
    assert "UTC)" in shown.splitlines()[0] and f"{warm:.4g} degF" in shown
    rows = "".join(f"2018-07-02T{minute // 60:02}:{minute % 60:02}:00Z,{70 + minute % 5}\n" for minute in range(240))
    (tmp_path / "bms.csv").write_text(f"time,zone-01/RM_TEMP [degF]\n{rows}")
    run("watch", "--source", f"csv:{tmp_path / 'bms.csv'}", "--zones", 1, "--state", tmp_path / "f")
    shown = run("status", "--journal", tmp_path / "f" / "journal.sqlite")
    assert "sent in degF" in next(line for line in shown.splitlines() if "RM_TEMP" in line)
    assert "sent in" not in next(line for line in shown.splitlines() if "FCU_RAT" in line)


def test_what_is_not_seen_stands_in_the_list_of_alarms(settings):
    listed = run("alarms", "list", settings)
    assert (
        "points.unheard:office  [active, medium]  since" in listed and "such as zone-01/flow: nothing arrived" in listed
    )


def test_alarms_take_a_settings_file_in_place_of_the_journal(settings):
    journal = settings.parent / "state" / "journal.sqlite"
    assert run("alarms", "list", settings, "--json") == run("alarms", "list", "--journal", journal, "--json")
    assert run("alarms", "list", "--config", settings) == run("alarms", "list", settings)
    incident = json.loads(run("alarms", "list", settings, "--json").splitlines()[0])["id"]
    assert incident in run("alarms", "show", settings, incident)
    run("alarms", "change", settings, "suppress", "zone-01/valve", "--reason", "see works.toml", "--by", "ann")
    assert "suppressed: zone-01/valve  see works.toml" in run("status", settings)
    assert "either a settings file" in run("alarms", "list", code=2)
    assert "either a settings file" in run("alarms", "list", settings, "--journal", journal, code=2)
