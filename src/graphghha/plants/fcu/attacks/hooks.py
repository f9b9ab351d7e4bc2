"""The named hooks through which an attack or fault acts on a zone, minute by minute; neutral unless edited.

Physical hooks change the equipment, control hooks the controller, and reading hooks what a sensor reports, which the
controller and the telemetry both see. An attack is a `Tampering`: it edits the hooks of its zones and minutes.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from graphghha._util.suggest import did_you_mean
from graphghha.errors import NotFoundError
from graphghha.plants.fcu.signals import INDEX, NUM_SIGNALS, SIGNALS

MINUTES = 1440
FREE = float("nan")
HOLD = float("inf")  # an override that repeats the reading of the minute before

# name -> neutral value; the order is the column order of ZoneHooks.fields
HOOKS: dict[str, float] = {
    "damper_stuck": FREE,  # position 0-1 the damper is held at; NaN = free
    "cooling_stuck": FREE,  # the same for the two valves
    "heating_stuck": FREE,
    # opening that lets outdoor air past the damper in any position: 1 is a fully leaking damper (`leak_opening`), more
    # than 1 is a path beside the damper, as in the case of the unstable controller
    "damper_leak": 0.0,
    "cooling_leak": 0.0,  # least water flow in any position, as a fraction of the full flow
    "heating_leak": 0.0,
    "airflow_factor": 1.0,  # share of the discharge air flow that gets through filter and coils
    "outlet_blockage": 0.0,  # blocked share of the fan outlet
    "outdoor_factor": 1.0,  # share of the outdoor air flow that gets through the inlet
    "cooling_water_ua": 1.0,  # factors on the conductance of a coil's water side and on its water flow
    "cooling_water_flow": 1.0,
    "heating_water_ua": 1.0,
    "heating_water_flow": 1.0,
    "cooling_reverse": 0.0,  # 1: the valve moves opposite to its command
    "heating_reverse": 0.0,
    "gain_factor": 1.0,  # factor on the gains of both valve controllers (hunting)
    "cooling_setpoint_offset": 0.0,  # K
    "heating_setpoint_offset": 0.0,
    # -1 to 1, added between controller and drive: the drive follows the sum within 0-1, the reported command is without
    "cooling_command_offset": 0.0,
    "heating_command_offset": 0.0,
    "damper_command_offset": 0.0,
    "fan_speed_offset": 0.0,  # rev/s, added to the commanded speed while it is not zero or the offset is positive
    "interlock_off": 0.0,  # 1: the low limit does not trip
}
HOOK_INDEX: dict[str, int] = {name: number for number, name in enumerate(HOOKS)}
NEUTRAL: NDArray[np.float64] = np.array(list(HOOKS.values()))


# What a scaled reading is scaled around: 0 for flows, positions and humidities, a room's 20 degC for temperatures.
CENTRES: NDArray[np.float64] = np.array([20.0 if signal.unit == "degC" else 0.0 for signal in SIGNALS])


@dataclass(frozen=True, slots=True)
class Day:
    """One calendar day of a run: its number, counted from 0 at the start of the run, and its midnight."""

    number: int
    start: datetime

    @property
    def times(self) -> NDArray[np.datetime64]:
        """The 1,440 minutes of the day."""
        times: NDArray[np.datetime64] = np.datetime64(self.start, "m") + np.arange(MINUTES)
        return times

    def minutes(self, begin: datetime, end: datetime | None) -> slice:
        """Return the minutes of this day in [begin, end); empty if they are on other days."""
        first = (begin - self.start).total_seconds() / 60
        last = MINUTES if end is None else (end - self.start).total_seconds() / 60
        return slice(int(min(max(np.ceil(first), 0), MINUTES)), int(min(max(np.ceil(last), 0), MINUTES)))


@dataclass(frozen=True, slots=True)
class ZoneHooks:
    """The hooks of one zone for one day."""

    fields: NDArray[np.float64]  # [minutes, hooks]
    offsets: NDArray[np.float64]  # [minutes, signals], added to the reading
    overrides: NDArray[np.float64]  # [minutes, signals], NaN = none; replaces the reading; HOLD repeats the last one
    scales: NDArray[np.float64]  # [minutes, signals], factors on the reading's distance from CENTRES

    @classmethod
    def neutral(cls, rows: int = MINUTES) -> "ZoneHooks":
        """Return hooks that change nothing; one row is enough for a zone without attacks."""
        shape = (rows, NUM_SIGNALS)
        return cls(np.tile(NEUTRAL, (rows, 1)), np.zeros(shape), np.full(shape, FREE), np.ones(shape))

    def hook(self, name: str) -> NDArray[np.float64]:
        """Return the [minutes] column of a named hook, to be edited in place."""
        if name not in HOOK_INDEX:
            hint = did_you_mean(name, HOOKS) or ";"
            raise NotFoundError(f"no hook is named {name!r}{hint} hooks are {', '.join(HOOKS)}")
        return self.fields[:, HOOK_INDEX[name]]

    def offset(self, signal: str) -> NDArray[np.float64]:
        """Return what is added to a signal's reading, per minute, to be edited in place."""
        return self.offsets[:, _signal(signal)]

    def override(self, signal: str) -> NDArray[np.float64]:
        """Return what replaces a signal's reading, per minute (NaN = nothing), to be edited in place."""
        return self.overrides[:, _signal(signal)]

    def scale(self, signal: str) -> NDArray[np.float64]:
        """Return the factor on a signal's distance from its centre, per minute, to be edited in place."""
        return self.scales[:, _signal(signal)]


class DayHooks:
    """The hooks of a building for one day; zones without attacks stay neutral and take no memory."""

    def __init__(self, num_zones: int) -> None:
        self.num_zones = num_zones
        self._zones: dict[int, ZoneHooks] = {}

    def zone(self, zone: int) -> ZoneHooks:
        """Return the hooks of a zone, created neutral on first use."""
        if not 0 <= zone < self.num_zones:
            raise NotFoundError(
                f"zone {zone} is not in a building of {self.num_zones} zones (0 to {self.num_zones - 1})"
            )
        if zone not in self._zones:
            self._zones[zone] = ZoneHooks.neutral()
        return self._zones[zone]

    def edited(self, zone: int) -> ZoneHooks | None:
        """Return the hooks of a zone, or None if no attack has asked for them."""
        return self._zones.get(zone)


class Tampering(Protocol):
    """An attack as the simulated building sees it."""

    def apply(self, hooks: DayHooks, day: Day) -> None:
        """Edit the hooks of this day, if the attack acts on it."""


@runtime_checkable
class Observer(Protocol):
    """An attack that also reads telemetry, such as a replay, which records a clean day first."""

    def observe(self, day: Day, telemetry: NDArray[np.float64]) -> None:
        """Take note of the telemetry [zones, minutes, signals] of a day after it was simulated."""


def _signal(name: str) -> int:
    if name not in INDEX:
        raise NotFoundError(f"no signal {name!r} in the fan-coil plant{did_you_mean(name, INDEX)}")
    return INDEX[name]
