"""The signals of a proposed plant: unit, instrument limits, resolution, sampling, states and encoding of each role.

Limits are those that instruments of a quantity usually have, never the lowest and highest reading: a reading beyond
what was seen is what a detector must judge, not what it may drop.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from graphghha.exports.build import to_si
from graphghha.exports.naming import SENSOR, UNKNOWN
from graphghha.exports.notes import counted
from graphghha.exports.reporting import Mode
from graphghha.exports.series import Series
from graphghha.exports.suspicions import encoded_as, reads_like
from graphghha.plants.units import canonical

STALE_INTERVALS = 3
LONGEST_HOLD_S = 7 * 86_400  # a point that reports on change is asked after for so long

# instrument ranges by unit: a wide range costs little, a narrow one would hide attacks
_LIMITS = {
    "degC": (-50.0, 200.0),
    "degF": (-58.0, 392.0),
    "K": (223.0, 473.0),
    "%": (0.0, 100.0),
    "fraction": (0.0, 1.0),
    "%RH": (0.0, 100.0),
}
_SLACK = 0.05  # of the range, by which a usual instrument may go beyond it
_ENCODINGS = {"the bits of": "float32 bits", "signed 16-bit": "signed 16 bit"}


@dataclass(frozen=True, kw_only=True, slots=True)
class SignalProposal:
    """A role of a template and what its points have in common."""

    role: str
    kind: str  # sensor | actuator | controller
    purpose: str
    quantity: str | None
    unit: str | None
    low: float | None  # of the instrument; None: not known
    high: float | None
    resolution: float | None
    interval_s: float | None  # None: reports on change
    stale_after_s: float
    states: tuple[str, ...] = ()
    words: Mapping[str, int] = field(default_factory=dict)  # further words of the states
    encoding: str | None = None
    suggested_unit: str | None = None  # what the readings look like, if nothing states a unit
    is_shared: bool = False
    columns: tuple[tuple[str, str], ...] = ()  # copy, name in the export
    missing: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def propose_signal(
    role: str, columns: Sequence[tuple[str, str]], series: Sequence[Series], missing: tuple[str, ...], kind: str = ""
) -> SignalProposal:
    """Return the signal of a role. `kind` is stated by a graph, else it is that of the name."""
    first = max(series, key=len)
    remarks = ["stated by the graph" if kind else first.kind.reason]
    unit = first.stated_unit
    encoded = encoded_as(first.values) if first.unit is None and not first.states else None
    suggested = None
    if unit is None and not first.states:
        suggested = reads_like(first.name, first.kind, None, first.values, first.column)
        remarks.append(f"no unit is stated; it reads like {suggested}" if suggested else "no unit is stated")
    if encoded:
        remarks.append(f"its numbers read like {encoded}")
    units = {each.stated_unit for each in series}
    if len(units) > 1:
        remarks.append(f"copies have different units: {', '.join(sorted(map(str, units)))}")
    if still := [each.name for each in series if each.is_constant]:
        remarks.append(f"{counted(len(still), 'copy never moves', 'copies never move')}: {', '.join(still[:4])}")
    interval_s = _interval_s(series)
    low, high, why = _limits(unit, series)
    states = max((each.states for each in series), key=len)
    guessed = SENSOR if first.kind.role == UNKNOWN else first.kind.role
    return SignalProposal(
        role=role,
        kind=kind or guessed,
        purpose=first.kind.purpose,
        quantity=first.kind.quantity,
        unit=canonical(unit) if unit else None,
        low=None if encoded else low,
        high=None if encoded else high,
        resolution=None if encoded else _resolution(series),
        interval_s=interval_s,
        stale_after_s=LONGEST_HOLD_S if interval_s is None else STALE_INTERVALS * interval_s,
        states=states,
        words=_words(states, series),
        encoding=next((name for start, name in _ENCODINGS.items() if encoded and encoded.startswith(start)), None),
        suggested_unit=suggested,
        columns=tuple(columns),
        missing=missing,
        remarks=(*remarks, *why),
    )


def _limits(unit: str | None, series: Sequence[Series]) -> tuple[float | None, float | None, tuple[str, ...]]:
    """Return the range of a usual instrument, wide enough for every reading, or none and why."""
    limits = _LIMITS.get(canonical(unit or ""))
    if limits is None or unit is None:
        return None, None, ()
    low, high = limits
    slack = _SLACK * (high - low)
    filled = [each for each in series if len(each) and each.stated_unit]
    lowest = min((_stated(each, float(each.values.min())) for each in filled), default=low)
    highest = max((_stated(each, float(each.values.max())) for each in filled), default=high)
    if low <= lowest and highest <= high:
        return low, high, ()
    if low - slack <= lowest and highest <= high + slack:
        return low - slack, high + slack, (f"readings from {lowest:.4g} to {highest:.4g} need a wider range",)
    return None, None, (f"readings from {lowest:.4g} to {highest:.4g} lie beyond a usual instrument: state its limits",)


def _stated(series: Series, value: float) -> float:
    """Return a value in the unit of the file."""
    _, shift, scale, _ = to_si(series.stated_unit, series.kind)
    return float(f"{value / scale + shift:.9g}") if series.unit != series.stated_unit else value


def _words(states: tuple[str, ...], series: Sequence[Series]) -> dict[str, int]:
    """Return the words of other copies with the codes that they have there."""
    known = set(states)
    return {
        word: code
        for each in series
        for code, word in enumerate(each.states)
        if word not in known and code < len(states) and not word.startswith("not ")
    }


def _interval_s(series: Sequence[Series]) -> float | None:
    steps = [s.reporting.step_ms for s in series if s.reporting.mode is Mode.SAMPLED and s.reporting.step_ms]
    return float(np.median(steps)) / 1000 if 2 * len(steps) >= len(series) else None


def _resolution(series: Sequence[Series]) -> float | None:
    """Return the step between readings in the unit of the file, the finest of all copies."""
    found = []
    for each in series:
        if each.resolution is not None and each.decimals is not None:
            found.append(10.0**-each.decimals if each.decimals else max(1.0, round(each.resolution)))
    return min(found, default=None)
