"""One site: the same readings give the same events, however they come and whatever interrupts them."""

import json
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import loop_template
from graphghha.alarms import Command, Verb
from graphghha.errors import ConfigError
from graphghha.monitor import RowClockConfig, Site, SiteConfig
from graphghha.monitor.journal.codec import pack, unpack
from graphghha.monitor.row_clock import RowClock
from graphghha.sources import ReadingBatch
from graphghha.windows import Rows
from monitor_builders import CONFIG, MINUTE, START, Script, detector, long, plain, quiet, telemetry, wide

TIMES, VALUES = telemetry(140)
POINTS = len(detector().points)


def site(config=CONFIG, **more):
    return Site("office", detector(**more), config)


def kinds(events, start=""):
    return [event.kind for event in events if event.kind.startswith(start)]


def whole():
    return site().take(wide(TIMES, VALUES))


def restored(old, rows, times):
    """As after a kill: state and alarm board through bytes, windows from the journal's rows."""
    state, board = unpack(pack(old.to_state())), unpack(pack(old.board_state()))
    values = np.concatenate(rows)[-10:]
    history = Rows(np.array(times[-10:]), values, np.isfinite(values), np.isfinite(values).any(axis=1))
    return Site.from_state("office", detector(), CONFIG, state, board, history)


def test_attacks_become_incidents_by_the_public_contract():
    events = whole().events
    states = [
        (event.kind.partition(".")[2], event.body["state"]) for event in events if event.kind.startswith("incident.")
    ]
    new, gone, closed = ("annunciated", "unacknowledged"), ("updated", "returned"), ("closed", "returned")
    assert states == [new, new, gone, closed, gone, closed]
    first = next(event.body for event in events if event.kind == "incident.annunciated")
    wanted = "id site zone root class probability since state priority alarms evidence consistent_with action version"
    assert set(wanted.split()) <= set(first)
    assert (first["zone"], first["root"], first["class"], first["state"]) == (
        "zone-02",
        "valve",
        "actuator",
        "unacknowledged",
    )
    assert first["text"].startswith("Zone 2: valve, actuator attack, p = 0.")
    json.dumps([event.body for event in events], allow_nan=False)


def test_what_comes_within_a_day_in_the_same_zone_is_announced_as_a_possible_after_effect():
    times, values = telemetry(1700)
    points = detector().points
    values[50:90, points.index("zone-03/flow")] -= 15.0  # calm there but for what comes now
    for begin, name in ((100, "zone-02/flow"), (100, "zone-03/flow"), (1640, "zone-02/valve")):
        values[begin : begin + 30, points.index(name)] += 20.0
    first = site()
    before = first.take(wide(times[:95], values[:95]))
    second = restored(first, before.rows, before.times_ms)
    events = before.events + second.take(wide(times[95:], values[95:])).events
    announced = [event.body for event in events if event.kind == "incident.annunciated"]
    assert [(body["zone"], body["root"]) for body in announced] == [
        ("zone-02", "valve"),
        ("zone-02", "flow"),
        ("zone-03", "flow"),
        ("zone-02", "valve"),
    ]
    closed = next(event.body for event in events if event.kind == "incident.closed")
    assert [body["follows"] for body in announced] == [
        None,
        {"id": closed["id"], "closed": closed["closed"]},
        None,
        None,
    ]
    assert announced[1]["text"].endswith(
        f"may be an after-effect of the incident closed at {closed['closed'][11:16]} UTC"
    )
    assert "after-effect" not in announced[2]["text"] + announced[3]["text"]


def test_a_second_incident_beside_an_open_one_of_its_zone_says_so():
    times, values = telemetry(60)
    points = detector().points
    values[20:60, points.index("zone-02/valve")] += 20.0
    values[40:60, points.index("zone-02/flow")] += 20.0
    watched = Site("office", detector(join_within=5), CONFIG)
    announced = [
        event.body for event in watched.take(wide(times, values)).events if event.kind == "incident.annunciated"
    ]
    assert [body["follows"] for body in announced if body["zone"] == "zone-02"] == [
        None,
        {"id": announced[0]["id"], "closed": None},
    ]
    assert announced[1]["text"].endswith("may belong to the incident already open in this zone")


