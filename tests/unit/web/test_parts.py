"""Sentences in parts: times as instants, temperatures as values, everything else as text."""

from graphghha.monitor.display import PLAIN
from graphghha.monitor.incident_json import sentence
from graphghha.web.contract.incidents import TimePart, ValuePart
from graphghha.web.incident_view import incident_line
from graphghha.web.parts import in_parts, text_in_parts

BODY = {
    "id": "s-1",
    "site": "s",
    "zone": "zone-03",
    "root": "RM_TEMP",
    "name": "room temperature",
    "class": "sensor",
    "probability": 0.97,
    "since": "2018-07-10T10:10:00Z",
    "time": "2018-07-10T10:12:00Z",
    "follows": {"id": "s-0", "closed": "2018-07-09T23:00:00Z"},
    "evidence": [
        {
            "kind": "signal",
            "node": "RM_TEMP",
            "unusual": True,
            "text": "room temperature is high (24.6 °C, expected 20.7)",
        }
    ],
}


def test_times_and_temperatures_of_an_incident_stand_apart():
    parts = in_parts(lambda display: sentence(BODY, display))
    times = [part for part in parts if isinstance(part, TimePart)]
    assert times == [
        TimePart(time="2018-07-10T10:10:00Z", on="2018-07-10T10:12:00Z"),
        TimePart(time="2018-07-09T23:00:00Z", on="2018-07-10T10:12:00Z"),
    ]
    values = [part for part in parts if isinstance(part, ValuePart)]
    assert values == [
        ValuePart(value=24.6, unit="degC", decimals=1),
        ValuePart(value=20.7, unit="degC", decimals=1, is_bare=True),
    ]
    words = "".join(part for part in parts if isinstance(part, str))
    assert words.startswith("Zone 3: room temperature, sensor attack, p = 0.97, since ")
    assert "10:10" not in words and "10:10 UTC" in sentence(BODY, PLAIN)


def test_a_sentence_that_is_only_text_keeps_it():
    assert text_in_parts("damper is 80% open, flow 154 L/s, expected 20") == [
        "damper is 80% open, flow 154 L/s, expected 20"
    ]
    assert text_in_parts("") == []


def test_a_name_that_holds_the_marks_is_text():
    for name in ("\ue000t never \ue001", "\ue000v 1e9 degC\ue001", "\ue000\ue001", "\ue001\ue000"):
        parts = in_parts(lambda display, name=name: sentence(BODY | {"name": name}, display))
        assert sum(isinstance(part, TimePart) for part in parts) == 2, name


def test_an_incident_of_the_building_has_no_root():
    body = {**BODY, "zone": None, "root": None, "name": "Building", "members": ["s-1"], "zones": ["zone-03"]}
    line = incident_line(body | {"zones_of_building": 3, "hypotheses": []}, None, None, None, is_drill=False)
    assert (line.root, line.zone_title, line.name) == ("", "Building", "Building")
    assert line.text_parts[0].startswith("Building: 1 of 3 zones are anomalous (zone-03), p = 0.97, since ")
