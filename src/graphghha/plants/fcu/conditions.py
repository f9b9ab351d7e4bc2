"""Buildings by name: the reference, random ones by seed, and conditions that differ from the reference in one way.

The conditions are for tests only: a detector is evaluated in each of them and never trained in any.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, get_args

from graphghha._util.suggest import did_you_mean
from graphghha.errors import ConfigError, NotFoundError
from graphghha.plants.fcu.physics.design import REFERENCE_DESIGN, Calendar, Design, random_design
from graphghha.plants.fcu.physics.parameters import REFERENCE, Parameters
from graphghha.plants.fcu.physics.reporting import Reporting, Resolution
from graphghha.plants.fcu.physics.sensors import SensorErrors
from graphghha.plants.fcu.physics.weather import Climate
from graphghha.plants.fcu.signals import NAMES

Observe = Literal["bms", "cov", "ideal"]
OBSERVE: tuple[Observe, ...] = get_args(Observe)
# What a small site usually has of the 29 points.
TYPICAL_POINTS = (
    *("FCU_CTRL", "FAN_CTRL", "RM_TEMP", "RMCLGSPT", "RMHTGSPT", "FCU_DAT", "FCU_RAT"),
    *("FCU_CVLV", "FCU_CVLV_DM", "FCU_HVLV", "FCU_HVLV_DM", "FCU_DMPR_DM", "FCU_SPD", "FCU_OAT"),
)
_UNTYPICAL = tuple(name for name in NAMES if name not in TYPICAL_POINTS)
COV = Reporting(mode="cov")


def _with(**parameters: float) -> Design:
    return Design(parameters=replace(REFERENCE, **parameters))


def _times(**factors: float) -> Design:
    return _with(**{name: getattr(REFERENCE, name) * factor for name, factor in factors.items()})


_ANOTHER: Parameters = replace(
    REFERENCE,
    operate_cooling=23.5,
    operate_heating=21.0,
    setback_cooling=27.0,
    setback_heating=16.0,
    operate_first_min=421.0,
    operate_last_min=1140.0,
    schedule_shift_min=60.0,
    chilled_water=8.5,
    hot_water=55.0,
    damper_minimum=0.2,
    gain_scale=1.3,
    mass_capacity=1.5 * REFERENCE.mass_capacity,
    air_outdoor_ua=1.4 * REFERENCE.air_outdoor_ua,
    mass_outdoor_ua=1.4 * REFERENCE.mass_outdoor_ua,
    cooling_integral=1.5 * REFERENCE.cooling_integral,
)

CONDITIONS: Mapping[str, Design] = {
    "reference": REFERENCE_DESIGN,
    "sensor-offsets": Design(sensors=SensorErrors(temperature_offset=0.4)),
    "one-sensor-off": Design(sensors=SensorErrors(single_offset=0.6)),
    "sensor-drift": Design(sensors=SensorErrors(temperature_drift=0.1)),
    "noise-x3": Design(sensors=SensorErrors(noise=3.0)),
    "chilled-water-10": _with(chilled_water=10.0),
    "hot-water-60": _with(hot_water=60.0),
    "setpoints-24-21": _with(operate_cooling=24.0, operate_heating=21.0),
    "setback-26-17": _with(setback_cooling=26.0, setback_heating=17.0),
    "deadband-1": _with(deadband=1.0),
    "loop-gains-x3": _times(cooling_gain=3.0, cooling_integral=3.0, heating_gain=3.0, heating_integral=3.0),
    "seven-days": Design(calendar=Calendar(weekdays=7)),
    "holidays": Design(calendar=Calendar(holiday_share=0.15)),
    "cov": Design(reporting=COV),
    "rounded-0.5": Design(reporting=Reporting(resolution=Resolution(temperature=0.5))),
    "samples-5-min": Design(reporting=Reporting(mode="sampled", interval_min=5)),
    "samples-15-min": Design(reporting=Reporting(mode="sampled", interval_min=15)),
    "loss-10-percent": Design(reporting=Reporting(loss=0.1)),
    "gateway-outages": Design(reporting=Reporting(outages_per_day=0.3)),
    "points-14": Design(reporting=Reporting(missing=_UNTYPICAL)),
    "gains-x2": _times(gain_scale=2.0),
    "mass-x3": _times(mass_capacity=3.0),
    "mass-third": _times(mass_capacity=1.0 / 3.0),
    "envelope-x3": _times(air_outdoor_ua=3.0, mass_outdoor_ua=3.0),
    "coils-40-percent-larger": _times(
        cooling_ua_air=1.4,
        cooling_ua_water=1.4,
        heating_ua_air=1.4,
        heating_ua_water=1.4,
        cooling_flow_scale=1.4,
        heating_flow_scale=1.4,
    ),
    "open-windows": Design(window_share=0.2),
    "hot-dry": Design(climate=Climate(mean=24.0, season=10.0, swing_clear=7.0, dew_gap=10.0, dew_gap_clear=8.0)),
    "tropical": Design(climate=Climate(mean=27.5, season=1.5, swing_clear=3.0, dew_gap=2.0, dew_gap_clear=2.0)),
    "subarctic": Design(climate=Climate(mean=1.0, season=15.0)),
    "another-building": Design(
        parameters=_ANOTHER,
        sensors=SensorErrors(temperature_offset=0.2, humidity_offset=1.5, noise=1.5),
        reporting=Reporting(resolution=Resolution(temperature=0.1, humidity=0.1)),
    ),
    "all-at-once": Design(
        parameters=replace(REFERENCE, chilled_water=10.0, hot_water=60.0),
        sensors=SensorErrors(temperature_offset=0.4),
        reporting=replace(COV, missing=_UNTYPICAL),
    ),
}


def parse_building(text: str, observe: Observe = "bms") -> Design:
    """Return the building that `text` names: `reference`, a condition, or the seed of a random building.

    `observe` is how its telemetry is seen: as its own management system reports it (`bms`), by change of value (`cov`),
    or every reading of every point once a minute, unrounded (`ideal`).
    """
    if observe not in OBSERVE:
        raise ConfigError(f"observe {observe!r} is unknown; use {' | '.join(OBSERVE)}")
    if text.isascii() and text.isdigit():
        design = random_design(int(text))
    elif text in CONDITIONS:
        design = CONDITIONS[text]
    else:
        hint = did_you_mean(text, CONDITIONS) or ";"
        raise NotFoundError(f"no building is named {text!r}{hint} give a seed or one of {', '.join(CONDITIONS)}")
    if observe == "ideal":
        return replace(design, reporting=Reporting())
    if observe == "cov" and design.reporting.mode != "cov":
        return replace(design, reporting=replace(design.reporting, mode="cov", interval_min=1, loss=0.0))
    return design