@settings(max_examples=25)
@given(st.lists(st.integers(1, 139), max_size=6))
def test_portions_do_not_matter(cuts):
    watched, events, rows = site(), [], []
    edges = [0, *sorted(set(cuts)), 140]
    for begin, end in zip(edges, edges[1:], strict=False):
        update = watched.take(wide(TIMES[begin:end], VALUES[begin:end]))
        events += update.events
        rows += update.rows
    clean = whole()
    assert plain(events) == plain(clean.events)
    assert np.concatenate(rows).tobytes() == np.concatenate(clean.rows).tobytes()


@settings(max_examples=30)
@given(st.lists(st.integers(12, 139), min_size=1, max_size=4, unique=True), st.integers(0, 5))
def test_killed_and_restored_anywhere_the_events_are_the_same(kills, repeated):
    clean, watched, events, rows, times = whole(), site(), [], [], []
    for begin, end in zip([0, *sorted(kills)], [*sorted(kills), 140], strict=False):
        if begin:
            watched = restored(watched, rows, times)
        update = watched.take(wide(TIMES[max(0, begin - repeated) : end], VALUES[max(0, begin - repeated) : end]))
        events, rows, times = events + update.events, rows + update.rows, times + update.times_ms
    assert plain(events) == plain(clean.events)


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(1, 3))
def test_duplicates_and_disorder_within_the_watermark_change_nothing(seed, copies):
    random = Random(seed)
    config = SiteConfig(clock=RowClockConfig(lateness_ms=3 * MINUTE), warm_up_rows=0)
    readings = [
        (int(t), p, float(v)) for t, row in zip(TIMES[:60], VALUES[:60], strict=True) for p, v in enumerate(row)
    ]
    clean, noisy = site(config), site(config)
    expected = clean.take(wide(TIMES[:60], VALUES[:60])).events + clean.finish().events
    mixed = sorted(readings * copies, key=lambda reading: reading[0] + random.uniform(0, 2.9 * MINUTE))
    found = []
    for at in range(0, len(mixed), 500):
        times, points, values = zip(*mixed[at : at + 500], strict=True)
        found += noisy.take(long(times, points, values)).events
    assert plain(found + noisy.finish().events) == plain(expected)


def test_silence_is_an_event_and_its_end_states_the_gap():
    watched = site()
    events = watched.take(wide(TIMES[:15], VALUES[:15])).events
    heard = int(TIMES[14])
    for minute in range(1, 11):
        events += watched.take(ReadingBatch.empty("office", heard + 5 + minute * MINUTE)).events
    assert watched.is_lost and watched.unknown.all()
    events += watched.take(wide(TIMES[110:130], VALUES[110:130])).events
    lost, found = (event for event in events if event.kind.startswith("source."))
    assert lost.kind == "source.lost" and lost.time_ms == heard + 5 * MINUTE
    assert found.kind == "source.found" and found.body["minutes"] == 96
    assert not kinds(events, "incident.") and not kinds(events, "alarm.")


def test_empty_batches_and_a_gap_in_a_recording_give_the_same_events():
    live, replay = site(), site()
    events = live.take(wide(TIMES[:15], VALUES[:15])).events
    for minute in range(1, 40):
        events += live.take(ReadingBatch.empty("office", int(TIMES[14]) + 5 + minute * MINUTE)).events
    events += live.take(wide(TIMES[54:], VALUES[54:])).events
    recorded = replay.take(wide(TIMES[:15], VALUES[:15])).events + replay.take(wide(TIMES[54:], VALUES[54:])).events
    assert plain(events) == plain(recorded)


