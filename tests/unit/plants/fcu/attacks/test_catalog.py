from datetime import datetime, timedelta
from itertools import combinations

import numpy as np
import pytest

from graphghha.errors import NotFoundError
from graphghha.plants import choose_cases, load_plant
from graphghha.plants.fcu.attacks.catalog import CASES, ROWS, node_class
from graphghha.plants.fcu.attacks.labels import VISIBLE, WINDOW_MIN
from graphghha.plants.fcu.attacks.schedule import Event, ScheduledAttack, plan
from graphghha.plants.fcu.lbnl.cases import FAULT_FREE, SETTINGS
from graphghha.plants.fcu.lbnl.checksums import MD5
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.signals import NUM_SIGNALS
from graphghha.plants.fcu.topology import TEMPLATE

PUBLIC = tuple(name for name in CASES if name.startswith("FCU_"))
MOST_DISAGREEMENT = 0.2  # of the half hours in which either case can be seen at all


def test_it_holds_the_48_public_cases_by_their_file_names_and_more():
    assert set(PUBLIC) == set(MD5) - {FAULT_FREE} == set(SETTINGS) - {FAULT_FREE}
    assert len(PUBLIC) == 48
    assert len(CASES) > 70


def test_families_of_the_public_cases_have_their_published_sizes():
    counts = {family: sum(CASES[name].family == family for name in PUBLIC) for family in _families(PUBLIC)}
    assert counts == {
        "damper": 8,
        "valve": 16,
        "sensor_bias": 4,
        "coil_fouling": 12,
        "airflow_obstruction": 5,
        "controller": 3,
    }


def _families(names):
    return dict.fromkeys(CASES[name].family for name in names)


@pytest.mark.parametrize(
    "family",
    ["sensor_ramp", "sensor_saturated", "command_offset", "setpoint", "interlock", "replay", "coordinated"]
    + ["temporary", "stealthy"],
)
def test_the_threat_model_is_covered(family):
    assert any(case.family == family for case in CASES.values())


def test_every_case_names_nodes_of_the_template_and_a_class_of_the_paper():
    for case in CASES.values():
        assert case.meaning
        assert case.attack_class in {"actuator", "sensor", "controller"}
        assert case.attack_class == node_class(case.targets[0])
        assert set(case.targets) | set(case.equivalent) <= set(TEMPLATE.names)
        assert not set(case.targets) & set(case.equivalent)


def test_fouling_and_obstruction_are_localized_on_equipment_and_count_as_actuator():
    assert CASES["FCU_Fouling_Heating_Waterside_Minor"].targets == ("Heating_coil",)
    assert CASES["FCU_OABlockage"].targets == ("Air_path",)
    assert CASES["FCU_FilterRestriction_10%"].attack_class == "actuator"


def test_each_build_is_fresh_so_that_two_runs_share_no_recording():
    first, second = ROWS["Replay_Room"].build(), ROWS["Replay_Room"].build()
    assert first.recorded is not second.recorded


def test_cases_can_be_narrowed_and_an_unknown_family_is_refused():
    plant = load_plant("fcu")
    assert {case.family for case in choose_cases(plant, family="replay")} == {"replay"}
    assert {case.attack_class for case in choose_cases(plant, attack_class="sensor")} == {"sensor"}
    with pytest.raises(NotFoundError, match="no family 'fouling'.*coil_fouling"):
        choose_cases(plant, family="fouling")


@pytest.fixture(scope="module")
def public_runs():
    """Telemetry of all public cases and, last, of the clean unit: identical noise-free zones, a week of four months."""
    weeks = []
    for month in (1, 4, 7, 10):
        start = datetime(2018, month, 8)
        attacks = [ScheduledAttack(Event(case=name, zone=zone, start=start)) for zone, name in enumerate(PUBLIC)]
        building = Building(zones=len(PUBLIC) + 1, start=start, attacks=attacks, nominal=True, noise=False)
        week = np.concatenate([chunk.telemetry for chunk in building.days(7)], axis=1)
        halves = week.reshape(len(week), -1, WINDOW_MIN, NUM_SIGNALS)
        weeks.append(halves.mean(axis=2))
    return np.stack(weeks, axis=1)  # [zone, week, half hour, signal]


@pytest.mark.slow
def test_equivalence_sets_are_the_measured_ones(public_runs):
    clean = public_runs[-1]
    seen = [(np.abs(run - clean) > VISIBLE).any(axis=-1) for run in public_runs[:-1]]
    measured = {name: set() for name in PUBLIC}
    for one, other in combinations(range(len(PUBLIC)), 2):
        apart = (np.abs(public_runs[one] - public_runs[other]) > VISIBLE).any(axis=-1)
        if apart.sum() <= MOST_DISAGREEMENT * (seen[one] | seen[other]).sum():
            measured[PUBLIC[one]] |= set(CASES[PUBLIC[other]].targets)
            measured[PUBLIC[other]] |= set(CASES[PUBLIC[one]].targets)
    declared = {name: set(CASES[name].equivalent) for name in PUBLIC}
    assert declared == {name: nodes - set(CASES[name].targets) for name, nodes in measured.items()}


def test_losses_of_air_flow_are_one_answer_at_every_severity():
    airside = [case for case in CASES.values() if "Airside" in case.name or "FilterRestriction" in case.name]
    assert len(airside) >= 9
    for case in airside:
        assert {*case.targets, *case.hits} == {"Air_path", "Cooling_coil", "Heating_coil"}, case.name


@pytest.mark.slow
def test_stealthy_cases_stay_inside_the_ranges_of_normal_operation():
    stealthy = [name for name, row in ROWS.items() if row.stealthy]
    assert len(stealthy) >= 3
    attacked, clean = [], []
    for month in (1, 4, 7, 10):
        start = datetime(2018, month, 8)
        attacks = [ScheduledAttack(plan(name, zone, start + timedelta(days=2))) for zone, name in enumerate(stealthy)]
        building = Building(zones=12, seed=4, start=start, attacks=attacks)
        clean += [chunk.telemetry for chunk in building.twin().days(7)]
        attacked += [chunk.telemetry for chunk in building.days(7)]
    normal = np.concatenate(clean, axis=1)
    # what an operator would set as fixed limits: the extremes of the year, not those of the week
    low, high = normal.min(axis=(0, 1)) - VISIBLE, normal.max(axis=(0, 1)) + VISIBLE
    for zone, name in enumerate(stealthy):
        readings = np.concatenate(attacked, axis=1)[zone]
        outside = ((readings < low) | (readings > high)).any(axis=0)
        assert not outside.any(), (name, [TEMPLATE.names[signal] for signal in np.flatnonzero(outside)])
