"""Operators on the command line: on a journal at rest and beside a running monitor."""

import json
import re
import threading
from threading import Event as Flag

import numpy as np
import pytest
from click.testing import CliRunner

from graphghha.alarms import DISPOSITIONS, Event
from graphghha.cli import main
from graphghha.cli.alarms import alarms
from graphghha.monitor import Journal, Monitor
from graphghha.monitor.journal import Commit
from monitor_builders import (
    CONFIG,
    GRAPH,
    MINUTE,
    START,
    ListSource,
    detector,
    telemetry,
    wide,
    zone_detector,
    zone_scores,
)

TIMES, VALUES = telemetry(140)


@pytest.fixture
def journal(tmp_path):
    """A journal that ends during an attack."""
    path = tmp_path / "journal.db"
    with Journal(path) as writer:
        monitor = Monitor(writer)
        monitor.add("office", detector(), CONFIG)
        monitor.step(wide(TIMES[:40], VALUES[:40]))
    return path


def call(*arguments, code=0):
    result = CliRunner().invoke(main, ["alarms", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


def listed(path, *more):
    return [json.loads(line) for line in call("list", "--journal", path, "--json", *more).splitlines()]


def test_an_incident_is_listed_shown_acknowledged_and_disposed_of(journal):
    (incident,) = listed(journal)
    key = incident["id"]
    assert incident["state"] == "unacknowledged" and key in call("list", "--journal", journal)
    assert "action: Compare valve" in call("show", "--journal", journal, key)
    assert "review it and retry" in call("ack", "--journal", journal, key, "--version", 7, code=8)
    after = json.loads(
        call("ack", "--journal", journal, key, "--version", incident["version"], "--by", "bob", "--json")
    )
    assert after["state"] == "acknowledged" and after["version"] == incident["version"] + 1
    assert "cannot ack" in call("ack", "--journal", journal, key, code=8)
    call("dispose", "--journal", journal, key, "maintenance", "--by", "ada", "--reason", "valve exchanged")
    story = json.loads(call("show", "--journal", journal, key, "--json"))
    assert story["disposition"]["is"] == "maintenance" and story["disposition"]["by"] == "ada"
    events = [each["event"] for each in story["story"]]
    assert events[-4:] == ["operator.command", "incident.updated", "operator.command", "incident.disposed"]
    shown = call("show", "--journal", journal, key)
    assert re.search(r"  bob acknowledged it at 20\d\d-\d\d-\d\d \d\d:\d\d UTC\n", shown), "plant time is years ago"
    assert re.search(r"  ada recorded what it was, maintenance, at 20\S+ \S+ UTC: valve exchanged\n", shown)


def test_the_inside_of_the_model_is_shown_to_those_who_ask_why(journal):
    (body,) = listed(journal)
    text = "valve reads more open (80%, expected 32%)"
    signal = {"kind": "signal", "node": "valve", "normal": [0.31, 0.33], "unit": "fraction", "text": text}
    edge = {"kind": "edge", "source": "flow", "target": "valve", "relation": "phys", "weight": 0.41}
    gate = {"kind": "gate", "node": "valve", "global": [0.7, 0.9], "local": [0.1, 0.2]}
    events = {**body, "version": 2, "evidence": [signal, edge, gate], "text": f"{body['text']}; {text}"}
    with Journal(journal) as writer:
        writer.write([Commit(site="office", time_ms=START, events=[Event(START, "incident.updated", events)])])
    shown = call("show", "--journal", journal, body["id"])
    assert shown.count(text) == 1 and "normal 31% to 33%" in shown
    assert "weight" not in shown and "gate" not in shown
    why = call("show", "--journal", journal, body["id"], "--why")
    assert "attended to flow (weight 0.41)" in why and "gates of valve by layer: global 0.7 0.9, local 0.1 0.2" in why


def test_what_an_operator_did_while_no_monitor_ran_is_there_when_one_starts(journal):
    (incident,) = listed(journal)
    call("ack", "--journal", journal, incident["id"])
    call("shelve", "--journal", journal, "zone-03/flow", "--for", 2, "--reason", "being serviced")
    with Journal(journal) as writer:
        monitor = Monitor(writer)
        monitor.add("office", detector(), CONFIG)
        monitor.step(wide(TIMES[40:], VALUES[40:]))
    ours, shelved = (body for body in reversed(listed(journal, "--all")))
    assert ours["state"] == "normal" and ours["closed"], "acknowledged, then it returned to normal"
    assert shelved["zone"] == "zone-03" and shelved["annunciated"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["ack", "nobody"], 7, "no incident or node"),
        (["shelve", "zone-02/valve", "--for", "99", "--reason", "x"], 2, "at most 24"),
        (["change", "return", "zone-02/valve"], 8, "cannot return"),
        (["show", "nothing"], 7, "no incident"),
    ],
    ids=["unknown", "too-long", "not-suspended", "not-shown"],
)
def test_a_refusal_is_one_line(journal, arguments, code, text):
    stderr = call(arguments[0], "--journal", journal, *arguments[1:], code=code)
    assert text in stderr and len(stderr.splitlines()) == 1


