"""What differs between files that hold the same points: decimals, steps, units; and points that cover less time."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from graphghha._util.times import iso
from graphghha.exports.findings import Finding, Topic
from graphghha.exports.notes import counted, span_text
from graphghha.exports.reporting import Mode
from graphghha.exports.series import Series

MOST_NAMES = 6
SHORT_SHARE = 0.8  # of the time that the other points cover


@dataclass(frozen=True, slots=True)
class Summary:
    """What is compared of one point in one file."""

    name: str
    file: str
    unit: str | None
    decimals: int | None
    spread: float  # usual range, in the unit of the values
    start_ms: int
    end_ms: int
    mode: Mode
    step_ms: int | None

    @classmethod
    def of(cls, series: Series) -> Self:
        low, high = np.quantile(series.values, [0.01, 0.99])
        return cls(
            name=series.name,
            file=series.file.name,
            unit=series.unit,
            decimals=series.decimals,
            spread=float(high - low),
            start_ms=int(series.times_ms[0]),
            end_ms=int(series.times_ms[-1]),
            mode=series.reporting.mode,
            step_ms=series.reporting.step_ms,
        )


def compare_files(points: Sequence[Summary]) -> Iterator[Finding]:
    """Yield what differs between files with the same points, and points that cover less time than the others."""
    by_name: dict[str, list[Summary]] = defaultdict(list)
    for point in points:
        by_name[point.name].append(point)
    shared = [parts for parts in by_name.values() if len(parts) > 1]
    yield from _rounding(shared)
    yield from _steps(shared)
    yield from _spans(points)


def _rounding(shared: Sequence[Sequence[Summary]]) -> Iterator[Finding]:
    """Yield groups of files in which the same points carry fewer decimals than elsewhere."""
    differing: dict[tuple[str, int, str], list[Summary]] = defaultdict(list)
    for parts in shared:
        known = [part for part in parts if part.decimals is not None]
        coarse = min(known, key=lambda part: part.decimals or 0, default=None)
        fine = max(known, key=lambda part: part.decimals or 0, default=None)
        if coarse and fine and (fine.decimals or 0) >= (coarse.decimals or 0) + 2:
            differing[coarse.file, coarse.decimals or 0, fine.file].append(fine)
    groups: dict[tuple[str, str], list[tuple[int, Summary]]] = defaultdict(list)
    for (coarse_file, decimals, fine_file), points in differing.items():
        groups[coarse_file, fine_file] += [(decimals, point) for point in points]
    for (coarse_file, fine_file), found in groups.items():
        usual = max(decimals for decimals, _ in found)
        names = [point.name for _, point in found]
        still = [point.name for decimals, point in found if 0 < point.spread < 4 * 10.0**-usual]
        text = (
            f"{coarse_file} is rounded to {counted(usual, 'decimal')}, {fine_file} is not: "
            f"{counted(len(names), 'point')} ({_some(names)}); "
            f"round {fine_file} the same way before you fit anything to it"
        )
        if still:
            text += f"; {_some(still)} {'moves' if len(still) == 1 else 'move'} hardly more than that rounding"
        yield Finding(Topic.ROUNDING, fine_file, text)


def _steps(shared: Sequence[Sequence[Summary]]) -> Iterator[Finding]:
    for parts in shared:
        steps = {part.step_ms: part.file for part in parts if part.mode is Mode.SAMPLED and part.step_ms}
        if len(steps) > 1:
            each = ", ".join(f"{span_text(step)} in {file}" for step, file in steps.items() if step)
            yield Finding(Topic.CLOCK, parts[0].name, f"reports at different intervals: {each}")


def _spans(points: Sequence[Summary]) -> Iterator[Finding]:
    """Yield points whose readings begin late or end early, measured by the time that most points cover."""
    sampled = [point for point in points if point.mode is Mode.SAMPLED]
    if len(sampled) < 3 or len({point.name for point in points}) < len(points):
        return  # parts of a record in several files cover different times by intention
    start = int(np.median([point.start_ms for point in sampled]))
    end = int(np.median([point.end_ms for point in sampled]))
    slack = (1 - SHORT_SHARE) * (end - start)
    for point in points:
        is_late = point.start_ms > start + slack
        is_early = point.mode is Mode.SAMPLED and point.end_ms < end - slack
        if is_late or is_early:
            which = f"begins {iso(point.start_ms)}" if is_late else f"ends {iso(point.end_ms)}"
            kind = " (a log of changes that keeps the last records only)" if is_late and point.mode is Mode.COV else ""
            verb = "begins later" if is_late else "ends earlier"
            text = f"{verb} than most points, which cover {iso(start)} to {iso(end)}{kind}"
            yield Finding(Topic.SPAN, point.name, text, start, point.start_ms if is_late else None, which)


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
