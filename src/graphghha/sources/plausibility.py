"""Whether readings fit the points they are mapped to: a room of 72 degC is one whose unit nobody stated."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphghha.exports.naming import guess_kind
from graphghha.exports.suspicions import reads_like
from graphghha.plants import Plant, Points
from graphghha.plants.units import QUANTITIES, canonical, conversion
from graphghha.sources.mapping import Route
from graphghha.sources.statistics import PointStatistics, SourceStatistics

FEWEST = 10  # readings before a doubt is reported
WRONG_SHARE = 0.5  # of the readings beyond the limits of the instrument
FITTING_SHARE = 0.99


@dataclass(frozen=True, slots=True)
class Doubt:
    """What is wrong with the readings of one point."""

    text: str
    units: tuple[str, ...] = ()  # units in which the readings would fit


def find_doubts(
    points: Points, plant: Plant, statistics: SourceStatistics, routes: Mapping[int, Route], assumed: set[int]
) -> dict[int, Doubt]:
    """Return what is doubtful, by column. `assumed` are the columns whose unit nothing states."""
    doubts: dict[int, Doubt] = {}
    for column, own in statistics.by_column.items():
        if column not in routes or own.count < FEWEST:
            continue
        if doubt := _doubt(points, plant, column, own, routes[column], is_assumed=column in assumed):
            doubts[column] = doubt
    return doubts | _by_company(points, statistics, routes, assumed, doubts)


def _doubt(
    points: Points, plant: Plant, column: int, own: PointStatistics, route: Route, *, is_assumed: bool
) -> Doubt | None:
    unit = canonical(route.unit)
    stated = own.values * _factor(route, unit, points.units[column]) + _offset(route, unit, points.units[column])
    name, meaning = points.names[column].rpartition("/")[2], _meaning(plant, points.names[column])
    suggested = reads_like(meaning or name, guess_kind(meaning or name, unit=unit), unit, stated)
    # a valve that hardly opens reads like a fraction: where somebody stated the unit, only limits contradict it
    is_open_to_doubt = is_assumed or points.units[column] == "degC"
    if suggested and is_open_to_doubt and _fits(points, column, stated, suggested):
        return Doubt(f"reads like {suggested}, not {unit}", (suggested,))
    share = own.out_of_limits / own.count
    if share < WRONG_SHARE:
        return None
    units = [each for each in _alternatives(unit, points.units[column]) if _fits(points, column, stated, each)]
    hint = f"reads like {' or '.join(units)}, not {unit}; " if units else ""
    return Doubt(f"{hint}{share:.0%} of its readings are beyond the limits of its instrument", tuple(units))


def _by_company(
    points: Points,
    statistics: SourceStatistics,
    routes: Mapping[int, Route],
    assumed: set[int],
    doubts: dict[int, Doubt],
) -> dict[int, Doubt]:
    """Return doubts about points without a stated unit where most others of their quantity are in another one."""
    found: dict[int, Doubt] = {}
    for units in QUANTITIES.values():
        inner = next(iter(units))
        alike = [c for c in assumed if points.units[c] == inner and c in routes and c in statistics.by_column]
        votes = [doubts[c].units[0] for c in alike if c in doubts and doubts[c].units and doubts[c].units[0] in units]
        if len(votes) < 2 or len(votes) < 0.3 * len(alike):
            continue
        usual = max(set(votes), key=votes.count)
        for column in alike:
            if column not in doubts and statistics.by_column[column].count >= FEWEST:
                found[column] = Doubt(f"no unit is stated; others of its quantity read like {usual}", (usual,))
    return found


def _alternatives(unit: str, inner: str) -> list[str]:
    """Return the other units in which a point with this inner unit may be sent."""
    tables = [units for units in QUANTITIES.values() if next(iter(units)) == canonical(inner)]
    return [each for units in tables for each in units if each != unit]


def _fits(points: Points, column: int, values: NDArray[np.float64], unit: str) -> bool:
    shift, scale = conversion(unit, points.units[column])
    inside = ~points.impossible(np.full(len(values), column, np.int32), (values - shift) * scale)
    return bool(len(values)) and float(inside.mean()) >= FITTING_SHARE


def _factor(route: Route, unit: str, inner: str) -> float:
    """Return the factor of a mapping entry: the route's scale without the conversion of the unit."""
    return route.scale / conversion(unit, inner)[1]


def _offset(route: Route, unit: str, inner: str) -> float:
    """Return the offset of a mapping entry."""
    shift, scale = conversion(unit, inner)
    return shift - route.shift * route.scale / scale


def _meaning(plant: Plant, point: str) -> str:
    """Return what a point means in words, without the names of its states."""
    signals = {signal.name: signal for signal in plant.signals}
    signal = signals.get(point.rpartition("/")[2])
    return signal.meaning.partition(":")[0] if signal else ""
