"""The cases of a catalogue that training never sees: some severities, and some whole attacks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphghha.plants import CaseInfo, Plant


@dataclass(frozen=True, slots=True)
class CaseSplit:
    """The cases used in training, and those held out of it."""

    seen: tuple[str, ...]
    unseen_severities: tuple[str, ...]  # other severities of the same attack are used in training
    unseen_cases: tuple[str, ...]  # nothing like them is used in training


WHOLE_CASES_SHARE = 0.08  # of the catalogue


def split_cases(plant: Plant, seed: int = 0) -> CaseSplit:
    """Hold out one severity of every attack that has several, and a few attacks that have only one.

    Cases that differ only in duration stay together, because a schedule draws the duration of every attack anyway.
    """
    cases = plant.cases
    chosen = {cases[name].attack for name in held_out_severities(cases, seed)}
    severities = tuple(sorted(name for name, case in cases.items() if case.attack in chosen))
    single = sorted(name for name, case in cases.items() if _is_unique(case, cases.values()))
    count = max(1, round(WHOLE_CASES_SHARE * len(cases)))
    rng = np.random.default_rng([seed, 2])
    whole = tuple(sorted(rng.permutation(single)[:count].tolist()))
    held = {*severities, *whole}
    return CaseSplit(tuple(name for name in cases if name not in held), severities, whole)


def _is_unique(case: CaseInfo, cases: Iterable[CaseInfo]) -> bool:
    """Return whether the catalogue has no other severity or duration of the case and no equivalent of it."""
    similar = [c for c in cases if c.attack == case.attack or (c.family == case.family and c.targets == case.targets)]
    return similar == [case] and not case.equivalent


def never_seen(plant: Plant, held_out: Sequence[str], seen: Sequence[str]) -> tuple[str, ...]:
    """Return the held-out cases whose attack training did not see under another name."""
    attacks = {plant.cases[name].attack for name in seen if name in plant.cases}
    return tuple(name for name in held_out if name in plant.cases and plant.cases[name].attack not in attacks)


def held_out_severities(cases: Mapping[str, CaseInfo], seed: int) -> tuple[str, ...]:
    """Return one case of each attack that the catalogue has in three severities or more.

    A case with equivalents is never chosen, because training would see its telemetry labelled as another node.
    """
    rng = np.random.default_rng(seed)
    siblings: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(cases):
        case = cases[name]
        if case.severity:
            siblings.setdefault((case.family, case.attack_class, *case.targets), []).append(name)
    groups = [names for _, names in sorted(siblings.items()) if len(names) >= 3]
    candidates = [[name for name in names if not cases[name].equivalent] for names in groups]
    return tuple(sorted(names[rng.integers(len(names))] for names in candidates if names))
