"""CEF lines: golden files for what a SIEM parses, and names that try to break out."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.alarms import StoredEvent
from graphghha.monitor.sinks.cef import cef_line
from graphghha.monitor.sinks.syslog import syslog_message
from sink_builders import HOSTILE, incident

GOLDEN = Path(__file__).parent / "golden"
EVENTS = {
    "incident": incident(7),
    "closed": incident(8, kind="incident.closed", state="normal", priority="low"),
    "source-lost": StoredEvent(9, "north", 1_530_541_020_000, "source.lost", {"priority": "medium", "source": "mqtt"}),
    "alarm": StoredEvent(11, "north", 1_530_541_140_000, "alarm.raised", {"node": "zone-07/FCU_CVLV", "state": "B"}),
    "heartbeat": StoredEvent(1, "monitor", 1_530_541_080_000, "monitor.heartbeat", {"last_event": 9}),
    "hostile": incident(10, site="a|b=c", root="=cmd|' /C calc'!A0\\\n\u202e]\""),
}


def parse(line):
    """A reader written from the format's description: header fields, extension, nothing of our own code."""
    header = re.split(r"(?<!\\)(?:\\\\)*\|", line, maxsplit=7)
    assert header[0] == "CEF:0" and len(header) == 8, line
    spans = [m.span() for m in re.finditer(r"(?:^| )(\w+)=", header[7])]
    fields = {}
    for at, (begin, end) in enumerate(spans):
        stop = spans[at + 1][0] if at + 1 < len(spans) else len(header[7])
        value = header[7][end:stop]
        assert not re.search(r"(?<!\\)(?:\\\\)*=", value), "an unescaped equals sign"
        fields[header[7][begin:end].strip(" =")] = re.sub(
            r"\\(.)", lambda m: {"n": "\n", "r": "\r"}.get(m[1], m[1]), value
        )
    return header[1:7], fields


@pytest.mark.parametrize("name", EVENTS)
def test_lines_are_those_of_the_golden_files(name):
    message = syslog_message(EVENTS[name], hostname="plant-host", enterprise=32473, pid=42)
    expected = (GOLDEN / f"{name}.syslog").read_bytes()
    assert message + b"\n" == expected.replace(b"@VERSION@", _version())


def test_an_incident_reads_back_field_by_field():
    header, fields = parse(cef_line(incident(7)))
    assert header[0] == "graphghha" and header[3:] == ["incident.annunciated", "actuator attack annunciated", "8"]
    assert fields["dvchost"] == "FCU_CVLV" and fields["cs1"] == "north/zone-07/FCU_CVLV"
    assert (fields["cs2Label"], fields["cs2"]) == ("attackTechnique", "T1692.001,T0836")
    assert fields["externalId"] == "inc-7" and fields["cs3"] == "north:7" and fields["cfp1"] == "0.97"
    assert fields["rt"] == "1530540900000" and fields["start"] == "1530540420000"
    assert fields["msg"].endswith("p = 0.97\nvalve reads closed, coil is cold")
    assert (fields["flexString1Label"], fields["flexString1"][:7]) == ("action", "Compare")


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_hostile_names_stay_inside_their_field(name):
    event = incident(3, root=name, zone=name, site="north", text=name, action=name, **{"class": name, "state": name})
    message = syslog_message(event, hostname="h", enterprise=32473, pid=1)
    assert b"\n" not in message and b"\r" not in message and b"\x00" not in message and len(message) <= 8192
    header, fields = parse(message.decode("utf-8").split("\ufeff", 1)[1])
    plain = parse(cef_line(incident(3)))
    assert fields.keys() == plain[1].keys() and header[5] == plain[0][5]
    assert fields["cs3"] == "north:3" and fields["cs2"] == "T1692.001,T0836"


def test_right_to_left_letters_stay_and_overrides_go():
    _, fields = parse(cef_line(incident(3, root=HOSTILE["right-to-left"])))
    assert fields["dvchost"] == "צמ\u05dd\ufffdevlav"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), max_size=90))
def test_any_printable_name_reads_back_as_it_was(name):
    _, fields = parse(cef_line(incident(3, root="x" + name)))
    assert fields["dvchost"] == "x" + name


def _version():
    from graphghha import __version__

    return __version__.encode()


def test_a_heartbeat_says_how_the_monitor_is():
    body = {"status": "degraded", "reasons": ["site north: its source is silent", "sink siem: timed out"]}
    _, fields = parse(cef_line(StoredEvent(1, "monitor", 0, "monitor.heartbeat", body)))
    assert fields["cs5"] == "degraded" and fields["msg"] == "; ".join(body["reasons"])
