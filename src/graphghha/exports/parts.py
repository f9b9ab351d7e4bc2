"""One series for each point: its parts in several files are joined in the order of time."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphghha.errors import DataError
from graphghha.exports.series import Series
from graphghha.exports.values import state_words


def merge_parts(series: Sequence[Series]) -> tuple[Series, ...]:
    """Return one series for each name: the parts of a point in several files are joined in the order of time."""
    by_name: dict[str, list[Series]] = {}
    for each in series:
        by_name.setdefault(each.name, []).append(each)
    return tuple(parts[0] if len(parts) == 1 else _join(parts) for parts in by_name.values())


def _join(parts: list[Series]) -> Series:
    parts = _alike_states(parts)
    units = {part.unit for part in parts if len(part)}
    if len(units) > 1:
        first = next(part for part in parts if len(part))
        other = next(part for part in parts if len(part) and part.unit != first.unit)
        raise DataError(
            f"{first.name}: its unit is {first.unit or 'not stated'} in {first.file.name} and "
            f"{other.unit or 'not stated'} in {other.file.name}; make them alike, or leave one of the files out"
        )
    times = np.concatenate([part.times_ms for part in parts])
    values = np.concatenate([part.values for part in parts])
    order = np.argsort(times, kind="stable")
    times, values = times[order], values[order]
    keep = np.append(True, (np.diff(times) != 0) | (np.diff(values) != 0))[: len(times)]
    best = max(parts, key=len)
    omissions = tuple(omission for part in parts for omission in part.omissions)
    return replace(best, times_ms=times[keep], values=values[keep], omissions=omissions)


def _alike_states(parts: list[Series]) -> list[Series]:
    """Give all parts the same states: a switch that stood still in one month showed one of its words only."""
    if len({part.states for part in parts if part.states}) < 2:
        return parts
    seen = Counter(word for part in parts for word in part.states if not word.startswith("not "))
    states = state_words(seen + seen)
    code_of = {word.lower(): float(code) for code, word in enumerate(states)}
    alike = []
    for part in parts:
        table = np.array([code_of.get(word.lower(), np.nan) for word in part.states])
        values = table[part.values.astype(np.int64)] if part.states else part.values
        alike.append(replace(part, states=states, values=values))
    return alike
