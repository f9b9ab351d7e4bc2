"""Every mechanism can be drawn on many nodes, does what it says, and is the same attack under the same name."""

from datetime import datetime

import numpy as np
import pytest

from graphghha.errors import NotFoundError
from graphghha.plants.base import CaseSpec
from graphghha.plants.fcu.attacks.catalog import ROWS, node_class
from graphghha.plants.fcu.attacks.generic import MECHANISMS, generic_row
from graphghha.plants.fcu.attacks.schedule import case_row
from graphghha.plants.fcu.signals import INDEX
from graphghha.plants.fcu.testbed import run
from graphghha.plants.fcu.topology import TEMPLATE

START = datetime(2018, 7, 9)


def days(*names: str, hours: int = 8):
    """Two days of a building with each attack in a zone of its own, from 9 o'clock of the second day on."""
    cases = [
        CaseSpec.parse(f"{name}@{zone + 1},start=2018-07-10T09:00,for={hours}h") for zone, name in enumerate(names)
    ]
    return list(run(zones=len(names), days=2, start=START, seed=6, cases=cases))


def test_every_node_of_the_plant_can_be_attacked():
    infos = [generic_row(f"generic:{name}:{seed}").info for name in MECHANISMS for seed in range(60)]
    assert {node for info in infos for node in info.targets} == set(TEMPLATE.names)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_mechanism_acts_on_its_nodes_and_mostly_shows(mechanism):
    names = [f"generic:{mechanism}:{seed}" for seed in range(6)]
    _, day = days(*names)
    visible = 0
    for zone, name in enumerate(names):
        info = generic_row(name).info
        labelled = np.flatnonzero((day.event[:, zone] == zone).any(axis=0))
        assert {TEMPLATE.names[at] for at in labelled} == set(info.targets)
        assert info.attack_class == node_class(info.targets[0]) and info.family == mechanism
        visible += bool(day.observable[:, zone].any())
    assert visible >= 2


def test_the_same_name_is_the_same_attack_and_another_seed_another():
    first, again, other = (days(f"generic:noise:{seed}")[1].values for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_nothing_changes_before_the_onset():
    attacked, clean = days("generic:concealment:3")[1].values, list(run(zones=1, days=2, start=START, seed=6))[1].values
    np.testing.assert_array_equal(attacked[: 9 * 60], clean[: 9 * 60])
    assert not np.array_equal(attacked[9 * 60 :], clean[9 * 60 :])


def test_a_held_reading_repeats_the_last_one_before_the_onset():
    seed = next(s for s in range(50) if generic_row(f"generic:hold:{s}").info.targets == ("RM_TEMP",))
    _, day = days(f"generic:hold:{seed}")
    room = day.values[:, 0, INDEX["RM_TEMP"]]
    assert (room[9 * 60 : 17 * 60] == room[9 * 60 - 1]).all() and room[17 * 60 + 1] != room[9 * 60 - 1]


def test_a_scaled_temperature_is_scaled_around_20_degrees():
    seed = next(s for s in range(100) if generic_row(f"generic:scale:{s}").info.targets == ("FCU_HTG_EWT",))
    (_, day), (_, clean) = days(f"generic:scale:{seed}"), list(run(zones=1, days=2, start=START, seed=6))
    at = slice(9 * 60, 17 * 60)
    ratio = (day.values[at, 0, INDEX["FCU_HTG_EWT"]] - 20) / (clean.values[at, 0, INDEX["FCU_HTG_EWT"]] - 20)
    assert ratio.std() < 1e-6 and abs(ratio.mean() - 1) > 0.05


def test_what_the_exam_keeps_for_itself_is_never_drawn():
    """Reversed valves and the disabled low limit of the catalogue have no generic counterpart."""
    for name in MECHANISMS:
        for seed in range(40):
            text = repr(generic_row(f"generic:{name}:{seed}").build())
            assert "reverse" not in text and "interlock" not in text


def test_generic_attacks_are_not_in_the_catalogue():
    assert not any(name.startswith("generic") for name in ROWS)


@pytest.mark.parametrize("name", ["generic:biass:1", "generic:bias", "generic:bias:x", "generic::1"])
def test_a_wrong_name_is_refused(name):
    with pytest.raises(NotFoundError, match="generic:MECHANISM:SEED"):
        generic_row(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("generic:bias:x", "seed 'x' is no whole number; write generic:MECHANISM:SEED, such as generic:bias:7"),
        ("generic:leak", "a seed is missing; write generic:MECHANISM:SEED, such as generic:leak:7"),
        ("generic:foo:1", "'generic:foo:1'; write generic:MECHANISM:SEED with one of bias, ramp, "),
        ("generic:biass:1", "did you mean 'bias'[?] write generic:MECHANISM:SEED with one of"),
        ("bias", "write generic:bias:SEED, such as generic:bias:7, or take one of those that `graphghha cases` lists"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_what_to_write(name, said):
    with pytest.raises(NotFoundError, match=said):
        case_row(name)
