"""Orders for a site, and the events that refused ones leave."""

import json
import time

import pytest

from graphghha.errors import ConfigError, ConflictError
from graphghha.monitor import Journal, Monitor
from graphghha.monitor.journal import submit_body
from graphghha.monitor.orders import STARTED_OVER, Order, carry_out, parse_request, refusal
from monitor_builders import CONFIG, ListSource, detector, telemetry, wide


@pytest.fixture
def monitor(tmp_path):
    with Journal(tmp_path / "journal.sqlite") as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        times, values = telemetry(10)
        monitor.step(wide(times, values))
        yield monitor


def asked(monitor, **body):
    """Leave an order as the page does, and return the newest event and the answer."""
    number = submit_body(monitor.journal.path, "office", body)
    monitor.answer_commands()
    reader = monitor.journal.reader
    return reader.events_after(reader.last_event_number() - 1, 1)[0], reader.answer(number)


def test_a_refused_order_is_an_event_with_who_and_why(monitor):
    origin = {"by": "ortiz", "token": "login:12", "address": "10.0.0.7", "wall_time": "2026-11-18T05:00:00Z"}
    event, (state, _) = asked(monitor, order="stop", minutes=0, reason="x", **origin)
    assert state == "refused" and event.kind == "operator.refused"
    assert event.body == {"order": "stop", "reason": "x", **origin, "error": "ConfigError", "why": event.body["why"]}
    assert "minutes" in event.body["why"]


def test_an_attack_is_never_sent_to_a_plant(monitor):
    monitor.feed("office", ListSource())
    event, (state, answer) = asked(monitor, order="inject", name="x", zone="zone-01", in_minutes=1)
    assert state == "refused" and "not simulated" in answer and event.kind == "operator.refused"


class Simulated(ListSource):
    """A source that takes attacks, as a simulated building does."""

    def inject(self, name, zone, in_minutes, minutes):
        raise AssertionError("nothing is injected here")

    def withdraw(self, spec):
        raise AssertionError("nothing is withdrawn here")


def test_starting_over_is_written_down_for_the_program_that_does_it(monitor):
    monitor.feed("office", Simulated())
    event, (state, _) = asked(monitor, order="start-over", seed=12, reason="again", by="ortiz")
    assert state == "done" and event.kind == STARTED_OVER
    assert event.body == {"seed": 12, "reason": "again", "by": "ortiz"}
    for seed in (-1, 2**31, 1.5, True, None, "7"):
        assert asked(monitor, order="start-over", seed=seed)[1][0] == "refused"


def test_a_plant_never_starts_over(monitor):
    monitor.feed("office", ListSource())
    assert asked(monitor, order="start-over", seed=7)[1][0] == "refused"


def test_notes_are_of_known_kinds_only(monitor):
    event, (state, _) = asked(monitor, order="note", kind="access.login", role="admin", by="ortiz", more="dropped")
    assert state == "done" and event.kind == "access.login" and event.body == {"role": "admin", "by": "ortiz"}
    assert asked(monitor, order="note", kind="incident.closed")[1][0] == "refused"


@pytest.mark.parametrize("body", [{"order": "shell"}, {"order": 7}, {"order": None}, {"order": ["stop"]}])
def test_an_unknown_order_is_refused(body):
    with pytest.raises(ConfigError):
        parse_request(json.dumps(body), time.time_ns() // 1_000_000)


def test_zones_of_a_stop_must_exist(monitor):
    site = monitor.sites["office"]
    for zones in (["attic"], [], "zone-01", [None]):
        with pytest.raises(ConfigError):
            carry_out(Order("stop", {"minutes": 5, "reason": "x", "zones": zones}), site, None, 0)


def test_a_refusal_of_nonsense_says_why_and_nothing_else():
    assert refusal("{", ConflictError("no")) == {"error": "ConflictError", "why": "no"}
    assert "by" not in refusal('{"by": 7, "verb": {}}', ConflictError("no"))
