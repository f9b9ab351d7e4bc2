from graphghha.lab.runs.case_split import held_out_severities
from graphghha.plants import CaseInfo


def case(name: str, severity: str, family: str = "valve", targets: tuple[str, ...] = ("V",)) -> CaseInfo:
    return CaseInfo(name=name, family=family, attack_class="actuator", targets=targets, severity=severity)


def test_one_severity_is_held_out_where_siblings_remain():
    cases = [case(f"leak_{s}", s) for s in ("20", "50", "80")]
    cases += [case(f"bias_{s}", s, "sensor", ("T",)) for s in ("-2", "+2")] + [case("single", "")]
    catalogue = {c.name: c for c in cases}
    (held,) = held_out_severities(catalogue, seed=1)
    assert held.startswith("leak_")
    assert len({held_out_severities(catalogue, seed=s) for s in range(20)}) == 3
