"""What the routes answer about a watched building, and what commands change."""

import base64
import csv
import io

import numpy as np

from graphghha.alarms import Event
from graphghha.sources import ReadingBatch
from monitor_builders import GRAPH

API = "/api/v1"
KINDS = (np.int64, np.float64, np.int32)  # of the columns of a batch


def command(building, verb, target, version, role="engineer", **more):
    body = {"verb": verb, "targets": [{"id": target, "version": version}], **more}
    answer = building.call("POST", f"{API}/commands", body, role=role)
    return answer.status, answer.json["results"][0]


def newest(building, zone):
    return building.get(f"/incidents?zone={zone}")["items"][0]


def test_a_site_tells_what_it_consists_of_and_how_it_is(building):
    about, state = building.get("/sites/office"), building.get("/sites/office/state")
    assert [zone["title"] for zone in about["zones_info"]] == ["Zone 1", "Zone 2", "Zone 3"]
    assert len(about["template"]) * 3 == GRAPH.num_nodes and about["levels"]["raise_at"] == 0.9
    scores = np.frombuffer(base64.b64decode(state["scores"]), np.uint8)
    assert len(scores) == GRAPH.num_nodes and (scores <= 254).all()
    assert state["hash"] == about["hash"] and state["monitor"] == "running"
    assert {zone["zone"] for zone in state["zones"]} == {"zone-01", "zone-02", "zone-03"}
    zone = building.get("/sites/office/zones/zone-02")
    assert [node["node"] for node in zone["nodes"]] == [name for name in GRAPH.names if name.startswith("zone-02/")]


def test_history_and_scores_show_the_attack(building):
    history = building.get("/sites/office/history?point=zone-02/valve&width=50")
    series = history["series"][0]
    assert len(history["times"]) <= 50 and len(series["mean"]) == len(history["times"])
    seen = [value for value in series["most"] if value is not None]
    assert max(seen) > 35 and min(value for value in series["least"] if value is not None) < 25
    scores = building.get("/sites/office/scores?zone=zone-01&zone=zone-02")
    by_name = {each["name"]: [p for p in each["p"] if p is not None] for each in scores["series"]}
    assert max(by_name["zone-02"]) > 0.9 > max(by_name["zone-01"])
    assert {mark["zone"] for mark in scores["incidents"]} >= {"zone-02", "zone-03"}


def test_an_operator_acknowledges_and_a_late_one_is_refused(own_building):
    building, incident = own_building, newest(own_building, "zone-02")
    version = incident["version"]
    status, result = command(building, "ack", incident["id"], version, "operator", comment="on my way")
    assert status == 200 and result["outcome"] == "done" and result["number"] is not None
    status, late = command(building, "ack", incident["id"], version, "operator")
    assert status == 409 and late["outcome"] == "refused" and late["changes"] and late["version"] > version
    seen = building.get(f"/incidents/{incident['id']}")
    assert seen["last_note"]["text"] == "on my way" and seen["last_note"]["by"] == "operator"
    assert {"person", "refused"} <= {moment["mark"] for moment in seen["story"]}
    recorded = [e["body"] for e in building.get("/audit", role="admin")["items"] if e["kind"] == "operator.command"]
    assert recorded[0]["address"] == "127.0.0.1" and recorded[0]["token"].startswith("token:")
    assert recorded[0]["wall_time"].endswith("Z")


def test_several_targets_are_answered_one_by_one(own_building):
    building = own_building
    targets = [
        {"id": newest(building, zone)["id"], "version": newest(building, zone)["version"]} for zone in ("zone-02",)
    ]
    body = {"verb": "dispose", "disposition": "fault", "targets": [*targets, {"id": "gone", "version": 0}]}
    answer = building.call("POST", f"{API}/commands", body, role="operator")
    assert answer.status == 200
    assert [result["outcome"] for result in answer.json["results"]] == ["done", "refused"]
    assert newest(building, "zone-02")["judged"]["disposition"] == "fault"
    kpis = building.get("/sites/office/kpis")
    assert kpis["real"] == 1 and kpis["by_disposition"] == {"fault": 1}
    assert sum(week["real"] for week in kpis["weeks"]) == 1 and kpis["time_to_acknowledge_min"] is None
    assert kpis["worst_nodes"][0]["zone_title"].startswith("Zone") and kpis["worst_nodes"][0]["count"] == 1
    share = next(row for row in kpis["rows"] if row["key"] == "top_10_share")
    assert share["is_within"] is None and share["number_of_target"] == 0.05  # one announcement is no share
    priorities = {row["key"]: row["value"] for row in kpis["rows"] if row["key"].startswith("priority_")}
    assert priorities.keys() == {"priority_high", "priority_medium"} and sum(priorities.values()) <= 1.0
    assert building.get("/sites/office/kpis?from=2099-01-01T00:00:00Z")["announced"] == 0
    judged = newest(building, "zone-02")
    command(building, "ack", judged["id"], judged["version"])
    assert building.get("/sites/office/kpis")["time_to_acknowledge_min"]["median"] >= 0


