"""Every case at once, each in a zone of its own, beside the attack-free twin: the contract of attacks reads these."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from graphghha.plants.fcu.attacks.catalog import ROWS
from graphghha.plants.fcu.attacks.labels import Labeller
from graphghha.plants.fcu.attacks.schedule import Event, ScheduledAttack, plan
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.physics.weather import Weather

NAMES_OF_CASES = tuple(ROWS)
SEASONS = {"winter": datetime(2018, 1, 15), "summer": datetime(2018, 7, 16)}  # Mondays
OUTDOOR = {"winter": -18.0, "summer": 31.0}  # degC, so that every zone must heat, or cool
# Tuesday before operate hours to the evening: setback, the morning's heating and the afternoon's cooling
ONSET, DURATION = timedelta(days=1, hours=4, minutes=7), timedelta(hours=15)
DAYS = 8
DAYS_KEPT = 2  # with readings
FIRST = int(ONSET.total_seconds() // 60)
LAST = FIRST + int(DURATION.total_seconds() // 60)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Season:
    """A run of all cases; minutes count from its start."""

    changed: Bools  # [cases, minutes, signals], bit for bit
    visible: Bools  # [cases, minutes]
    finite: Bools  # [cases, minutes]
    attacked: Floats  # [cases, minutes of the days kept, signals]
    clean: Floats


def helpers_of(case: str, zone: int, start: datetime) -> list[Event]:
    # a disabled interlock changes nothing until something would trip it
    return [plan("SensorSaturated_FCU_MAT_Low", zone, start + ONSET)] if case == "InterlockOff" else []


def weather(season: str) -> Weather:
    day = 4.0 * np.sin(2 * np.pi * (np.arange(8760) - 9) / 24)
    return Weather(OUTDOOR[season] + day, np.full(8760, 55.0))


def run(season: str) -> Season:
    start = SEASONS[season]
    events = [replace(plan(name, zone, start + ONSET), duration=DURATION) for zone, name in enumerate(ROWS)]
    helpers = [ScheduledAttack(helper) for event in events for helper in helpers_of(event.case, event.zone, start)]
    attacks = [*helpers, *(ScheduledAttack(event) for event in events)]
    building = Building(zones=len(ROWS), seed=11, start=start, weather=weather(season), attacks=attacks)
    twin = building.twin(helpers)
    labeller = Labeller(events)
    days, kept = [], []
    for chunk in building.days(DAYS):
        clean = twin.step().telemetry
        difference = chunk.telemetry - clean
        visible = np.stack([labeller.observable_minutes(zone, difference[zone]) for zone in range(len(ROWS))])
        days.append((chunk.telemetry != clean, visible, np.isfinite(chunk.telemetry).all(axis=-1)))
        if len(kept) < DAYS_KEPT:
            kept.append((chunk.telemetry, clean))
    columns = (*zip(*days, strict=True), *zip(*kept, strict=True))
    return Season(*(np.concatenate(parts, axis=1) for parts in columns))


def over(wanted: Callable[[str], bool]) -> pytest.MarkDecorator:
    """Run a test for the zone of every case that is wanted."""
    params = [pytest.param(zone, id=name) for zone, name in enumerate(ROWS) if wanted(name)]
    return pytest.mark.parametrize("zone", params)


every_case = over(lambda name: True)
