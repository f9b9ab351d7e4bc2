"""Which cases of a catalogue training never sees: some severities, and some whole attacks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphghha.plants import CaseInfo, Plant


@dataclass(frozen=True, slots=True)
class CaseSplit:
    """Cases for training; severities held out of it (their siblings are seen); whole cases held out."""

    seen: tuple[str, ...]
    unseen_severities: tuple[str, ...]
    unseen_cases: tuple[str, ...]


WHOLE_CASES_SHARE = 0.08


def split_cases(plant: Plant, seed: int = 0) -> CaseSplit:
    """One severity of every attack that comes in several, and a few whole attacks that come in one.

    Cases that differ in nothing but their duration go together: a schedule gives every attack a duration of its own.
    """
    cases = plant.cases
    chosen = {cases[name].attack for name in held_out_severities(cases, seed)}
    severities = tuple(sorted(name for name, case in cases.items() if case.attack in chosen))
    single = sorted(name for name, case in cases.items() if _is_alone(case, cases.values()))
    count = max(1, round(WHOLE_CASES_SHARE * len(cases)))
    rng = np.random.default_rng([seed, 2])
    whole = tuple(sorted(rng.permutation(single)[:count].tolist()))
    held = {*severities, *whole}
    return CaseSplit(tuple(name for name in cases if name not in held), severities, whole)


def _is_alone(case: CaseInfo, cases: Iterable[CaseInfo]) -> bool:
    """No other severity, no other duration and no look-alike of it is in the catalogue."""
    like = [c for c in cases if c.attack == case.attack or (c.family == case.family and c.targets == case.targets)]
    return like == [case] and not case.equivalent


def never_seen(plant: Plant, held_out: Sequence[str], seen: Sequence[str]) -> tuple[str, ...]:
    """Of the cases that were held out, those that training did not see under another name either."""
    attacks = {plant.cases[name].attack for name in seen if name in plant.cases}
    return tuple(name for name in held_out if name in plant.cases and plant.cases[name].attack not in attacks)


def held_out_severities(cases: Mapping[str, CaseInfo], seed: int) -> tuple[str, ...]:
    """One case of each attack that the catalogue holds in three severities or more: training sees its siblings.

    A case with look-alikes is not chosen: training would see it all the same, on another node.
    """
    rng = np.random.default_rng(seed)
    siblings: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(cases):
        case = cases[name]
        if case.severity:
            siblings.setdefault((case.family, case.attack_class, *case.targets), []).append(name)
    groups = [names for _, names in sorted(siblings.items()) if len(names) >= 3]
    plain = [[name for name in names if not cases[name].equivalent] for names in groups]
    return tuple(sorted(names[rng.integers(len(names))] for names in plain if names))
