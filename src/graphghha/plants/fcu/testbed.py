"""The fan-coil building as a testbed: telemetry and ground truth in the form that training and evaluation read."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.errors import ConfigError
from graphghha.plants.base import CaseSpec
from graphghha.plants.fcu.attacks.catalog import node_class
from graphghha.plants.fcu.attacks.generic import MECHANISMS
from graphghha.plants.fcu.attacks.labels import Labeller, LabelRows, labelled_days, visible_differences
from graphghha.plants.fcu.attacks.schedule import Event, check_events, check_run, schedule_attacks
from graphghha.plants.fcu.conditions import CONDITIONS, Observe, parse_building
from graphghha.plants.fcu.physics.building import MAX_ZONES, Building
from graphghha.plants.fcu.physics.design import Design
from graphghha.plants.fcu.physics.psychro import WATER_HEAT
from graphghha.plants.fcu.physics.reporting import Reporter
from graphghha.plants.fcu.signals import NAMES
from graphghha.plants.fcu.topology import TEMPLATE
from graphghha.plants.testbed import NO_EVENT, LabelledDay

_CLASS = np.array([CLASSES.index(node_class(name)) for name in TEMPLATE.names], np.uint8)
conditions = tuple(CONDITIONS)
mechanisms = {name: weight for name, (_, weight) in MECHANISMS.items()}
_COLUMNS = [NAMES.index(signal) for signal in TEMPLATE.point_signals]
_WATER = (("FCU_CLG_GPM", "FCU_CLG_EWT", "FCU_CLG_RWT"), ("FCU_HTG_GPM", "FCU_HTG_EWT", "FCU_HTG_RWT"))
_FAN_POWER = "FCU_WAT"
power_signals = (*_WATER[0], *_WATER[1], _FAN_POWER)


def zone_names(zones: int) -> tuple[str, ...]:
    """Return the names of the zones of a building."""
    if not 1 <= zones <= MAX_ZONES:
        raise ConfigError(f"simulate: {zones} zones; a building has 1 to {MAX_ZONES}")
    return TEMPLATE.replicate(zones).zone_names


def points_of(building: str) -> tuple[str, ...]:
    """Return the signals that a building reports."""
    return parse_building(building).reporting.points


def power(values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return the power [m Z] in kW of readings [m Z S]: the heat of cooling and heating water, and the fan."""

    def reading(name: str) -> NDArray[np.floating[Any]]:
        return values[..., TEMPLATE.point_signals.index(name)]

    watts = reading(_FAN_POWER)
    for flow, entering, leaving in _WATER:
        watts = watts + WATER_HEAT * reading(flow) * np.abs(reading(leaving) - reading(entering))
    return watts / 1000.0


def run(
    *,
    zones: int,
    days: int,
    start: datetime,
    seed: int,
    cases: Sequence[CaseSpec] = (),
    nominal: bool = False,
    building: str = "reference",
    observe: Observe = "bms",
) -> Iterator[LabelledDay]:
    """Simulate a building day by day; the same arguments give the same bytes. Wrong ones fail before the first day."""
    check_run(start, days, seed)
    names = zone_names(zones)
    events = tuple(Event.from_spec(case, names) for case in cases)
    check_events(events, start, start + timedelta(days=days), zones)
    design = parse_building(building, observe)
    return _days(zones, days, start, seed, events, nominal, design)


def _days(
    zones: int, days: int, start: datetime, seed: int, events: tuple[Event, ...], nominal: bool, design: Design
) -> Iterator[LabelledDay]:
    building = Building(
        zones=zones, seed=seed, start=start, attacks=schedule_attacks(events), nominal=nominal, design=design
    )
    reporter = Reporter(design.reporting, zones, seed)
    for chunk, rows in labelled_days(building, Labeller(events, visible_differences(building)), days):
        values = chunk.telemetry
        if not design.reporting.is_ideal:
            values = reporter.report(chunk.day.start.toordinal(), values).values
        yield _labelled(chunk.times, values, rows)


def _labelled(times: np.ndarray, telemetry: np.ndarray, rows: LabelRows | None) -> LabelledDay:
    shape = (len(times), len(telemetry), TEMPLATE.num_nodes)
    day = LabelledDay(
        times=times,
        values=telemetry.transpose(1, 0, 2)[..., _COLUMNS],
        attack_class=np.zeros(shape, np.uint8),
        event=np.full(shape, NO_EVENT, np.int16),
        observable=np.zeros(shape, np.bool_),
        recovering=np.zeros(shape[:2], np.bool_),
    )
    if rows is None or not len(rows):
        return day
    minute = (rows.times - times[0]).astype(np.int64)
    cell = (minute[rows.active], rows.zones[rows.active], rows.nodes[rows.active])
    day.attack_class[cell] = _CLASS[rows.nodes[rows.active]]
    day.event[cell] = rows.events[rows.active]
    day.observable[cell] = rows.observable[rows.active]
    day.recovering[minute[rows.recovering], rows.zones[rows.recovering]] = True
    return day
