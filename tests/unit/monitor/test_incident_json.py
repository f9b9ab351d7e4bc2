"""Incidents as sentences for operators."""

from graphghha.monitor.incident_json import event_line, sentence, subject


def test_sentences_name_zone_node_class_probability_and_time_and_only_what_is_unusual():
    body = {"zone": "zone-07", "root": "CVLV", "name": "cooling coil", "class": "actuator", "probability": 0.97}
    own = {"kind": "signal", "node": "CVLV", "unusual": True, "text": "cooling coil is cold (3 °C, expected 9)"}
    near = {"kind": "signal", "node": "RWT", "unusual": True, "text": "cooling coil water is cold (4 °C, expected 8)"}
    usual = {"kind": "signal", "node": "SPD", "unusual": False, "text": "fan is in its normal range (12 rev/s)"}
    inside = {"kind": "gate", "node": "CVLV", "global": [0.7], "local": [0.9]}
    body |= {"since": "2018-07-02T14:07:00Z", "evidence": [usual, own, near, inside], "state": "unacknowledged"}
    head = "Zone 7: cooling coil, actuator attack, p = 0.97, since 14:07"
    assert sentence(body) == f"{head}; it is cold (3 °C, expected 9), cooling coil water is cold (4 °C, expected 8)"
    body["evidence"] = [usual, inside]
    assert sentence(body) == f"{head}; no single reading is out of its normal range"
    assert "p > 0.99" in sentence(body | {"probability": 0.9998}), "never rounded to certainty"
    assert event_line("incident.closed", body) == "Zone 7: cooling coil is back to normal"
    assert subject({"zone": None, "name": "pump"}) == "pump"
