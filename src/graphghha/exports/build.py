"""From the raw cells of one column to the series of a point: units, sentinels, order, duplicates, reporting mode."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import SchemaError
from graphghha.exports.columns import Column
from graphghha.exports.naming import Kind, guess_kind
from graphghha.exports.notes import Guess, Omission, counted
from graphghha.exports.reporting import Mode, recognize_reporting, time_resolution_ms
from graphghha.exports.sentinels import find_sentinels
from graphghha.exports.series import Series
from graphghha.exports.times import NO_TIME
from graphghha.plants.units import QUANTITIES, canonical, conversion, inner, is_known

MOST_DECIMALS = 8
MOST_DISTINCT = 50_000  # readings that the step between values is measured on


@dataclass(frozen=True, kw_only=True, slots=True)
class RawPoint:
    """A column as it was read, with everything the file says about it."""

    name: str
    label: str
    file: Path
    column: str
    cells: Column
    utc_ms: NDArray[np.int64]
    is_bad: NDArray[np.bool_] | None  # marked by a column of qualities
    unit: str | None
    guesses: tuple[Guess, ...] = ()


def build_series(raw: RawPoint, units: Mapping[str, str], *, keep_unit: bool = False) -> Series:
    """Return the series of a point. `units` are stated by the user, for points whose file states none.

    With `keep_unit` the values stay in the unit of the file.
    """
    guesses, omissions = list(raw.guesses), _missing(raw)
    cells = raw.cells
    unit = raw.unit or cells.unit or units.get(raw.name) or units.get(raw.column)
    kind = guess_kind(raw.name, label=raw.label, unit=unit, is_state=bool(cells.states))
    usable = np.isfinite(cells.values) & (raw.utc_ms != NO_TIME)
    if raw.is_bad is not None:
        bad = usable & raw.is_bad
        if bad.any():
            omissions.append(Omission(raw.name, "reading", int(bad.sum()), "their quality is marked as bad"))
        usable &= ~raw.is_bad
    sentinels = {} if cells.states else find_sentinels(cells.values[usable], quantity=kind.quantity, unit=unit)
    for value, reason in sentinels.items():
        hit = usable & (cells.values == value)
        text = f"{value:g} {unit or ''}".strip()
        omissions.append(Omission(raw.name, "reading", int(hit.sum()), f"{text} means no sensor: {reason}"))
        usable &= ~hit
    times, values = raw.utc_ms[usable], cells.values[usable]
    times, values, moved = _in_order(times, values)
    if moved:
        guesses.append(Guess(raw.name, "order", "by time", f"time goes back {counted(moved, 'time')}"))
    is_set = bool(cells.states) or kind.purpose in ("setpoint", "command", "mode", "status", "tuning")
    reporting = recognize_reporting(times, values, resolution_ms=time_resolution_ms(times), is_set=is_set)
    times, values, dropped = _without_duplicates(times, values, is_sampled=reporting.mode is Mode.SAMPLED)
    omissions += [Omission(raw.name, "reading", count, reason) for reason, count in dropped.items() if count]
    if cells.states:
        words = ", ".join(f"{code} {word}" for code, word in enumerate(cells.states))
        guesses.append(Guess(raw.name, "states", words, "its values are words"))
    decimals = None if cells.states else count_decimals(values)
    resolution = None if cells.states else value_step(values)
    si_unit, shift, scale, problem = (unit, 0.0, 1.0, "") if keep_unit else to_si(unit, kind)
    if problem:
        guesses.append(Guess(raw.name, "unit", f"{unit} as it is", problem))
    return Series(
        name=raw.name,
        file=raw.file,
        column=raw.column,
        times_ms=times,
        values=values if (shift, scale) == (0.0, 1.0) else (values - shift) * scale,
        unit="state" if cells.states else si_unit,
        stated_unit=unit,
        kind=kind,
        reporting=reporting,
        states=cells.states,
        resolution=None if resolution is None else float(f"{resolution * scale:.6g}"),
        decimals=decimals,
        sentinels=tuple(sentinels),
        guesses=tuple(guesses),
        omissions=tuple(omissions),
    )


def to_si(unit: str | None, kind: Kind) -> tuple[str | None, float, float, str]:
    """Return the inner unit of a stated one, (shift, scale) of the conversion, and what is wrong with the unit."""
    if unit is None:
        return None, 0.0, 1.0, ""
    if not is_known(unit):
        return unit, 0.0, 1.0, f"the unit {unit!r} is unknown and not converted"
    if canonical(unit) in QUANTITIES["humidity"]:
        wanted = "%RH" if kind.quantity == "humidity" or canonical(unit) == "%RH" else "fraction"
    else:
        wanted = inner(unit)
    try:
        return wanted, *conversion(unit, wanted), ""
    except SchemaError as exc:
        return unit, 0.0, 1.0, str(exc)


def _missing(raw: RawPoint) -> list[Omission]:
    """Return the marks of missing values and the texts that are not values."""
    found = [
        Omission(raw.name, "reading", count, f"{mark!r} means that there is no value")
        for mark, count in raw.cells.missing.most_common()
    ]
    if raw.cells.malformed:
        example, _ = raw.cells.malformed.most_common(1)[0]
        count = sum(raw.cells.malformed.values())
        wanted = "word of a state" if raw.cells.states else "number"
        found.append(Omission(raw.name, "reading", count, f"not a {wanted}, such as {example!r}"))
    if infinite := int(np.isinf(raw.cells.values).sum()):
        found.append(Omission(raw.name, "reading", infinite, "the number is infinite"))
    without = int((np.isfinite(raw.cells.values) & (raw.utc_ms == NO_TIME)).sum())
    if without:
        found.append(Omission(raw.name, "reading", without, "the time of the row cannot be read"))
    return found


def _in_order(
    times: NDArray[np.int64], values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
    """Return the readings in the order of time, and how often time went back; newest first does not count."""
    if len(times) < 2 or (np.diff(times) >= 0).all():
        return times, values, 0
    if (np.diff(times) <= 0).all():
        return times[::-1], values[::-1], 0
    if times[0] > times[-1]:
        times, values = times[::-1], values[::-1]
    moved = int((np.diff(times) < 0).sum())
    order = np.argsort(times, kind="stable")
    return times[order], values[order], moved


def _without_duplicates(
    times: NDArray[np.int64], values: NDArray[np.float64], *, is_sampled: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64], dict[str, int]]:
    """Drop repeated readings; of a sampled point with several values for one time, the last one written stays."""
    if len(times) < 2:
        return times, values, {}
    same_time = np.append(False, np.diff(times) == 0)
    repeated = same_time & np.append(False, np.diff(values) == 0)
    keep = ~repeated
    reasons = {"repeated: same time and same value": int(repeated.sum())}
    if is_sampled:
        is_last = np.append(np.diff(times) != 0, True)
        superseded = keep & ~is_last
        # a repeated reading at the end of a group stands for the value that stays
        last_value = values[np.searchsorted(times, times, side="right") - 1]
        superseded &= values != last_value
        keep = ~superseded & ~repeated
        keep = _one_per_time(times, keep)
        reasons["a later row has another value for the same time"] = int(superseded.sum())
    return times[keep], values[keep], reasons


def _one_per_time(times: NDArray[np.int64], keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
    rows = np.flatnonzero(keep)
    is_last = np.append(np.diff(times[rows]) != 0, True)
    chosen = np.zeros(len(times), np.bool_)
    chosen[rows[is_last]] = True
    return chosen


def count_decimals(values: NDArray[np.float64]) -> int | None:
    """Return how many decimals the values carry, up to eight; None without values."""
    if not len(values):
        return None
    some = values[:: max(1, len(values) // MOST_DISTINCT)]
    for decimals in range(MOST_DECIMALS):
        rounded = np.round(some, decimals)
        if (np.abs(rounded - some) <= 2e-7 * np.maximum(np.abs(some), 10.0**-decimals)).all():
            return decimals
    return MOST_DECIMALS


def value_step(values: NDArray[np.float64]) -> float | None:
    """Return the step of which all differences between values are multiples, or None if there is none."""
    distinct = np.unique(values[:: max(1, len(values) // MOST_DISTINCT)])
    if len(distinct) < 3:
        return None
    gaps = np.diff(distinct)
    step = float(gaps[gaps > 1e-9 * max(1.0, float(np.abs(distinct).max()))].min(initial=np.inf))
    if not np.isfinite(step):
        return None
    ratios = gaps / step
    return float(f"{step:.6g}") if (np.abs(ratios - np.round(ratios)) < 0.02).mean() > 0.98 else None
