"""What is odd about the readings of one point: gaps, flat lines, constants, jumps of the clock, coarse steps, units."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._util.times import iso
from graphghha.exports.build import to_si
from graphghha.exports.naming import LABEL
from graphghha.exports.notes import counted, span_text
from graphghha.exports.reporting import Mode
from graphghha.exports.series import Series
from graphghha.exports.suspicions import encoded_as, reads_like

GAP_STEPS = 1.5
FLAT_ROWS = 30  # the shortest flat line
FLAT_TIMES = 4  # so many times longer than usual
RESTING_SHARE = 0.01  # a value with more of the other readings is one at which the point rests
COARSE_SHARE = 1 / 30  # of the usual range
MOST_EXAMPLES = 5


class Topic(StrEnum):
    """What a finding is about, worst first."""

    FILE = "file"
    DEAD = "no sensor"
    UNIT = "unit"
    CLOCK = "clock"
    ROUNDING = "rounding"
    GAP = "gap"
    FLAT = "flat line"
    DUPLICATE = "duplicate"
    MALFORMED = "not read"
    SPAN = "span"
    COARSE = "coarse"
    CONSTANT = "constant"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something odd, with the times between which it shows. Findings with the same text are listed together."""

    topic: Topic
    about: str  # a point or a file
    text: str
    start_ms: int | None = None
    end_ms: int | None = None
    detail: str = ""  # what is particular to this point

    def to_dict(self) -> dict[str, Any]:
        fields = asdict(self) | {"topic": str(self.topic)}
        for key in ("start", "end"):
            time_ms = fields.pop(f"{key}_ms")
            fields[key] = None if time_ms is None else iso(time_ms)
        return fields


def check_series(series: Series) -> Iterator[Finding]:
    """Yield what is odd about one point."""
    yield from _omissions(series)
    if not len(series):
        return
    if series.kind.role != LABEL:
        yield from _unit(series)
    yield from _constant(series)
    if series.reporting.mode is Mode.SAMPLED and series.reporting.step_ms:
        yield from _gaps(series, series.reporting.step_ms)
        yield from _clock(series, series.reporting.step_ms)
    yield from _flat(series)
    yield from _coarse(series)


def _omissions(series: Series) -> Iterator[Finding]:
    for omission in series.omissions:
        topic = Topic.MALFORMED
        if "means no sensor" in omission.reason:
            topic = Topic.DEAD
        elif omission.reason.startswith("repeated") or "same time" in omission.reason:
            topic = Topic.DUPLICATE
        what = "all readings" if series.is_dead else counted(omission.count, omission.what)
        yield Finding(topic, series.name, f"{what} left out: {omission.reason}")
    for guess in series.guesses:
        if guess.what == "order":
            yield Finding(Topic.CLOCK, series.name, f"{guess.reason}; its readings were put in order")


def _unit(series: Series) -> Iterator[Finding]:
    if series.states:
        return
    _, shift, scale, problem = to_si(series.stated_unit, series.kind)
    raw = series.values / scale + shift
    suggested = reads_like(series.name, series.kind, series.stated_unit, raw, series.column)
    low, high = f"{raw.min():.4g}", f"{raw.max():.4g}"
    hint = f"; it reads like {suggested}" if suggested else ""
    if problem:
        yield Finding(Topic.UNIT, series.name, f"{problem}; its readings go from {low} to {high}{hint}")
    elif encoded := encoded_as(raw):
        yield Finding(Topic.UNIT, series.name, f"its readings from {low} to {high} read like {encoded}")
    elif series.stated_unit is None:
        is_plain = series.kind.purpose in ("status", "mode", "alarm", "tuning", "command")
        if suggested or not (is_plain or _is_binary(raw)):
            detail = f"readings from {low} to {high}"
            yield Finding(Topic.UNIT, series.name, f"no unit is stated; state it{hint}", detail=detail)
    elif suggested:
        text = f"stated as {series.stated_unit}, but its readings from {low} to {high} read like {suggested}"
        yield Finding(Topic.UNIT, series.name, text)


