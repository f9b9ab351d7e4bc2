"""The alarm first, the evidence after: whatever fails while evidence is gathered, the alarm is raised."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from faults.rig import child_environment
from graphghha.monitor import Site
from monitor_builders import CONFIG, JUDGEMENT, Script, detector, scorer, telemetry, wide, zone_detector, zone_scores

TIMES, VALUES = telemetry(140)


class Broken:
    """A provider of evidence, and a scorer, that can no longer do what evidence needs."""

    def __init__(self, error):
        self.error, self._scorer = error, scorer()

    def push(self, *rows):
        return self._scorer.push(*rows)

    def explain(self, *_):
        raise self.error


def announced(made):
    site = Site("office", made, CONFIG)
    events = site.take(wide(TIMES, VALUES)).events
    return [event.body for event in events if event.kind == "incident.annunciated"]


ERRORS = [OSError(24, "Too many open files"), MemoryError(), ImportError("no module named torch.fx"), KeyError("node")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_incident_without_evidence_is_announced_and_says_why(error):
    made = replace(detector(make_scorer=lambda: Broken(error)), evidence_providers=(Broken(error),))
    whole, without = announced(detector()), announced(made)
    assert [body["id"] for body in without] == [body["id"] for body in whole]
    for body in without:
        assert body["evidence"] == [] and type(error).__name__ in body["evidence_failed"]
        assert "evidence could not be gathered: " + type(error).__name__ in body["text"]
    assert all("evidence_failed" not in body for body in whole)


class Odd:
    """Gives evidence that no sentence can be made of."""

    def explain(self, *_):
        return [{"kind": "signal", "node": 7}]


def test_evidence_that_cannot_be_put_into_words_is_left_out():
    bodies = announced(replace(detector(), evidence_providers=(Odd(),)))
    assert len(bodies) == 2
    assert all(body["evidence"] == [] and "evidence could not be gathered: KeyError" in body["text"] for body in bodies)


def test_an_incident_of_a_zone_without_hypotheses_is_announced():
    probs = zone_scores(60, [("zone-02", 20, 60, {"valve": 1.0})])
    made = zone_detector(probs)
    site = Site("office", made, CONFIG)
    site._zone_incidents._facts._plant = None  # as if the plant's table of signals were damaged
    events = site.take(wide(TIMES[:60], np.full((60, len(made.points)), 20.0))).events
    (body,) = [event.body for event in events if event.kind == "incident.annunciated"]
    assert body["suspects"] == ["valve"] and body["coverage"] == JUDGEMENT.coverage
    assert body["hypotheses"] == [] and "evidence could not be gathered" in body["text"]


def test_a_rehearsal_notices_evidence_that_will_be_missing():
    assert Site("office", detector(), CONFIG).rehearse()
    assert Site("office", zone_detector(np.zeros((1, 15, 4))), CONFIG).rehearse()
    broken = replace(detector(), evidence_providers=(Broken(ImportError("torch.fx")),))
    assert not Site("office", broken, CONFIG).rehearse()
    assert isinstance(zone_detector(np.zeros((1, 15, 4))).make_scorer(), Script)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["fcu", "fcu-zones"])
def test_nothing_is_imported_at_the_first_incident(model, tmp_path):
    """In a process of its own, as other tests import much."""
    code = f"""
import sys
from pathlib import Path
from graphghha.monitor import Journal, Monitor, RowClockConfig, SiteConfig
from graphghha.models import shipped_model
from graphghha.wiring import open_detector
from dataclasses import replace
from faults.toy_detector import toy_building
detector = open_detector(shipped_model({model!r}), 2)
detector = replace(detector, rule=replace(detector.rule, raise_at=1e-6, clear_at=1e-7))
monitor = Monitor(Journal(Path({str(tmp_path / "journal.sqlite")!r})))
monitor.add("site", detector, SiteConfig(clock=RowClockConfig(lateness_ms=0), warm_up_rows=30))
building = toy_building(2, 90)
before, found = set(sys.modules), []
for row in range(90):
    events = monitor.step(building.batch(row, row + 1))
    found += [event.body for event in events if event.kind == "incident.annunciated"]
assert found and all(body["evidence"] and "evidence_failed" not in body for body in found), found
print(sorted(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", code], env=child_environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
