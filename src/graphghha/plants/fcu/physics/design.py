"""What makes one building differ from another, and the random draw of a whole building.

The reference building is the one of the public LBNL data set; its numbers are calibrated against that data. The ranges
of a random building are chosen, family by family, to cover ordinary buildings with fan-coil units.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError
from graphghha.plants.fcu.attacks.hooks import MINUTES
from graphghha.plants.fcu.physics.parameters import REFERENCE, Parameters
from graphghha.plants.fcu.physics.reporting import Reporting, Resolution
from graphghha.plants.fcu.physics.sensors import SensorErrors
from graphghha.plants.fcu.physics.weather import CONTINENTAL, Climate
from graphghha.plants.fcu.signals import NAMES

Rng = np.random.Generator
Floats = NDArray[np.float64]
Family = Literal["setpoints", "water", "sensors", "reporting", "points", "physics", "control", "climate"]
FAMILIES: tuple[Family, ...] = get_args(Family)
# Every site has these: without them a fan-coil unit cannot be controlled.
ALWAYS_PRESENT = ("FCU_CTRL", "RM_TEMP", "RMCLGSPT")


@dataclass(frozen=True, kw_only=True, slots=True)
class Calendar:
    """On which days the building operates; the hours are parameters of its zones."""

    weekdays: int = 5  # operating days of a week, from Monday on
    holiday_share: float = 0.0  # of the operating days

    def is_operating(self, day: date, seed: int) -> bool:
        """Return whether the building operates on this day; the seed decides which days are holidays."""
        if day.weekday() >= self.weekdays:
            return False
        if not self.holiday_share:
            return True
        return float(np.random.default_rng([seed, 5, day.toordinal()]).random()) >= self.holiday_share


@dataclass(frozen=True, kw_only=True, slots=True)
class WaterSupply:
    """How supply temperatures move around those of the parameters."""

    chilled_reset: float = 0.0  # K colder per K of warmer outdoor air
    hot_reset: float = 0.0  # K warmer per K of colder outdoor air
    chilled_wander: float = 0.0  # K, standard deviation of a wander over hours
    hot_wander: float = 0.0

    def day(self, p: Parameters, day: date, outdoor: Floats, seed: int) -> tuple[Floats, Floats]:
        """Return chilled and hot water in degC, minute by minute, or one value each where they never move."""
        if self == WaterSupply():
            return np.array([p.chilled_water]), np.array([p.hot_water])
        chilled = p.chilled_water - self.chilled_reset * (np.clip(outdoor, 10.0, 35.0) - 22.0)
        hot = p.hot_water - self.hot_reset * (np.clip(outdoor, -15.0, 18.0) - 5.0)
        wander = _wander(day, seed)
        return (
            np.clip(chilled + self.chilled_wander * wander[0], 4.0, 18.0),
            np.clip(hot + self.hot_wander * wander[1], 28.0, 90.0),
        )


def _wander(day: date, seed: int) -> Floats:
    """Return two unit-variance wanders [2, minutes] with a knot every four hours, continuous from day to day."""
    knots = [np.random.default_rng([seed, 6, day.toordinal() + later]).standard_normal((2, 6)) for later in (0, 1)]
    both = np.concatenate([knots[0], knots[1][:, :1]], axis=1)
    places = np.arange(7) * 240.0
    return np.stack([np.interp(np.arange(MINUTES), places, row) for row in both])


@dataclass(frozen=True, kw_only=True, slots=True)
class Design:
    """A building. The default is the reference building of the LBNL data set."""

    parameters: Parameters = REFERENCE
    calendar: Calendar = Calendar()
    water: WaterSupply = WaterSupply()
    climate: Climate = CONTINENTAL
    sensors: SensorErrors = SensorErrors()
    reporting: Reporting = Reporting()
    zone_setpoint_spread: float = 0.0  # K, standard deviation of what occupants change at their thermostats
    window_share: float = 0.0  # share of zone-days on which a window is open for some hours


REFERENCE_DESIGN = Design()


def random_design(seed: int, *, without: Collection[Family] = ()) -> Design:
    """Draw a building from its seed; the families in `without` stay as they are in the reference building.

    Every family has a random stream of its own, so leaving one out changes nothing in the others.
    """
    if unknown := [family for family in without if family not in FAMILIES]:
        raise ConfigError(f"building: no family {unknown[0]!r}; families are {', '.join(FAMILIES)}")
    if seed < 0:
        raise ConfigError(f"building {seed}: a seed must not be negative; use 0, 1, 2, ..")
    design = REFERENCE_DESIGN
    for number, family in enumerate(FAMILIES):
        if family not in without:
            design = _DRAWS[family](design, np.random.default_rng([seed, 0xB1D, number]))
    return design


def _setpoints(design: Design, rng: Rng) -> Design:
    cooling = rng.uniform(21.5, 26.0)
    heating = cooling - rng.uniform(1.2, 4.0)
    opens, closes = rng.uniform(270.0, 540.0), rng.uniform(960.0, 1320.0)
    parameters = replace(
        design.parameters,
        operate_cooling=cooling,
        operate_heating=heating,
        setback_cooling=cooling + rng.uniform(1.0, 8.0),
        setback_heating=heating - rng.uniform(1.0, 8.0),
        deadband=rng.uniform(0.25, 1.1),
        release=rng.uniform(0.25, 1.1),
        operate_first_min=float(round(opens)),
        operate_last_min=float(round(closes)),
        schedule_shift_min=round(opens) - REFERENCE.operate_first_min,
    )
    calendar = Calendar(
        weekdays=int(rng.choice([5, 6, 7], p=[0.6, 0.15, 0.25])),
        holiday_share=0.04 if rng.random() < 0.5 else 0.0,
    )
    spread = rng.uniform(0.0, 0.8) if rng.random() < 0.5 else 0.0
    return replace(design, parameters=parameters, calendar=calendar, zone_setpoint_spread=spread)


def _water(design: Design, rng: Rng) -> Design:
    has_reset, wanders = rng.random(2) < 0.5
    water = WaterSupply(
        chilled_reset=rng.uniform(0.0, 0.15) * has_reset,
        hot_reset=rng.uniform(0.0, 0.8) * has_reset,
        chilled_wander=rng.uniform(0.0, 0.5) * wanders,
        hot_wander=rng.uniform(0.0, 1.5) * wanders,
    )
    chilled, hot = rng.uniform(5.0, 13.0), rng.uniform(36.0, 75.0)
    return replace(design, parameters=replace(design.parameters, chilled_water=chilled, hot_water=hot), water=water)


def _sensors(design: Design, rng: Rng) -> Design:
    errors = SensorErrors(
        temperature_offset=rng.uniform(0.0, 0.45),
        temperature_drift=rng.uniform(0.0, 0.05),
        humidity_offset=rng.uniform(0.0, 3.5),
        position_bias=rng.uniform(0.0, 0.012),
        slope=rng.uniform(0.0, 0.05),
        noise=_log_uniform(rng, 0.3, 3.0),
        noisy_share=1.0 / 3.0,
    )
    return replace(design, sensors=errors)


def _reporting(design: Design, rng: Rng) -> Design:
    resolution = Resolution(
        temperature=float(rng.choice([0.0, 0.01, 0.1, 0.2, 0.5])),
        humidity=float(rng.choice([0.0, 0.1, 1.0])),
        position=float(rng.choice([0.0, 0.001, 0.01])),
        air_flow=float(rng.choice([0.0, 1.0])),
    )
    kind = rng.choice(["minute", "cov", "sampled", "lossy"], p=[0.4, 0.25, 0.25, 0.1])
    interval = int(rng.choice([2, 5, 10, 15]))
    factor, heartbeat = _log_uniform(rng, 0.5, 2.0), int(rng.choice([0, 15, 60]))
    outages = rng.uniform(0.01, 0.1) if rng.random() < 0.2 else 0.0
    reporting = replace(design.reporting, resolution=resolution, outages_per_day=outages)
    if kind == "cov":
        reporting = replace(reporting, mode="cov", increment_factor=factor, heartbeat_min=heartbeat)
    elif kind == "sampled":
        reporting = replace(reporting, mode="sampled", interval_min=interval)
    elif kind == "lossy":
        reporting = replace(reporting, loss=0.1)
    return replace(design, reporting=reporting)


def _points(design: Design, rng: Rng) -> Design:
    if rng.random() >= 0.4:
        return design
    optional = [name for name in NAMES if name not in ALWAYS_PRESENT]
    chosen = rng.permutation(len(optional))[: int(rng.integers(1, 22))]  # a site keeps 8 of its 29 points at least
    return replace(
        design, reporting=replace(design.reporting, missing=tuple(sorted(optional[at] for at in chosen.tolist())))
    )


def _physics(design: Design, rng: Rng) -> Design:
    p = design.parameters

    def factor(low: float, high: float) -> float:
        return _log_uniform(rng, low, high)

    mass, envelope, cooling, heating = factor(0.4, 3.0), factor(0.5, 3.0), factor(0.75, 1.5), factor(0.75, 1.5)
    air_flow, stages = factor(0.85, 1.2), rng.uniform(0.88, 1.12, 3)
    parameters = replace(
        p,
        mass_capacity=p.mass_capacity * mass,
        air_mass_ua=p.air_mass_ua * factor(0.6, 1.6),
        air_capacity=p.air_capacity * factor(0.5, 2.5),
        room_volume=p.room_volume * factor(0.6, 2.0),
        air_outdoor_ua=p.air_outdoor_ua * envelope,
        mass_outdoor_ua=p.mass_outdoor_ua * envelope,
        gain_scale=p.gain_scale * factor(0.3, 2.3),
        solar_aperture=p.solar_aperture * factor(0.4, 2.5),
        cooling_ua_air=p.cooling_ua_air * cooling,
        cooling_ua_water=p.cooling_ua_water * cooling,
        heating_ua_air=p.heating_ua_air * heating,
        heating_ua_water=p.heating_ua_water * heating,
        cooling_flow_scale=factor(0.8, 1.4),
        heating_flow_scale=factor(0.8, 1.4),
        coil_settle_min=p.coil_settle_min * factor(0.6, 2.0),
        flow_per_speed=p.flow_per_speed * air_flow,
        air_flow_low=p.air_flow_low * air_flow * stages[0],
        fan_low=p.fan_low * stages[0],
        fan_medium=p.fan_medium * stages[1],
        fan_high=p.fan_high * stages[2],
        outdoor_floor=p.outdoor_floor * factor(0.5, 4.0),
    )
    share = rng.uniform(0.05, 0.3) if rng.random() < 0.25 else 0.0
    return replace(design, parameters=parameters, window_share=share)


def _control(design: Design, rng: Rng) -> Design:
    p = design.parameters
    cooling, heating = _log_uniform(rng, 0.5, 3.0), _log_uniform(rng, 0.5, 3.0)
    parameters = replace(
        p,
        cooling_gain=p.cooling_gain * cooling,
        cooling_integral=p.cooling_integral * cooling,
        heating_gain=p.heating_gain * heating,
        heating_integral=p.heating_integral * heating,
        damper_minimum=rng.uniform(0.12, 0.5),
        medium_threshold=rng.uniform(0.3, 0.55),
        high_threshold=rng.uniform(0.65, 0.9),
        actuator_min=_log_uniform(rng, 0.4, 2.5),
    )
    return replace(design, parameters=parameters)


def _climate(design: Design, rng: Rng) -> Design:
    if rng.random() < 0.4:
        return design
    swing, gap = rng.uniform(2.0, 8.0), (100.0 - rng.uniform(25.0, 85.0)) / 5.0
    climate = Climate(
        mean=rng.uniform(-2.0, 28.0),
        season=rng.uniform(1.0, 15.0),
        swing_overcast=0.45 * swing,
        swing_clear=1.1 * swing,
        dew_gap=0.5 * gap,
        dew_gap_clear=gap,
    )
    return replace(design, climate=climate)


def _log_uniform(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


_DRAWS: dict[Family, Callable[[Design, Rng], Design]] = {
    "setpoints": _setpoints,
    "water": _water,
    "sensors": _sensors,
    "reporting": _reporting,
    "points": _points,
    "physics": _physics,
    "control": _control,
    "climate": _climate,
}
