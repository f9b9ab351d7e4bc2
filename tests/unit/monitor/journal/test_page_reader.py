"""What a page reads: packed hours, scores, lists of incidents; and journals of older versions, brought up to date."""

import json
import sqlite3

import numpy as np
import pytest

from graphghha.alarms import Event
from graphghha.monitor.journal import Commit, IncidentFilter, Journal, PageReader
from graphghha.monitor.journal.incident_list import count_query, page_query
from graphghha.monitor.journal.schema import (
    APPLICATION_ID,
    FILL_INCIDENTS,
    MIGRATIONS,
    VERSION,
    checksum,
    connect,
    migrate,
)
from graphghha.monitor.quantized import UNKNOWN, probabilities, quantize

MINUTE = 60_000
POINTS = ["a/x", "a/y", "b/x", "b/y"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.db"


def minute(at: int) -> Commit:
    values = np.array([[at, at + 0.5, -at, np.nan]], np.float32)
    scores = np.array([[at % 255, UNKNOWN]], np.uint8)
    return Commit(
        site="s", time_ms=at * MINUTE, times_ms=[at * MINUTE], rows=[values], scores=[scores], state={}, summary={}
    )


def incident(number: int, **changes: object) -> Event:
    time = f"2018-07-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00Z"
    body = {"id": f"i-{number}", "zone": f"zone-{number % 3}", "root": "valve", "state": "unacknowledged"}
    body |= {"priority": "high" if number % 2 else "low", "time": time, "closed": None, "text": f"the {number}th valve"}
    return Event(number * MINUTE, "incident.annunciated", body | changes)


def test_a_packed_journal_gives_back_what_was_written_and_reads_one_zone_alone(path):
    with Journal(path) as journal:
        journal.register("s", {"nodes": ["a", "b"], "points": POINTS})
        for at in range(200):
            journal.write([minute(at)])
        rows = journal.reader.rows("s")
        assert rows.times_ms.tolist() == [at * MINUTE for at in range(200)]
        np.testing.assert_array_equal(rows.values[:, 0], np.arange(200, dtype=np.float32))
        assert len(journal.reader.rows("s", newest=150)) == 150
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT count(*) FROM rows").fetchone() == (20,), "only the present hour is in pieces"
        assert raw.execute("SELECT count(*) FROM hours").fetchone() == (6,), "three hours of two zones"
        assert raw.execute("SELECT count(*) FROM scores").fetchone() == (23,)
    raw.close()
    with PageReader(path) as reader:
        times, values = reader.zone_rows("s", POINTS, "b", 30 * MINUTE, 190 * MINUTE)
        assert times[0] == 30 * MINUTE and times[-1] == 190 * MINUTE and len(times) == 161
        np.testing.assert_array_equal(values[:, 0], -np.arange(30, 191, dtype=np.float32))
        assert np.isnan(values[:, 1]).all()
        times, scores = reader.scores("s", 0, 2**60)
        assert scores[:, 0].tolist() == list(range(200)) and (scores[:, 1] == UNKNOWN).all()
        assert reader.newest_scores("s")[1].tolist() == [199, UNKNOWN]


def test_incidents_are_filtered_and_paged_in_order(path):
    with Journal(path) as journal:
        journal.write([Commit(site="s", time_ms=0, events=[incident(n) for n in range(100)])])
        journal.write(
            [Commit(site="s", time_ms=0, events=[incident(7, state="normal", closed="2018-07-02T00:00:00Z")])]
        )
    with PageReader(path) as reader:
        wanted = IncidentFilter(sites=["s"], is_open=True)
        assert reader.count_incidents(wanted) == 99
        seen, after = [], None
        while True:
            page, after = reader.list_incidents(wanted, after=after, limit=40)
            seen += [body["id"] for body in page]
            if after is None:
                break
        assert seen == [f"i-{n}" for n in range(99, -1, -1) if n != 7]
        assert reader.count_incidents(IncidentFilter(zone="zone-1", priorities=("high",), words="valve 1")) > 0
        assert reader.count_incidents(IncidentFilter(words="%")) == 0, "a percent sign is a character like any other"
        (root,) = {body["root"] for body in reader.list_incidents(wanted, limit=1)[0]}
        assert reader.count_incidents(IncidentFilter(sites=["s"], roots=[("s", root)])) > 0
        assert reader.count_incidents(IncidentFilter(sites=["s"], roots=[("other", root)])) == 0
        assert reader.count_incidents(IncidentFilter(sites=["s"], roots=[])) == 0
        assert reader.count_incidents(IncidentFilter(sites=[])) == 0, "nobody sees the sites of others"


def test_long_lists_are_searched_in_the_index_that_fits(path):
    with Journal(path) as journal:
        journal.write([Commit(site="s", time_ms=0, events=[incident(n) for n in range(10)])])
    with PageReader(path) as reader:
        for wanted, index in (
            (IncidentFilter(sites=["s"], words="valve"), "incidents_by_text"),
            (IncidentFilter(sites=["s"], words="valve", priorities=("high",)), "incidents_by_text"),
            (IncidentFilter(sites=["s"], states=("normal",)), "incidents_by_state"),
            (IncidentFilter(sites=["s"], is_open=True), "incidents_open"),
            (IncidentFilter(sites=["s"], zone="zone-1"), "incidents_by_zone"),
            (IncidentFilter(sites=["s"], roots=[("s", "a"), ("s", "b")]), "incidents_by_site"),
            (IncidentFilter(sites=["s"]), "incidents_by_site"),
        ):
            for query, arguments in (page_query(wanted, None, 50), count_query(wanted)):
                plan = " ".join(row[3] for row in reader._all(f"EXPLAIN QUERY PLAN {query}", *arguments))
                is_any = (
                    "COVERING INDEX" if query.startswith("SELECT count") and index == "incidents_by_site" else index
                )
                assert is_any in plan, (wanted, plan)


def test_a_page_says_how_many_there_are_on_all_pages(path):
    with Journal(path) as journal:
        journal.write([Commit(site="s", time_ms=0, events=[incident(n) for n in range(100)])])
        journal.write([Commit(site="s", time_ms=0, events=[incident(7, text=None, state="normal")])])
    with PageReader(path) as reader:
        page, after, total = reader.list_and_count(IncidentFilter(words="VALVE th"), limit=40)
        assert (len(page), total) == (40, 99) and after is not None, "the one without a text has no words"
        page, after, total = reader.list_and_count(IncidentFilter(words="valve"), after=after, limit=90)
        assert (len(page), after, total) == (59, None, 99), "a later page counts those before it"
        page, after, total = reader.list_and_count(IncidentFilter(states=("normal", "acknowledged")), limit=40)
        assert ([body["id"] for body in page], after, total) == (["i-7"], None, 1)
        assert reader.list_and_count(IncidentFilter(words="nowhere")) == ([], None, 0)


def test_events_of_some_kinds_and_of_people_are_found_in_an_index(path):
    kinds = ("alarm.raised", "operator.command", "studio.injected", "stop.begun", "operator.refused", "access.login")
    with Journal(path) as journal:
        events = [Event(n, kinds[n % len(kinds)], {"target": f"i-{n % 7}"}) for n in range(600)]
        journal.write([Commit(site="s", time_ms=0, events=events)])
    with PageReader(path) as reader:
        newest = reader.events_before(None, 3, ("stop.*", "studio.injected"))
        assert [event.number for event in newest] == [598, 597, 592]
        assert [event.number for event in reader.events_before(592, 2, ("stop.begun",))] == [586, 580]
        assert [event.number for event in reader.events_after(4, 3, ("s*", "access.login"))] == [6, 9, 10]
        assert reader.events_before(None, 3, ("nothing.*",)) == []
        assert [event.number for event in reader.events_of_people(None, 7)] == [600, 599, 598, 597, 596, 594, 593]
        notes = reader.notes_about(["i-1", "i-2", "elsewhere"])
        assert {key: event.body["target"] for key, event in notes.items()} == {"i-1": "i-1", "i-2": "i-2"}
        assert {event.kind for event in reader.refusals("i-4")} == {"operator.refused"}
        asked = []
        reader._connection.set_trace_callback(asked.append)
        reader.notes_about(["i-1", "i-2"]), reader.refusals("i-4"), reader.events_of_people(None, 5)
        reader.incident_events("i-4")
        reader._connection.set_trace_callback(None)
        plans = [
            " ".join(row[3] for row in reader._all(f"EXPLAIN QUERY PLAN {query}"))
            for query in asked
            if "eras" not in query
        ]
        assert len(plans) == 4 and not any("SCAN events" in plan for plan in plans), plans
        assert "events_by_target" in plans[0] and "events_by_target" in plans[1] and "events_by_target" in plans[3]
        assert "events_of_people" in plans[2]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_an_older_journal_gets_its_list_of_incidents(path, version):
    connection = connect(path, is_writer=True)
    for number, script in enumerate(MIGRATIONS[:version], start=1):
        both = f"PRAGMA user_version = {number};PRAGMA application_id = {APPLICATION_ID + number}"
        connection.executescript(f"BEGIN;{script};{both};COMMIT;")
    for number in range(1, 11):
        event = incident(number, state="normal" if number > 5 else "acknowledged", closed="x" if number > 5 else None)
        body = json.dumps(event.body)
        row = (number, "s", event.time_ms, event.kind)
        connection.execute(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, f"i-{number}", body, checksum(*row, body))
        )
    if version >= 3:  # whose monitor kept the list itself
        connection.executescript(FILL_INCIDENTS)
    connection.execute("INSERT INTO events VALUES (11, 's', 0, 'incident.closed', 'bad', '{', 0)")
    connection.execute(
        "UPDATE events SET checksum = ? WHERE number = 11", (checksum(11, "s", 0, "incident.closed", "{"),)
    )
    connection.close()
    with Journal(path) as journal:
        assert journal.damage is None
    with PageReader(path) as reader:
        assert reader.version == VERSION
        assert reader.count_incidents(IncidentFilter()) == 10
        assert reader.count_incidents(IncidentFilter(is_open=True)) == 5
        assert reader.count_incidents(IncidentFilter(words="valve")) == 10
        assert reader.count_incidents(IncidentFilter(states=("acknowledged",))) == 5
    connection = connect(path, is_writer=True)
    migrate(connection)  # nothing is left to do
    connection.close()


def test_a_probability_never_seems_higher_than_it_is():
    exact = np.array([0.0, 0.05, 0.5, 0.899999, 0.9, 1.0, np.nan])
    scores = quantize(exact)
    assert scores[-1] == UNKNOWN and scores[0] == 0 and scores[-2] == 254
    assert (probabilities(scores)[:-1] <= exact[:-1] + 1e-6).all()
    assert np.isnan(probabilities(scores)[-1])
