"""Every case keeps the same promises: nothing before its onset, what it claims after, an end when it ends."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attack_runs import DURATION, FIRST, LAST, NAMES_OF_CASES, ONSET, SEASONS, Season, every_case, over
from graphghha.graph import EdgeKind, NeighborRule, neighborhood
from graphghha.plants.fcu.attacks.catalog import ROWS
from graphghha.plants.fcu.attacks.hooks import MINUTES, NEUTRAL, Day, DayHooks
from graphghha.plants.fcu.attacks.labels import WINDOW_MIN
from graphghha.plants.fcu.attacks.schedule import ScheduledAttack, plan
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.physics.weather import Weather
from graphghha.plants.fcu.signals import HIGH, INDEX, LOW, NAMES, NUM_SIGNALS, SOURCE_SCALE
from graphghha.plants.fcu.topology import TEMPLATE

pytestmark = pytest.mark.slow

# the controller acts on these readings: on the room always, on mixed air when it is near freezing
ACTED_ON, ACTED_ON_IN_FROST = "RM_TEMP", "FCU_MAT"
LAST_DIGIT = 0.01 * SOURCE_SCALE  # of the public files, in SI


def is_reading_nobody_acts_on(case: str) -> bool:
    info = ROWS[case].info
    return info.attack_class == "sensor" and not {ACTED_ON, ACTED_ON_IN_FROST} & set(info.targets)


@every_case
def test_it_changes_nothing_before_its_onset(seasons: dict[str, Season], zone: int) -> None:
    for season in seasons.values():
        assert not season.changed[zone][:FIRST].any()


@every_case
def test_telemetry_stays_finite(seasons: dict[str, Season], zone: int) -> None:
    for season in seasons.values():
        assert season.finite[zone].all()


@every_case
def test_it_shows_first_on_its_target_or_beside_it(seasons: dict[str, Season], zone: int) -> None:
    targets = [TEMPLATE.index(name) for name in ROWS[NAMES_OF_CASES[zone]].info.targets]
    around = neighborhood(TEMPLATE, NeighborRule())
    claimed = {int(node) for target in targets for node in around.neighbors(target) if node < NUM_SIGNALS}
    if NAMES_OF_CASES[zone] == "FCU_Control_Unstable":
        claimed.add(INDEX["FCU_OA_CFM"])  # the published run has an odd outdoor air flow as well
    seen = False
    for season in seasons.values():
        changed = season.changed[zone][FIRST:LAST]
        if changed.any():
            first = np.flatnonzero(changed[int(np.argmax(changed.any(axis=1)))])
            assert claimed & set(first.tolist()), [NAMES[signal] for signal in first]
            seen = True
    assert seen


# replayed mixed air is acted on in frost only
@over(lambda name: not is_reading_nobody_acts_on(name) and name != "Replay_Air")
def test_its_effect_reaches_physical_neighbours_later(seasons: dict[str, Season], zone: int) -> None:
    name = NAMES_OF_CASES[zone]
    targets = set(ROWS[name].info.targets)
    driven = driven_by(targets)
    reached = {edge.target for edge in TEMPLATE.edges if edge.kind == EdgeKind.PHYS and edge.source in driven}
    columns = [INDEX[signal] for signal in reached - targets]
    farthest = np.zeros(len(columns))
    for season in seasons.values():
        difference = season.attacked[zone] - season.clean[zone]
        farthest = np.maximum(farthest, np.abs(difference[FIRST + 1 : LAST, columns]).max(axis=0))
    assert (farthest > LAST_DIGIT[columns]).any()


def driven_by(targets: set[str]) -> set[str]:
    """The actuators among or commanded by the targets, at any distance along comm edges."""
    reached = set(targets)
    while more := {e.target for e in TEMPLATE.edges if e.kind == EdgeKind.COMM and e.source in reached} - reached:
        reached |= more
    return reached


@over(is_reading_nobody_acts_on)
def test_a_reading_nobody_acts_on_changes_alone_and_ends_at_once(seasons: dict[str, Season], zone: int) -> None:
    name = NAMES_OF_CASES[zone]
    others = [INDEX[signal] for signal in NAMES if signal not in ROWS[name].info.targets]
    for season in seasons.values():
        assert not season.changed[zone][:, others].any()
        assert not season.changed[zone][LAST:].any()


@every_case
def test_its_hooks_are_touched_in_its_span_only(zone: int) -> None:
    start = SEASONS["winter"]
    event = replace(plan(NAMES_OF_CASES[zone], 0, start + ONSET), duration=DURATION)
    attack = ScheduledAttack(event)
    touched = []
    for number in range(3):
        day, hooks = Day(number, start + timedelta(days=number)), DayHooks(1)
        attack.apply(hooks, day)
        edited = hooks.zone(0)
        fields = ~np.isclose(edited.fields, NEUTRAL, rtol=0, atol=0, equal_nan=True)
        offsets, overrides = edited.offsets != 0, ~np.isnan(edited.overrides)
        touched.append(fields.any(axis=1) | offsets.any(axis=1) | overrides.any(axis=1))
        attack.observe(day, np.zeros((1, MINUTES, NUM_SIGNALS)))
    minutes = np.flatnonzero(np.concatenate(touched))
    assert minutes[0] == FIRST
    assert minutes[-1] == LAST - 1


@over(lambda name: name != "InterlockOff")  # what trips it here is sustained
def test_its_traces_fade_after_the_end(seasons: dict[str, Season], zone: int) -> None:
    for season in seasons.values():
        during = season.visible[zone, FIRST : LAST + WINDOW_MIN].mean()
        assert season.visible[zone, -MINUTES:].mean() <= during / 2


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    coldest=st.floats(-50, 20),
    swing=st.floats(0, 40),
    percent=st.floats(0, 100),
    cases=st.lists(st.tuples(st.sampled_from(NAMES_OF_CASES), st.integers(0, 2), st.integers(1440, 3 * 1440 - 1))),
)
def test_any_attacks_together_in_any_weather_stay_finite_and_inside_the_instruments(
    seed: int, coldest: float, swing: float, percent: float, cases: list[tuple[str, int, int]]
) -> None:
    start = SEASONS["winter"]
    hours = coldest + swing * np.random.default_rng(seed).random(8760)
    events = [plan(name, zone, start + timedelta(minutes=minute)) for name, zone, minute in cases]
    attacks = [ScheduledAttack(event) for event in events]
    outdoor = Weather(hours, np.full(8760, percent))
    for day in Building(zones=3, seed=seed, start=start, weather=outdoor, attacks=attacks).days(3):
        assert np.isfinite(day.telemetry).all()
        assert (day.telemetry >= LOW).all()
        assert (day.telemetry <= HIGH).all()
