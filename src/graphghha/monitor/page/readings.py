"""The charts of an incident: the points named by its evidence, from the rows of the journal."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphghha._util.times import parse_time_ms
from graphghha.errors import NotFoundError
from graphghha.monitor.display import Display
from graphghha.monitor.evidence import VAGUE_SHARE
from graphghha.monitor.journal import Reader
from graphghha.monitor.page.chart import Chart, Line, Times, Values
from graphghha.plants import Plant, Signal, load_plant
from graphghha.windows import Rows

BEFORE_MS, AFTER_MS = 3_600_000, 1_800_000  # shown around an incident
LONGEST_MS = 24 * 3_600_000
MOST_CHARTS = 6


@dataclass(frozen=True, slots=True)
class IncidentReadings:
    """The hours around an incident."""

    times_ms: Times
    charts: tuple[Chart, ...]


def read_charts(reader: Reader, body: dict[str, Any], display: Display) -> IncidentReadings | None:
    """Return the charts of an incident; None if the journal no longer holds its rows."""
    about = reader.sites().get(body["site"], {})
    since_ms, end_ms = _time(body["since"]), _time(body["closed"])
    from_ms = (since_ms or 0) - BEFORE_MS
    newest_ms = int(reader.summary(body["site"]).get("time_ms", 0))
    to_ms = min((end_ms or newest_ms) + AFTER_MS, from_ms + LONGEST_MS)
    rows = reader.rows(body["site"], from_ms=from_ms, to_ms=to_ms)
    points = about.get("points")
    if rows is None or not isinstance(points, list) or rows.values.shape[1] != len(points) or len(rows) < 2:
        return None
    view = _View(rows, {str(point): at for at, point in enumerate(points)}, _plant(about), display, body["zone"])
    charts = [chart for chart in _charts(body, view) if chart is not None]
    return IncidentReadings(rows.times_ms, tuple(charts[:MOST_CHARTS]))


@dataclass(frozen=True, slots=True)
class _View:
    rows: Rows
    columns: dict[str, int]
    plant: Plant | None
    display: Display
    zone: str | None

    def values(self, role: str) -> Values | None:
        at = self.columns.get(f"{self.zone}/{role}" if self.zone else role)
        return None if at is None else np.where(self.rows.fresh[:, at], self.rows.values[:, at], np.nan)

    def signal(self, role: str) -> Signal:
        """Return the signal of a role; a plant that is not known here gives its bare readings."""
        bare = Signal(name=role, meaning=role, unit="", low=-np.inf, high=np.inf, noise=0.01)
        if self.plant is None:
            return bare
        try:
            name = self.plant.template.signals[self.plant.template.index(role)]
            return self.plant.signal(str(name)) if name else bare
        except NotFoundError:
            return bare

    def name(self, role: str) -> str:
        return self.plant.advise(role).name if self.plant else role


def _charts(body: dict[str, Any], view: _View) -> Iterator[Chart | None]:
    seen: set[str] = set()
    signals = {item["node"]: item for item in body["evidence"] if item["kind"] == "signal"}
    pairs = [(item["node"], item["against"]) for item in body["evidence"] if item["kind"] == "contradiction"]
    own = [(body["root"], "")] if body["root"] and not any(body["root"] in pair for pair in pairs) else []
    for role, other in [*own, *pairs, *((role, "") for role, item in signals.items() if item.get("unusual"))]:
        if role not in seen:
            seen |= {role, other}
            yield _chart(role, other, signals.get(role), view)


def _chart(role: str, other: str, item: dict[str, Any] | None, view: _View) -> Chart | None:
    values, signal = view.values(role), view.signal(role)
    if values is None:
        return None
    lines, title = [Line(view.name(role), _shown(values, signal, view.display))], f"{view.name(role)} ({role})"
    against = view.values(other) if other else None
    if against is not None and view.signal(other).unit == signal.unit:
        lines.append(Line(view.name(other), _shown(against, signal, view.display), is_dotted=True))
        title += f", dotted: {view.name(other)} ({other})"
    share = signal.unit == "fraction"
    return Chart(
        title=title,
        unit=_unit(signal, view.display),
        lines=tuple(lines),
        expected=_expected(item, signal, view.display),
        states=tuple((signal.low + at, name) for at, name in enumerate(signal.states)),
        limits=(-4.0, 104.0) if share else None,
    )


def _expected(item: dict[str, Any] | None, signal: Signal, display: Display) -> tuple[float, float] | None:
    if item is None or signal.states:
        return None
    low, high = item["normal"]
    if high - low > VAGUE_SHARE * (signal.high - signal.least):
        return None
    shown = _shown(np.array([low, high], np.float64), signal, display)
    return float(shown[0]), float(shown[1])


def _shown(values: Values, signal: Signal, display: Display) -> Values:
    if signal.unit == "fraction":
        return values * 100.0
    return values * 1.8 + 32.0 if signal.unit == "degC" and display.units == "degF" else values


def _unit(signal: Signal, display: Display) -> str:
    if signal.states:
        return ""
    return {"fraction": "%", "degC": "°F" if display.units == "degF" else "°C"}.get(signal.unit, signal.unit)


def _plant(about: dict[str, Any]) -> Plant | None:
    try:
        return load_plant(str(about.get("plant")))
    except NotFoundError:
        return None


def _time(text: object) -> int | None:
    return parse_time_ms(text) if text else None