def test_a_journal_that_is_not_there_is_a_clear_error(tmp_path):
    assert "no journal at" in call("list", "--journal", tmp_path / "no.db", code=7)


def test_beside_a_running_monitor_commands_go_through_it(journal):
    stop = Flag()
    with Journal(journal) as writer:
        monitor = Monitor(writer)
        monitor.add("office", detector(), CONFIG)
        running = threading.Thread(target=monitor.run, args=([monitor.feed("office", ListSource(ends=False))], stop))
        running.start()
        try:
            (incident,) = listed(journal)
            after = json.loads(call("ack", "--journal", journal, incident["id"], "--version", 1, "--json"))
            assert after["state"] == "acknowledged"
            assert "you acted on version 1" in call("ack", "--journal", journal, incident["id"], "--version", 1, code=8)
        finally:
            stop.set()
            running.join()
        assert monitor.sites["office"].board_incidents[incident["id"]]["state"] == "acknowledged"


def test_events_are_exported_and_figures_computed(journal):
    events = [json.loads(line) for line in call("export", "--journal", journal).splitlines()]
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    only = call("export", "--journal", journal, "--kind", "incident.*").splitlines()
    assert len(only) == 1
    figures = json.loads(call("kpi", "--journal", journal, "--json"))
    assert figures["annunciated"] == figures["most_in_10_min"] == 1 and figures["chattering"] == 0
    assert figures["priorities"] == {"medium": 1.0} and figures["share_of_time_in_flood"] == 0
    printed = call("kpi", "--journal", journal)
    assert "per day" in printed and "medium 1.0" in printed and "{" not in printed
    assert re.search(r"most in 10 min +1 +within \(target: at most 10\)", printed)


def test_an_incident_counts_once_by_its_last_disposition_and_becomes_a_label(journal, tmp_path):
    (incident,) = listed(journal)
    assert call("labels", "--journal", journal) == "start,end,nodes,class\n"
    for kind in ("attack", "false", "fault"):
        call("dispose", "--journal", journal, incident["id"], kind)
    assert json.loads(call("kpi", "--journal", journal, "--json"))["dispositions"] == {"fault": 1}
    header, line = call("labels", "--journal", journal).splitlines()
    assert line == f"{incident['since']},2018-07-10T05:59:00Z,zone-02/valve,actuator", "open: up to the newest data"
    assert call("labels", "--journal", journal, "--what", "attack") == f"{header}\n"
    call("dispose", "--journal", journal, incident["id"], "false")
    call("labels", "--journal", journal, "--out", tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text().splitlines()[1].endswith(",normal")


def test_the_dispositions_offered_are_those_an_incident_can_have():
    parameters = {parameter.name: parameter for parameter in alarms.commands["dispose"].params}
    assert parameters["disposition"].type.choices == DISPOSITIONS


@pytest.fixture
def zone_journal(tmp_path):
    """A journal of a detector that judges zones: five incidents of one zone after the other, and one that is open."""
    path, shares = tmp_path / "journal.db", {"valve": 0.7, "temp": 0.3}
    attacks = [("zone-02", begin, begin + 20, shares) for begin in range(10, 300, 50)]
    probs = zone_scores(280, attacks)
    with Journal(path) as writer:
        monitor = Monitor(writer)
        monitor.add("office", zone_detector(probs), CONFIG)
        monitor.step(wide(START + MINUTE * np.arange(280), np.full((280, len(GRAPH.points)), 20.0)))
    return path


def test_an_incident_of_a_zone_says_what_may_be_behind_it_and_what_its_probability_means(zone_journal):
    *earlier, newest = reversed(listed(zone_journal, "--all"))
    shown = call("show", "--journal", zone_journal, newest["id"])
    assert "node: valve or temp (one of them in 90% of attacks of the kinds it was taught)" in shown
    assert "p is calibrated for one attack per zone in 10 days\n" in shown and "own rate" not in shown
    assert shown.count("  hypothesis: ") == 3 and "  hypothesis: equipment fault. " in shown
    for body in earlier:
        call("dispose", "--journal", zone_journal, body["id"], "false")
    shown = call("show", "--journal", zone_journal, newest["id"])
    assert "at this site's own rate, one event per zone in " in shown and "the 5 disposed incidents" in shown
    body = json.loads(call("show", "--journal", zone_journal, newest["id"], "--json"))
    assert body["probability"] == 0.96 and body["restated"]["disposed"] == 5
    assert body["suspects"] == ["valve", "temp"] and len(body["hypotheses"]) == 3
