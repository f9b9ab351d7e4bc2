"""An incident as one page that needs nothing but itself."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from graphghha.alarms import Command, Event, Verb
from graphghha.monitor import Display, Journal, Monitor
from graphghha.monitor.journal import Commit
from graphghha.monitor.page import incident_page
from graphghha.monitor.page.chart import Chart, Line, Mark, draw
from monitor_builders import CONFIG, MINUTE, START, detector, telemetry, wide

HOSTILE = '<script>alert("1")</script>&\x1b[2J\u202e'
ZONE = Display(time_zone="America/Chicago", units="degF")


@pytest.fixture
def journal(tmp_path):
    times, values = telemetry(140)
    with Journal(tmp_path / "journal.db") as opened:
        monitor = Monitor(opened)
        monitor.add("office", detector(), CONFIG)
        monitor.step(wide(times, values))
        yield opened


def page_of(journal, **changes):
    body = journal.reader.incidents()[-1] | changes
    return incident_page(journal.reader, body, ZONE, ["p is calibrated"])


def charts(page):
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


def test_it_asks_for_nothing_from_elsewhere(journal):
    page = page_of(journal)
    assert not re.search(r"https?:|src=|href=|@import|url\(|<script", page)


def test_it_shows_the_sentence_the_first_step_the_readings_and_the_story(journal):
    page = page_of(journal)
    assert "Zone 2: valve, actuator attack" in page and "CDT" in page and "First step" in page
    assert "p is calibrated" in page and "announced, unacknowledged" in page and "back in range" in page
    (chart,) = charts(page)
    lines = [path for path in chart.iter("path") if path.get("class") == "line"]
    assert len(lines) == 1 and lines[0].get("d").count("L") > 60, "the hours around it, minute by minute"


def test_what_strangers_wrote_is_text(journal):
    (body,) = (each for each in journal.reader.incidents() if each["zone"] == "zone-02")
    body |= {"action": HOSTILE, "version": body["version"] + 1, "name": HOSTILE}
    event = Event(START, "operator.command", Command(verb=Verb.ACK, target=body["id"], by=HOSTILE).to_dict())
    journal.write([Commit(site="office", time_ms=START, events=[event])])
    page = incident_page(journal.reader, body, ZONE)
    assert "<script" not in page and "\x1b" not in page and "\u202e" not in page
    assert page.count("&lt;script&gt;") >= 3


def test_rows_that_retention_removed_are_said_to_be_gone(journal):
    page = page_of(journal, since="2017-01-01T00:00:00Z", closed="2017-01-01T01:00:00Z")
    assert "no longer holds the readings" in page and not charts(page)


def test_a_chart_breaks_where_readings_are_missing_and_stays_in_its_box():
    times = START + MINUTE * np.arange(6)
    line = Line("valve", np.array([0.0, 50.0, np.nan, 500.0, 60.0, 60.0]))
    chart = Chart(title="a & b", unit="%", lines=(line,), expected=(10.0, 20.0), limits=(0.0, 100.0))
    marks = [Mark(int(times[1]), "announced"), Mark(int(times[0]) - 1, "long ago")]
    drawn = ElementTree.fromstring(draw(chart, times, marks, int(times[1]), ZONE, with_words=True))
    (path,) = (each.get("d") for each in drawn.iter("path") if each.get("class") == "line")
    assert path.count("M") == 2
    assert all(0 <= float(number) <= 720 for number in re.findall(r"[\d.]+", path))
    words = [each.text for each in drawn.iter("text") if each.get("class") == "word"]
    assert words == ["announced"], "marks outside are left out"
