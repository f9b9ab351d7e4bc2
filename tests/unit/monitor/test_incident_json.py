"""Incidents as sentences for operators."""

import pytest

from graphghha.cli._incident_text import meaning
from graphghha.monitor import NormalJudgement
from graphghha.monitor.display import Display
from graphghha.monitor.incident_json import BY_PATTERN, event_line, sentence, subject


def test_sentences_name_zone_node_class_probability_and_time_and_only_what_is_unusual():
    body = {"zone": "zone-07", "root": "CVLV", "name": "cooling coil", "class": "actuator", "probability": 0.97}
    own = {"kind": "signal", "node": "CVLV", "unusual": True, "text": "cooling coil is cold (3 °C, expected 9)"}
    near = {"kind": "signal", "node": "RWT", "unusual": True, "text": "cooling coil water is cold (4 °C, expected 8)"}
    usual = {"kind": "signal", "node": "SPD", "unusual": False, "text": "fan reads 12 rev/s, as expected"}
    inside = {"kind": "gate", "node": "CVLV", "global": [0.7], "local": [0.9]}
    body |= {
        "since": "2018-07-02T14:07:00Z",
        "time": "2018-07-02T14:09:00Z",
        "evidence": [usual, own, near, inside],
        "state": "unacknowledged",
    }
    head = "Zone 7: cooling coil, actuator attack, p = 0.97, since 14:07 UTC"
    assert sentence(body) == f"{head}; it is cold (3 °C, expected 9); cooling coil water is cold (4 °C, expected 8)"
    body["evidence"] = [usual, inside]
    assert sentence(body) == f"{head}; {BY_PATTERN}"
    assert "p > 0.99" in sentence(body | {"probability": 0.9998}), "never rounded to certainty"
    assert event_line("incident.closed", body) == "Zone 7: cooling coil is back in range"
    over = body | {"cleared": "2018-07-02T15:30:00Z", "closed": "2018-07-02T19:30:00Z"}
    assert event_line("incident.closed", over) == "Zone 7: cooling coil is back in range since 15:30 UTC"
    assert subject({"zone": None, "name": "pump"}) == "pump"


def test_a_sentence_speaks_the_zone_and_the_units_of_its_site():
    body = {"zone": "zone-07", "root": "RM", "name": "room temperature sensor", "class": "sensor", "probability": 0.9}
    text = "room temperature sensor reads warm (24.5 °C, expected 22.9)"
    twin = "room temperature sensor reads 24.5 °C, return air temperature 20.0 °C"
    body |= {"since": "2018-07-02T04:58:00Z", "time": "2018-07-02T05:09:00Z", "state": "unacknowledged"}
    body["evidence"] = [
        {"kind": "contradiction", "node": "RM", "text": twin},
        {"kind": "signal", "node": "RM", "unusual": True, "text": text},
    ]
    assert sentence(body, Display(time_zone="America/Chicago", units="degF")) == (
        "Zone 7: room temperature sensor, sensor attack, p = 0.90, since 1 Jul 2018 23:58 CDT; "
        "it reads 76.1 °F, return air temperature 68.0 °F; it reads warm (76.1 °F, expected 73.2)"
    )


@pytest.mark.parametrize(
    ("attack_class", "class_is", "said"),
    [
        ("sensor", "by_kind", "LIT101 is anomalous (sensor, by its kind), p = 0.97 by the tail, since 14:07 UTC"),
        ("sensor", "by_label", "LIT101, sensor attack, p = 0.97 by the tail, since 14:07 UTC"),
        ("unclassified", "unknown", "LIT101 is anomalous (unclassified), p = 0.97 by the tail, since 14:07 UTC"),
    ],
)
def test_a_sentence_says_where_class_and_probability_come_from(attack_class, class_is, said):
    marks = NormalJudgement(p_is="tail", labelled={"LIT101": "sensor"} if class_is == "by_label" else {})
    body = {"zone": None, "root": "LIT101", "name": "LIT101", "class": attack_class, "probability": 0.97}
    body |= {"since": "2018-07-02T14:07:00Z", "time": "2018-07-02T14:09:00Z", "evidence": [], "state": "normal"}
    body |= marks.marks("LIT101", attack_class)
    assert body["class_is"] == class_is and body["p_is"] == "tail"
    assert sentence(body) == said
    assert len(meaning(body, None)) == 2, "one line about p, one about the class"