def _is_binary(values: NDArray[np.float64]) -> bool:
    return bool(np.isin(values, (0.0, 1.0)).all())


def _constant(series: Series) -> Iterator[Finding]:
    if series.is_constant and len(series) > 2:
        value = series.states[int(series.values[0])] if series.states else f"{series.values[0]:g} {series.unit or ''}"
        yield Finding(Topic.CONSTANT, series.name, f"always {value.strip()}, in {counted(len(series), 'reading')}")


def _gaps(series: Series, step_ms: int) -> Iterator[Finding]:
    steps = np.diff(series.times_ms)
    rows = np.flatnonzero(steps > GAP_STEPS * step_ms)
    if not len(rows):
        return
    absent = int((np.round(steps[rows] / step_ms) - 1).sum())
    share = absent / (absent + len(series))
    longest = rows[np.argsort(-steps[rows], kind="stable")[:MOST_EXAMPLES]]
    yield Finding(
        Topic.GAP,
        series.name,
        f"{counted(len(rows), 'gap')}, {absent:,} readings are absent ({share:.1%}); "
        f"the longest lasts {span_text(float(steps[longest[0]]))} from {iso(int(series.times_ms[longest[0]]))}",
        int(series.times_ms[longest[0]]),
        int(series.times_ms[longest[0] + 1]),
    )


def _clock(series: Series, step_ms: int) -> Iterator[Finding]:
    """Yield a jump of the clock: from one row on all readings come at another part of the interval."""
    steps = np.diff(series.times_ms)
    slack = max(1500, 0.1 * step_ms)
    off = steps - np.round(steps / step_ms) * step_ms
    rows = np.flatnonzero(np.abs(off) > slack)
    if not len(rows) or len(rows) > 0.01 * len(steps):
        return  # an interval that is always uneven is not a jump
    row = int(rows[np.argmax(np.abs(off[rows]))])
    largest = f"at {iso(int(series.times_ms[row + 1]))} by {off[row] / 1000:+.4g} s"
    yield Finding(
        Topic.CLOCK,
        series.name,
        f"the clock jumps {counted(len(rows), 'time')}; {largest}",
        int(series.times_ms[row]),
        int(series.times_ms[row + 1]),
    )


def _flat(series: Series) -> Iterator[Finding]:
    """Yield a measured value that stands still far longer than usual, at a value where it does not rest."""
    if series.kind.purpose not in ("measurement", "unknown") or series.is_constant or series.states:
        return
    if series.reporting.mode is not Mode.SAMPLED or len(series) < 4 * FLAT_ROWS:
        return
    starts = np.append(0, np.flatnonzero(np.diff(series.values) != 0) + 1)
    lengths = np.diff(np.append(starts, len(series)))
    longest = int(lengths.argmax())
    usual = float(np.quantile(np.delete(lengths, longest), 0.999)) if len(lengths) > 1 else 0.0
    value, length = series.values[starts[longest]], int(lengths[longest])
    elsewhere = int((series.values == value).sum()) - length
    if length < max(FLAT_ROWS, FLAT_TIMES * usual) or elsewhere > RESTING_SHARE * (len(series) - length):
        return
    first, last = int(series.times_ms[starts[longest]]), int(series.times_ms[starts[longest] + length - 1])
    how_long = f"stands at {value:.6g} for {span_text(last - first)} from {iso(first)}"
    yield Finding(
        Topic.FLAT,
        series.name,
        f"{how_long}; it usually moves within {usual:.0f} rows",
        first,
        last,
    )


def _coarse(series: Series) -> Iterator[Finding]:
    if series.resolution is None or series.kind.purpose != "measurement":
        return
    low, high = np.quantile(series.values, [0.01, 0.99])
    if high > low and series.resolution > COARSE_SHARE * (high - low):
        unit = f" {series.unit}" if series.unit else ""
        text = f"moves in steps of {series.resolution:.4g}{unit}, usually between {low:.4g} and {high:.4g}{unit}"
        yield Finding(Topic.COARSE, series.name, text)
