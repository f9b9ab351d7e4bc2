"""Commands in the journal: typed and bounded, taken once, withdrawn for good, refused with a reason."""

import json
import sqlite3
import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graphghha.alarms import Command, Verb
from graphghha.errors import ConfigError, ConflictError
from graphghha.monitor import Journal, Monitor
from graphghha.monitor.journal import parse_command, submit_command, withdraw_command
from graphghha.monitor.journal.commands import ANSWERED_KEPT, EXPIRES_MS
from monitor_builders import CONFIG, commit, detector, telemetry, wide

ACK = Command(verb=Verb.ACK, target="zone-01/valve", by="ada")
DEEP = "[" * 100_000
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.fixed_dictionaries(
    {"verb": st.sampled_from([*Verb, "explode"]) | ANYTHING, "target": st.just("zone-02/valve") | ANYTHING},
    optional={
        "by": st.text() | ANYTHING,
        "version": st.integers(-1, 3) | ANYTHING,
        "for_ms": st.integers(-1, 10**8) | ANYTHING,
        "reason": st.text(st.characters(exclude_categories=())) | ANYTHING,
        "disposition": st.just("attack") | ANYTHING,
        "more": ANYTHING,
    },
)
BODIES = FIELDS.map(json.dumps) | ANYTHING.map(json.dumps) | st.text(st.characters(exclude_categories=("Cs",)))


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """A monitor with an open incident, for all generated bodies."""
    path = tmp_path_factory.mktemp("commands") / "journal.db"
    times, values = telemetry(40)
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add("office", detector(), CONFIG)
        monitor.step(wide(times, values))
        yield path, journal, monitor


def left(path, body, sent_ms=None):
    """Leave a body as whoever may write the file can."""
    with sqlite3.connect(path) as foreign:
        values = ("office", body, time.time_ns() // 1_000_000 if sent_ms is None else sent_ms)
        return foreign.execute("INSERT INTO commands (site, body, sent_ms) VALUES (?, ?, ?)", values).lastrowid


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(BODIES)
@example('{"verb": "shelve", "target": "zone-02/valve", "by": "a", "for_ms": "long", "reason": "x"}')
@example('{"verb": "shelve", "target": "zone-02/valve", "by": "a", "reason": {"a": [1]}}')
@example('{"verb": "shelve", "target": "zone-02/valve", "by": "a", "reason": "night \\udcff shift"}')
@example('{"verb": "ack", "target": ["zone-02/valve"], "by": "a"}')
@example('{"verb": "ack", "target": "zone-02/valve", "by": "a", "version": 1e999}')
@example(DEEP)
def test_a_hostile_command_is_answered_once_and_ends_nothing(watched, body):
    path, journal, monitor = watched
    number = left(path, body)
    monitor.answer_commands()
    assert journal.reader.answer(number)[0] in ("done", "refused")
    assert journal.take_commands() == [] and not monitor.is_journal_failing


@pytest.mark.parametrize("body", [b"\xff\xfe\x00", 17, 2.5, DEEP * 10])
def test_a_body_of_another_type_is_refused(watched, body):
    path, journal, monitor = watched
    number = left(path, body)
    monitor.answer_commands()
    assert journal.reader.answer(number)[0] == "refused"


def test_a_stray_byte_in_a_reason_is_replaced():
    command = Command(verb=Verb.SHELVE, target="x", by="ada", reason="by \udcff night")
    assert command.reason == "by \ufffd night"


@pytest.mark.parametrize(
    "wrong",
    [{"reason": "x" * 2001}, {"by": 7}, {"target": "x" * 301}, {"version": True}, {"version": -1}, {"for_ms": 1.5}],
)
def test_a_field_of_the_wrong_type_or_size_is_refused(wrong):
    with pytest.raises(ConfigError, match=f"command: {next(iter(wrong))} must be"):
        Command.from_dict({"verb": "ack", "target": "x", "by": "ada", **wrong})


def test_a_command_that_nobody_waits_for_any_more_is_refused(watched):
    path, journal, monitor = watched
    number = left(path, json.dumps(ACK.to_dict()), time.time_ns() // 1_000_000 - EXPIRES_MS - 1_000)
    monitor.answer_commands()
    state, answer = journal.reader.answer(number)
    assert state == "refused" and "nobody waits for it" in answer
    with pytest.raises(ConflictError):
        parse_command("{}", 0)


def test_what_is_withdrawn_is_not_taken_and_what_is_taken_not_withdrawn(watched):
    path, journal, _ = watched
    first, second = (submit_command(path, "office", ACK) for _ in range(2))
    assert withdraw_command(path, first)
    assert [number for number, *_ in journal.take_commands()] == [second]
    assert not withdraw_command(path, second)
    assert journal.reader.answer(first)[0] == "withdrawn" and journal.reader.answer(second)[0] == "taken"


def test_answered_commands_are_under_retention(tmp_path):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        numbers = [submit_command(path, "office", ACK) for _ in range(5)]
        with sqlite3.connect(path) as foreign:
            foreign.execute("UPDATE commands SET id = id + ? WHERE id > 3", (ANSWERED_KEPT + 10,))
            foreign.execute("UPDATE commands SET state = 'done' WHERE id <> 2")
        journal.write([commit(0)])
        journal.trim()
        with sqlite3.connect(path) as foreign:
            left_over = [number for (number,) in foreign.execute("SELECT id FROM commands ORDER BY id")]
    assert left_over == [2, ANSWERED_KEPT + 14, ANSWERED_KEPT + 15] and len(numbers) == 5