def silence(watched, from_ms, to_ms):
    """Pass the time in steps of five seconds; return the events."""
    return [
        event for at in range(from_ms, to_ms, 5_000) for event in watched.take(ReadingBatch.empty("office", at)).events
    ]


def test_what_was_stored_during_a_silence_is_judged_as_if_it_had_come_in_time():
    watched = site()
    events = watched.take(wide(TIMES[:30], VALUES[:30])).events
    events += silence(watched, int(TIMES[29]) + 5, int(TIMES[90]))
    assert watched.is_lost and watched.unknown.all()
    for at in range(30, 140):
        events += watched.take(wide(TIMES[at : at + 1], VALUES[at : at + 1])).events
    assert not watched.is_lost
    gap = next(event for event in events if event.kind == "source.found")
    assert gap.body["minutes"] == 1, "no row is missing"
    assert [each for each in plain(events) if not each[1].startswith("source.")] == plain(whole().events)


def zone_rows(at, zones, offset_ms=0):
    """One row of some zones, stated with an offset."""
    points = [column for column, name in enumerate(detector().points) if int(name[5:7]) in zones]
    times = [int(TIMES[at]) + offset_ms] * len(points)
    return long(times, points, VALUES[at, points], received_ms=int(TIMES[at]) + 500)


def test_a_wrong_clock_is_an_event_when_it_begins_and_when_it_is_over():
    watched, events = site(SiteConfig(warm_up_rows=0)), []
    for at in range(60):
        events += watched.take(zone_rows(at, {1, 2})).events
        events += watched.take(zone_rows(at, {3}, 600_000 if 20 <= at < 40 else 0)).events
        events += silence(watched, int(TIMES[at]) + 1_000, int(TIMES[at]) + MINUTE)
        if at == 30:
            zones = {watched.detector.graph.zones[node] for node in np.flatnonzero(watched.unknown).tolist()}
            assert zones == {"zone-03"} and watched.wrong_clocks == ["zone-03"]
    wrong, right = (event.body for event in events if event.kind == "device.clock")
    assert wrong == {"device": "zone-03", "state": "wrong", "offset_s": 600, "kind": "ahead", "priority": "high"}
    assert right == {"device": "zone-03", "state": "right", "offset_s": 0}
    assert watched.wrong_clocks == [] and not watched.unknown.any()


def test_a_clock_that_drifts_is_reported_with_its_rate_also_across_a_restart():
    config, events = SiteConfig(warm_up_rows=0), []
    watched = site(config)
    for at in range(60):
        events += watched.take(zone_rows(at, {1, 2})).events
        events += watched.take(zone_rows(at, {3}, 2_000 * at)).events
        events += silence(watched, int(TIMES[at]) + 1_000, int(TIMES[at]) + MINUTE)
        if at == 25:
            state = unpack(pack(watched.to_state()))
            assert state["intake"]["clocks"]["drift"][0].any()
            watched._clock = RowClock.from_state(state["intake"], watched.detector.points, config.clock)
    (wrong,) = (event.body for event in events if event.kind == "device.clock")
    assert wrong["kind"] == "ahead" and wrong["offset_s"] > 60
    assert wrong["drift_s_per_day"] == pytest.approx(2880, rel=0.02)


def test_when_all_clocks_stand_still_the_site_is_lost_and_the_event_says_why():
    watched, events = site(), []
    for at in range(20):
        stated = int(TIMES[min(at, 9)])
        batch = zone_rows(at, {1, 2, 3})
        events += watched.take(
            long([stated] * len(batch), batch.points, batch.values, received_ms=batch.received_ms)
        ).events
        events += silence(watched, batch.received_ms, int(TIMES[at]) + MINUTE)
    (lost,) = (event for event in events if event.kind == "source.lost")
    assert watched.is_lost and "readings arrived and none of them has a new" in lost.body["reason"]


