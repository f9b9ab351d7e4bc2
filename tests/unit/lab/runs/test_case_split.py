"""Held-out cases: nothing of them is left in training under any name."""

import pytest

from graphghha.lab.runs import canonical_cases, never_seen, split_cases
from graphghha.lab.runs.case_split import held_out_severities
from graphghha.plants import CaseInfo, load_plant


def case(name: str, severity: str, family: str = "valve", targets: tuple[str, ...] = ("V",)) -> CaseInfo:
    return CaseInfo(name=name, family=family, attack_class="actuator", targets=targets, severity=severity)


def test_one_severity_is_held_out_where_siblings_remain():
    cases = [case(f"leak_{s}", s) for s in ("20", "50", "80")]
    cases += [case(f"bias_{s}", s, "sensor", ("T",)) for s in ("-2", "+2")] + [case("single", "")]
    catalogue = {c.name: c for c in cases}
    (held,) = held_out_severities(catalogue, seed=1)
    assert held.startswith("leak_")
    assert len({held_out_severities(catalogue, seed=s) for s in range(20)}) == 3


@pytest.mark.parametrize("seed", range(5))
def test_held_out_cases_are_in_no_other_part_under_any_name(seed):
    plant = load_plant("fcu")
    split = split_cases(plant, seed)
    held_out = (*split.unseen_severities, *split.unseen_cases)
    assert never_seen(plant, held_out, split.seen) == held_out
    canonical = canonical_cases(plant)
    assert not {canonical[name].attack for name in held_out} & {canonical[name].attack for name in split.seen}
    assert split.unseen_severities and split.unseen_cases
    parts = [set(split.seen), set(split.unseen_severities), set(split.unseen_cases)]
    assert set().union(*parts) == set(plant.cases) and sum(map(len, parts)) == len(plant.cases)
    for name in split.unseen_severities:
        case = plant.cases[plant.cases[name].attack]
        siblings = [plant.cases[other] for other in split.seen]
        assert any(s.family == case.family and s.targets == case.targets for s in siblings), "a sibling is seen"


def test_a_case_that_training_saw_for_another_duration_is_not_called_unseen():
    held_out = ("Temporary_VLVStuck_Cooling_100", "SensorSaturated_FCU_MAT_Low")
    assert never_seen(load_plant("fcu"), held_out, ["FCU_VLVStuck_Cooling_100"]) == ("SensorSaturated_FCU_MAT_Low",)
