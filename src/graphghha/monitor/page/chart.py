"""A chart of readings over time as inline SVG: measured lines, what was expected at the announcement, marks. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.monitor.display import Display

WIDTH, HEIGHT = 720, 132
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 16, 18
TICK_MINUTES = (5, 10, 15, 30, 60, 120, 180, 360, 720, 1440)
MOST_TICKS = 8

Times = NDArray[np.int64]
Values = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Line:
    """One point over time; gaps are NaN. A command or a second sensor is dotted."""

    name: str
    values: Values
    is_dotted: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment that every chart shows; the first chart has its word beside it, on the left or on the right."""

    time_ms: int
    word: str
    is_left: bool = False
    is_dashed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """Lines that share a unit and a scale."""

    title: str
    unit: str
    lines: tuple[Line, ...]
    expected: tuple[float, float] | None = None  # at the announcement
    states: tuple[tuple[float, str], ...] = ()  # names of whole numbers
    limits: tuple[float, float] | None = None  # a scale of its own, such as 0 to 100 %


def draw(
    chart: Chart,
    times_ms: Times,
    marks: Sequence[Mark],
    announced_ms: int | None,
    display: Display,
    *,
    with_words: bool = False,
) -> str:
    """Return the chart as an `svg` element."""
    scale = _Scale.of(chart, times_ms)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(chart.title, quote=True)}">',
        *_axes(chart, scale, times_ms, display),
        *(_mark(mark, scale, with_words) for mark in marks if scale.first_ms <= mark.time_ms <= scale.last_ms),
        _expected(chart, scale, announced_ms),
        *(_line(line, scale, times_ms) for line in chart.lines),
        "</svg>",
    ]
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class _Scale:
    first_ms: int
    last_ms: int
    low: float
    high: float

    @classmethod
    def of(cls, chart: Chart, times_ms: Times) -> "_Scale":
        low, high = chart.limits or _range(chart)
        return cls(int(times_ms[0]), max(int(times_ms[-1]), int(times_ms[0]) + 60_000), low, high)

    def x(self, time_ms: float) -> float:
        share = (time_ms - self.first_ms) / (self.last_ms - self.first_ms)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)


def _range(chart: Chart) -> tuple[float, float]:
    known = [line.values[np.isfinite(line.values)] for line in chart.lines]
    values = np.concatenate([*known, np.array(chart.expected or (), np.float64)])
    if chart.states:
        values = np.concatenate([values, [value for value, _ in chart.states]])
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = 0.08 * (high - low) or 0.5
    return low - margin, high + margin


def _axes(chart: Chart, scale: _Scale, times_ms: Times, display: Display) -> Iterator[str]:
    ticks = chart.states or tuple((value, _number(value, scale)) for value in _value_ticks(scale))
    for value, text in ticks:
        y = scale.y(value)
        yield f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        yield f'<text class="tick" x="{LEFT - 5}" y="{y + 3.5:.1f}" text-anchor="end">{escape(text)}</text>'
    for time_ms in _time_ticks(scale, display):
        x = scale.x(time_ms)
        yield f'<path class="grid" d="M{x} {HEIGHT - BOTTOM}v4"/>'
        text = display.clock(time_ms, time_ms).partition(" ")[0]
        yield f'<text class="tick" x="{x}" y="{HEIGHT - 3}" text-anchor="middle">{text}</text>'


def _value_ticks(scale: _Scale) -> list[float]:
    """Return two to five round numbers within the scale."""
    span = scale.high - scale.low
    step = 10.0 ** np.floor(np.log10(span))
    while span / step < 2:
        step /= 2 if span / step >= 1 else 5
    while span / step > 5:
        step *= 2
    first = int(np.ceil(scale.low / step))
    return [float(step * at) for at in range(first, int(np.floor(scale.high / step + 1e-9)) + 1)]


def _time_ticks(scale: _Scale, display: Display) -> list[int]:
    """Return times on whole local minutes or hours, at most `MOST_TICKS`."""
    span = scale.last_ms - scale.first_ms
    step = next((each * 60_000 for each in TICK_MINUTES if span / (each * 60_000) <= MOST_TICKS), span // MOST_TICKS)
    shift = display.offset_ms(scale.first_ms)
    first = -(-(scale.first_ms + shift) // step) * step - shift
    return list(range(first, scale.last_ms + 1, step))


def _number(value: float, scale: _Scale) -> str:
    digits = max(0, int(np.ceil(-np.log10((scale.high - scale.low) / 4)))) if scale.high > scale.low else 0
    return f"{value + 0.0:.{digits}f}"


def _mark(mark: Mark, scale: _Scale, with_words: bool) -> str:
    x, style = scale.x(mark.time_ms), "mark dashed" if mark.is_dashed else "mark"
    line = f'<path class="{style}" d="M{x} {TOP}V{HEIGHT - BOTTOM}"/>'
    if not with_words:
        return line
    anchor, shift = ("end", -3) if mark.is_left else ("start", 3)
    word = f'<text class="word" x="{x + shift:.1f}" y="{TOP - 4}" text-anchor="{anchor}">{escape(mark.word)}</text>'
    return line + word


def _expected(chart: Chart, scale: _Scale, announced_ms: int | None) -> str:
    """Return the range that was expected at the announcement, as a bar at that moment: it is not known of others."""
    if chart.expected is None or announced_ms is None:
        return ""
    x, low, high = scale.x(announced_ms), scale.y(chart.expected[0]), scale.y(chart.expected[1])
    return f'<path class="expected" d="M{x - 7} {low}H{x + 7}M{x - 7} {high}H{x + 7}M{x} {low}V{high}"/>'


def _line(line: Line, scale: _Scale, times_ms: Times) -> str:
    path, is_down = [], False
    for time_ms, value in zip(times_ms.tolist(), line.values.tolist(), strict=True):
        if not np.isfinite(value):
            is_down = False
            continue
        path.append(f"{'L' if is_down else 'M'}{scale.x(time_ms)} {scale.y(value)}")
        is_down = True
    return f'<path class="{"line dotted" if line.is_dotted else "line"}" d="{"".join(path)}"/>'
