"""A swap is an event with a priority that names what it changes, and windows are filled as if nothing had happened."""

from dataclasses import replace

import numpy as np
import pytest

from graphghha.alarms import AlarmRule
from graphghha.monitor import Journal, Monitor
from monitor_builders import CONFIG, TEMPLATE, detector, telemetry, wide

TIMES, VALUES = telemetry(90)


def step(monitor, first, end):
    return monitor.step(wide(TIMES[first:end], VALUES[first:end]))


def events(journal, kind):
    return [event.body for event in journal.events_after(0, 10_000) if event.kind == kind]


@pytest.fixture
def watched(tmp_path):
    """A monitor whose next model is what `offered` holds."""
    offered = {}
    with Journal(tmp_path / "journal.db") as journal:
        monitor = Monitor(journal, load=lambda name, directory: offered["model"])
        monitor.add("office", detector(), CONFIG)
        step(monitor, 0, 15)
        yield monitor, journal, offered


def test_a_swap_names_what_changed(watched, tmp_path):
    monitor, journal, offered = watched
    offered["model"] = replace(detector(model="toy@2"), rule=AlarmRule(raise_at=0.99, clear_at=0.5), signed_by="abc")
    assert monitor.swap_model("office", tmp_path)
    (body,) = events(journal, "model.swapped")
    assert body["changed"] == {"rule.raise_at": [0.9, 0.99], "rule.clear_after": [5, 10]}
    assert (body["model"], body["was"], body["signed_by"], body["priority"]) == ("toy@2", "toy@1", "abc", "high")


@pytest.mark.parametrize(
    ("offer", "priority"),
    [
        ({}, "low"),
        ({"model": "toy@2"}, "medium"),
        ({"model": "toy@2", "further_numbers": {"calibration.bias": [0, -9]}}, "high"),
    ],
)
def test_the_priority_of_a_swap(watched, tmp_path, offer, priority):
    monitor, journal, offered = watched
    offered["model"] = replace(detector(), **offer)
    monitor.swap_model("office", tmp_path)
    assert events(journal, "model.swapped")[0]["priority"] == priority


def test_a_refusal_has_a_priority(watched, tmp_path):
    monitor, journal, _ = watched
    assert not monitor.swap_model("office", tmp_path)
    assert events(journal, "model.refused")[0]["priority"] == "medium"


def test_rows_that_came_while_the_model_was_loaded_are_in_its_windows(watched, tmp_path):
    monitor, journal, offered = watched
    offered["model"] = detector(model="toy@2")
    prepared = monitor.prepare_model("office", tmp_path)
    seen = step(monitor, 15, 33)
    assert monitor.use_model("office", prepared)
    seen += step(monitor, 33, 90)
    with Journal(tmp_path / "whole.db") as other:
        whole = Monitor(other)
        whole.add("office", detector(), CONFIG)
        step(whole, 0, 15)
        expected = step(whole, 15, 90)
    assert [(event.time_ms, event.kind) for event in seen] == [(event.time_ms, event.kind) for event in expected]
    assert np.array_equal(monitor.sites["office"].unknown, whole.sites["office"].unknown)


def test_a_model_of_another_graph_is_refused_when_it_is_prepared(watched, tmp_path):
    monitor, _, offered = watched
    offered["model"] = detector(graph=TEMPLATE.replicate(2))
    assert "made for another graph" in monitor.prepare_model("office", tmp_path).reason


def test_a_model_that_the_monitor_adapted_to_the_site_is_a_commissioning(watched, tmp_path):
    monitor, journal, offered = watched
    standing = [{"zone": "zone-1", "node": "temp", "share_of_time": 0.4}]
    record = {"first": "2018-01-01", "last": "2018-01-15", "days": 14, "threshold": 5.0, "standing": standing}
    own = replace(detector(model="20180115@1"), rule=AlarmRule(raise_at=0.99), commissioning=record, is_own=True)
    offered["model"] = own
    assert monitor.swap_model("office", tmp_path) and monitor.swap_model("office", tmp_path)
    assert [body["priority"] for body in events(journal, "model.swapped")] == ["low", "low"]
    (body,) = events(journal, "site.commissioned")
    assert (body["days"], body["threshold"], body["standing"], body["priority"]) == (14, 5.0, standing, "medium")