def test_people_say_which_node_it_was(own_building):
    building, incident = own_building, newest(own_building, "zone-02")
    assert building.get("/sites/office/kpis")["right_node"] is None
    status, _ = command(
        building, "dispose", incident["id"], incident["version"], disposition="fault", right_node="attic"
    )
    assert status == 404
    for right, expected in ((incident["root"], {"yes": 1, "of": 1}), ("temp", {"yes": 0, "of": 1})):
        version = newest(building, "zone-02")["version"]
        status, _ = command(building, "dispose", incident["id"], version, disposition="fault", right_node=right)
        assert status == 200
        judged = newest(building, "zone-02")["judged"]
        assert (judged["right_node"], judged["is_right_node"]) == (right, right == incident["root"])
        assert building.get("/sites/office/kpis")["right_node"] == expected


def test_what_people_found_and_the_monitor_did_not_is_counted(own_building):
    new = {"zone": "zone-01", "node": "valve", "disposition": "fault", "text": "leaking valve"}
    path = f"{API}/sites/office/found"
    answer = own_building.call("POST", path, new, role="operator")
    assert answer.status == 201
    (found,) = answer.json["found_by_people"]
    assert (found["zone_title"], found["disposition"], found["text"]) == ("Zone 1", "fault", "leaking valve")
    assert found["by"] == "operator" and own_building.get("/sites/office/kpis")["found_by_people"] == [found]
    for wrong in ({"zone": "attic"}, {"node": "attic"}, {"disposition": "false"}, {"text": ""}):
        assert own_building.call("POST", path, new | wrong, role="operator").status == 422


def test_a_node_is_suppressed_and_returned(own_building):
    status, done = command(own_building, "suppress", "zone-01/valve", 0, comment="valve is replaced")
    assert status == 200
    aside = own_building.get("/sites/office/state")["put_aside"]
    assert [(each["node"], each["by"]) for each in aside] == [("zone-01/valve", "engineer")]
    assert command(own_building, "suppress", "zone-01/valve", done["version"])[0] == 422, "no reason is given"
    assert command(own_building, "return", "zone-01/valve", done["version"])[0] == 200
    assert own_building.get("/sites/office/state")["put_aside"] == []


def test_a_planned_stop_begins_and_ends(own_building):
    new = {"minutes": 60, "reason": "filters are changed", "zones": ["zone-01"]}
    answer = own_building.call("POST", f"{API}/sites/office/stops", new, role="engineer")
    assert answer.status == 201 and answer.json["by"] == "engineer"
    version = answer.json["version"]
    path = f"{API}/sites/office/stops/{version}"
    assert own_building.call("DELETE", path, role="engineer").status == 204
    assert own_building.call("DELETE", path, role="engineer").status == 404
    wrong = own_building.call("POST", f"{API}/sites/office/stops", {**new, "zones": ["attic"]}, role="engineer")
    assert wrong.status == 422


def test_an_attack_is_never_sent_to_a_source_that_is_not_simulated(building):
    new = {"case": "x", "zone": "zone-01"}
    assert building.call("POST", f"{API}/sites/office/injections", new, role="engineer").status == 404
    assert building.get("/sites/office/injections")["items"] == []