def test_readings_that_come_too_late_for_their_rows_are_an_event():
    watched, events = site(), []
    for at in range(30):
        events += watched.take(zone_rows(at, {1, 2} if 5 <= at < 15 else {1, 2, 3})).events
        if at == 14:
            events += [
                event
                for late in range(5, 12)
                for event in watched.take(replace(zone_rows(late, {3}), received_ms=int(TIMES[at]) + 600)).events
            ]
        events += silence(watched, int(TIMES[at]) + 1_000, int(TIMES[at]) + MINUTE)
    bodies = [event.body for event in events if event.kind == "readings.late"]
    assert sum(body["count"] for body in bodies) == 7 * POINTS // 3
    assert {device for body in bodies for device in body["devices"]} == {"zone-03"}


def test_after_a_silence_nodes_stay_unknown_until_the_plant_has_settled():
    watched = site()
    watched.take(wide(TIMES[:15], VALUES[:15]))
    watched.take(wide(TIMES[30:33], VALUES[30:33]))
    assert watched.unknown.all()
    watched.take(wide(TIMES[33:34], VALUES[33:34]))
    assert not watched.unknown[: POINTS // 3].all()


def test_one_wrong_clock_moves_nobody():
    watched = site()
    events = watched.take(wide(TIMES[:30], VALUES[:30])).events
    events += watched.take(long([4_000_000_000_000], [0], [20.0])).events
    events += watched.take(long([0], [1], [20.0])).events
    events += watched.take(wide(TIMES[30:], VALUES[30:])).events
    assert plain(events) == plain(whole().events)
    counters = watched.counters
    assert counters.ahead == 1 and counters.late == 1


def test_after_a_week_of_silence_the_site_goes_on():
    watched, week = site(), 7 * 1440 * MINUTE
    watched.take(wide(TIMES[:15], VALUES[:15]))
    events = watched.take(wide(TIMES[15:40] + week, VALUES[15:40])).events
    assert kinds(events, "source.") == ["source.lost", "source.found"]
    assert watched.time_ms == int(TIMES[39]) + week


def test_impossible_values_are_counted_and_never_scored():
    watched, values = site(), VALUES[:15].copy()
    values[10:, 0], values[10:, 1], values[10:, 2] = np.nan, np.inf, 1e308
    watched.take(wide(TIMES[:15], values))
    assert watched.counters.not_finite == 10
    assert watched.unknown[2], "what a float32 cannot hold is not fresh"


def test_while_the_windows_fill_nothing_is_scored():
    watched = site(SiteConfig(clock=RowClockConfig(lateness_ms=0), warm_up_rows=100))
    events = watched.take(wide(TIMES[:99], VALUES[:99])).events
    assert not events and not watched.is_warm and watched.unknown.all()
    assert kinds(watched.take(wide(TIMES[99:], VALUES[99:])).events)[0] == "site.watching"


def scripted(probs):
    watched = site(make_scorer=lambda: Script(probs), max_hops=1)
    return watched, watched.take(wide(START + MINUTE * np.arange(len(probs)), np.full((len(probs), POINTS), 20.0)))


def test_a_probability_swinging_round_the_threshold_is_announced_once():
    probs = quiet(300)
    probs[::7, 4] = probs[1::7, 4] = probs[2::7, 4] = (0.05, 0.95, 0, 0)
    _, update = scripted(probs)
    assert kinds(update.events, "incident.") == ["incident.annunciated"]
    assert kinds(update.events, "alarm.") == ["alarm.raised"]


def test_a_node_that_comes_back_joins_its_incident_quietly():
    probs = quiet(100)
    for begin in (10, 25, 40, 55):
        probs[begin : begin + 5, 4] = (0.05, 0.95, 0, 0)
    watched = site(make_scorer=lambda: Script(probs), linger=20)
    events = watched.take(wide(START + MINUTE * np.arange(100), np.full((100, POINTS), 20.0))).events
    assert kinds(events, "alarm.raised") == ["alarm.raised"] * 4
    assert kinds(events, "incident.annunciated") == ["incident.annunciated"]


def test_a_flood_is_throttled_yet_every_node_is_journaled_and_a_later_attack_announced():
    graph = loop_template().replicate(40)
    probs = quiet(60, graph.num_nodes)
    flooded = [node for node in range(graph.num_nodes) if graph.zones[node] != "zone-40"][:300]
    probs[10:50, flooded] = (0.08, 0.92, 0, 0)
    newcomer = graph.index("zone-40/valve")
    probs[16:50, newcomer] = (0.01, 0.99, 0, 0)
    watched = Site("office", detector(graph, lambda: Script(probs)), CONFIG)
    points = len(watched.detector.points)
    events = watched.take(wide(START + MINUTE * np.arange(60), np.full((60, points), 20.0))).events
    assert len({event.body["node"] for event in events if event.kind == "alarm.raised"}) == 301
    announced = [event for event in events if event.kind == "incident.annunciated"]
    times = [event.time_ms for event in announced]
    assert all(later - first >= 10 * MINUTE for first, later in zip(times, times[10:], strict=False))
    late = next(event for event in announced if event.body["zone"] == "zone-40")
    assert late.time_ms <= START + 20 * MINUTE
    assert "flood.started" in kinds(events)
    assert len(kinds(events, "incident.held")) == 33, "38 incidents at once, five of them announced"


def test_an_acknowledged_incident_says_so_and_a_stale_acknowledge_is_refused():
    watched = site()
    watched.take(wide(TIMES[:40], VALUES[:40]))
    (key,) = watched.board_incidents
    events = watched.command(Command(verb=Verb.ACK, target=key, by="ada", version=1))
    assert kinds(events) == ["operator.command", "alarm.acknowledged", "incident.updated"]
    assert events[-1].body["state"] == "acknowledged" and events[-1].body["version"] == 2
    with pytest.raises(Exception, match="you acted on version 1, the incident is now at version 2"):
        watched.command(Command(verb=Verb.ACK, target=key, by="bob", version=1))


def test_a_shelved_node_raises_no_annunciation_until_its_time_is_up():
    watched = site()
    watched.take(wide(TIMES[:10], VALUES[:10]))
    shelve = Command(verb=Verb.SHELVE, target="zone-02/valve", by="ada", for_ms=25 * MINUTE, reason="being serviced")
    watched.command(shelve)
    events = watched.take(wide(TIMES[10:60], VALUES[10:60])).events
    held = next(event for event in events if event.kind == "incident.held")
    announced = next(event for event in events if event.kind == "incident.annunciated")
    assert held.body["state"] == "shelved" and announced.body["id"] == held.body["id"]
    assert announced.time_ms == int(TIMES[9]) + 25 * MINUTE
    assert "alarm.unshelved" in kinds(events)


def test_a_state_of_another_building_is_refused():
    watched = site()
    update = watched.take(wide(TIMES[:40], VALUES[:40]))
    other = detector(loop_template().replicate(4))
    rows = Rows(np.array(update.times_ms), *(np.concatenate(update.rows),) * 2, np.ones(40, bool))
    with pytest.raises(ConfigError, match="another graph"):
        Site.from_state("office", other, CONFIG, watched.to_state(), watched.board_state(), rows)


def test_a_zone_whose_readings_stay_away_is_an_alarm_with_a_priority():
    values = VALUES[:90].copy()
    values[20:50, POINTS // 3 : 2 * POINTS // 3] = np.nan
    watched = site()
    events = [event for event in watched.take(wide(TIMES[:40], values[:40])).events if event.kind.startswith("zone.")]
    (blind,) = events
    assert blind.kind == "zone.blind" and blind.body["zone"] == "zone-02" and blind.body["priority"] == "high"
    assert watched.blind_zones == ["zone-02"]
    seen = [event for event in watched.take(wide(TIMES[40:90], values[40:])).events if event.kind.startswith("zone.")]
    assert [event.kind for event in seen] == ["zone.seen"] and watched.blind_zones == []