def test_an_attack_of_the_studio_that_was_ended_has_its_new_end(own_building):
    building, start = own_building, "2018-07-02T00:30:00Z"
    known = {"name": "x", "zone": "zone-02", "start": start, "by": "roy"}
    now_ms = building.monitor.sites["office"].time_ms
    for key in ("kept", "ended", "taken-back"):
        body = {**known, "id": key, "case": f"x@zone-02,start={key}", "end": None}
        building.monitor.record("office", Event(now_ms, "studio.injected", body))
    for key, end in (("ended", "2018-07-02T00:40:00Z"), ("taken-back", None)):
        body = {"id": key, "case": f"x@zone-02,start={key}", "end": end, "by": "ortiz"}
        building.monitor.record("office", Event(now_ms, "studio.withdrawn", body))
    incident = newest(building, "zone-02")
    command(building, "comment", incident["id"], incident["version"], comment="writes what was recorded")
    items = {item["id"]: item for item in building.get("/sites/office/injections")["items"]}
    assert sorted(items) == ["ended", "kept"]
    assert (items["ended"]["state"], items["ended"]["stopped_by"]) == ("over", "ortiz")
    assert items["kept"]["state"] == "running" and items["kept"]["found"]["named"] is not None
    path = f"{API}/sites/office/injections"
    assert building.call("DELETE", f"{path}/gone", role="engineer").status == 404
    assert building.call("DELETE", f"{path}/ended", role="engineer").status == 409
    refused = building.call("DELETE", f"{path}/kept", role="engineer")
    assert refused.status == 409 and "never sent to a plant" in refused.json["message"]


def test_only_the_demonstration_starts_a_building_over(own_building):
    path = f"{API}/sites/office/runs"
    assert own_building.get("/sites/office/injections")["can_start_over"] is False
    refused = own_building.call("POST", path, {"seed": 12}, role="engineer")
    assert refused.status == 404 and "only the demonstration" in refused.json["message"]
    assert own_building.call("POST", path, {"seed": -1}, role="engineer").status == 422
    assert own_building.call("POST", path, {"seed": 12}, role="operator").status == 403


def test_a_simulated_site_tells_its_speed_and_seed(building):
    about = building.get("/sites/office")
    assert (about["speed"], about["seed"]) == (60.0, 7)


def test_a_command_without_a_monitor_is_withdrawn(own_building, monkeypatch):
    monkeypatch.setattr("graphghha.web.library.WAIT_S", 0.2)
    own_building.pause()
    incident = newest(own_building, "zone-02")
    status, result = command(own_building, "ack", incident["id"], incident["version"])
    assert status == 503 and result["outcome"] == "withdrawn"
    own_building.monitor.answer_commands()
    assert newest(own_building, "zone-02")["version"] == incident["version"], "it is not carried out later"


def test_exports_hold_no_formulas_and_all_columns(building):
    answer = building.call("GET", f"{API}/incidents/export?format=csv", role="viewer")
    rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
    assert len(rows) == building.get("/incidents")["total"] and rows[0]["id"]
    days = [min(row["time"] for row in rows)[:10], max(row["time"] for row in rows)[:10]]
    assert answer.headers["content-disposition"] == f'attachment; filename="office_alarms_{days[0]}_{days[1]}.csv"'
    assert {row["utc_offset"] for row in rows} == {"UTC-05:00"}
    from graphghha.web.routes.incidents import _cell

    assert _cell("=cmd()") == "'=cmd()" and _cell(-1.5) == "-1.5"


def test_a_page_of_incidents_leads_to_the_next(building):
    first = building.get("/incidents?limit=1")
    second = building.get(f"/incidents?limit=1&cursor={first['next']}")
    assert first["total"] >= 2 and first["items"][0]["id"] != second["items"][0]["id"]
    assert building.get("/incidents?q=nothing-like-this")["total"] == 0
    kinds = [building.get(f"/incidents?kind={kind}") for kind in ("controller", "actuator", "equipment", "sensor")]
    assert sum(each["total"] for each in kinds) == first["total"]
    assert all(item["kind"] == "actuator" for item in kinds[1]["items"])
    assert building.call("GET", f"{API}/incidents?cursor=x", role="viewer").status == 404


def test_a_silent_source_says_since_when_and_nothing_is_scored(own_building):
    building = own_building
    assert building.get("/sites/office/state")["lost"] is None
    newest_ms = building.monitor.sites["office"].time_ms
    building.pause()
    building.monitor.step(ReadingBatch("office", newest_ms + 3_600_000, *(np.empty(0, kind) for kind in KINDS)))
    state = building.get("/sites/office/state")
    assert state["is_lost"] and state["lost"]["since"] == state["as_of"] and state["counters"]["scored"] == 0
