"""A building of fan-coil zones at one clock: shared weather and plant water, all else drawn per zone from the seed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError
from graphghha.plants.fcu.attacks.hooks import MINUTES, Day, DayHooks, Observer, Tampering, ZoneHooks
from graphghha.plants.fcu.physics.columns import (
    NUM_STATE,
    S_AIR,
    S_COIL,
    S_CORE,
    S_DEEP,
    S_DISCHARGE,
    S_HOT,
    S_MASS,
    S_MIXED,
    S_MODE,
    S_RATIO,
)
from graphghha.plants.fcu.physics.design import REFERENCE_DESIGN, Design
from graphghha.plants.fcu.physics.kernel import HookRows, Instruments, Surroundings, run_day
from graphghha.plants.fcu.physics.loads import zone_loads
from graphghha.plants.fcu.physics.noise import SILENCE, SILENT, draw_day, quantiles
from graphghha.plants.fcu.physics.parameters import Parameters, flat, varied
from graphghha.plants.fcu.physics.sensors import draw_sensors
from graphghha.plants.fcu.physics.weather import Weather, synthetic
from graphghha.plants.fcu.signals import NUM_SIGNALS

MAX_ZONES = 1000
DEFAULT_START = datetime(2018, 1, 1)
FIRST_DAY, LAST_DAY = datetime(1900, 1, 1), datetime(2200, 1, 1)  # a date outside of this range is a typing error
# where the published runs begin; the structure's (fit) outlasts any spin-up
START_TEMPERATURE, START_RATIO, START_STRUCTURE = 22.0, 0.0073, 21.5  # degC, kg/kg, degC
# random streams of a zone: its parameters and sensors once, its loads and noise day by day; reporting has 3 and 4,
# holidays 5, supply water 6
_ZONE, _DAY, _SENSORS, _SETPOINTS, _WINDOW = 0, 1, 2, 7, 8
_SHUT = np.zeros(1)


@dataclass(frozen=True, slots=True)
class DayChunk:
    """A simulated day: telemetry [zones, minutes, signals] in SI, signals in the order of the plant."""

    day: Day
    telemetry: NDArray[np.float64]

    @property
    def times(self) -> NDArray[np.datetime64]:
        return self.day.times


class Building:
    """Steps its zones day by day; the same seed gives the same weather, loads and noise with and without attacks."""

    def __init__(
        self,
        *,
        zones: int = 1,
        seed: int = 0,
        start: datetime = DEFAULT_START,
        weather: Weather | None = None,
        noise: bool = True,
        attacks: Sequence[Tampering] = (),
        nominal: bool = False,
        design: Design = REFERENCE_DESIGN,
        spin_up_days: int = 2,
    ) -> None:
        if not 1 <= zones <= MAX_ZONES:
            raise ConfigError(f"a building has 1 to {MAX_ZONES} zones, not {zones}")
        if seed < 0:
            raise ConfigError(f"seed {seed} is negative; use 0, 1, 2, ..")
        if start.time() != time(0) or start.tzinfo is not None:
            raise ConfigError(
                f"start {start.isoformat()} must be midnight without a time zone: a building is stepped in whole days"
            )
        if spin_up_days < 0:
            raise ConfigError(f"{spin_up_days} days of spin-up; use 0 or more")
        self.num_zones = zones
        self.seed = seed
        self.start = start
        self._check_calendar(1)
        self.design = design
        self.weather = weather or synthetic(seed, design.climate)
        self.noise = noise
        self.nominal = nominal
        self.attacks = tuple(attacks)
        self.parameters = tuple(self._zone_parameters(zone) for zone in range(zones))
        building = _rng(seed, _SENSORS, MAX_ZONES)
        shared = building.bit_generator.state
        self.sensors = []
        for zone in range(zones):
            building.bit_generator.state = shared  # every zone draws the building's own sensors alike
            self.sensors.append(draw_sensors(design.sensors, self._rng(_SENSORS, zone), building))
        self._flat = [flat(each) for each in self.parameters]
        self.state: NDArray[np.float64] = np.zeros((zones, NUM_STATE))
        self.state[:, [S_AIR, S_MASS, S_COIL, S_CORE, S_DISCHARGE, S_HOT, S_MIXED]] = START_TEMPERATURE
        self.state[:, S_DEEP] = START_STRUCTURE
        self.state[:, S_RATIO] = START_RATIO
        self.state[:, S_MODE] = 2
        self._last = np.full((zones, NUM_SIGNALS), np.nan)  # telemetry of the last minute
        self._neutral = ZoneHooks.neutral(rows=1)
        for number in range(-spin_up_days, 0):
            self._simulate(Day(number, start + timedelta(days=number)), DayHooks(zones))
        self.next_day = 0

    def days(self, count: int) -> Iterator[DayChunk]:
        """Simulate the next `count` days, one chunk at a time."""
        self._check_calendar(self.next_day + count)
        for _ in range(count):
            yield self.step()

    def step(self) -> DayChunk:
        """Simulate the next day."""
        self._check_calendar(self.next_day + 1)
        day = Day(self.next_day, self.start + timedelta(days=self.next_day))
        hooks = DayHooks(self.num_zones)
        for attack in self.attacks:
            attack.apply(hooks, day)
        telemetry = self._simulate(day, hooks)
        for attack in self.attacks:
            if isinstance(attack, Observer):
                attack.observe(day, telemetry)
        self.next_day += 1
        return DayChunk(day, telemetry)

    def twin(self, attacks: Sequence[Tampering] = ()) -> "Building":
        """Return the same building at the same moment with other attacks: step both to see what an attack changes."""
        twin = object.__new__(Building)
        twin.__dict__.update(self.__dict__)
        twin.attacks = tuple(attacks)
        twin.state = self.state.copy()
        twin._last = self._last.copy()
        return twin

    def _check_calendar(self, days: int) -> None:
        if not FIRST_DAY <= self.start < LAST_DAY or days > (LAST_DAY - self.start).days:
            raise ConfigError(
                f"{days} days from {self.start.date()} do not lie between {FIRST_DAY.date()} and {LAST_DAY.date()}; "
                "choose another start, or fewer days"
            )

    def _rng(self, stream: int, zone: int, ordinal: int = 0) -> np.random.Generator:
        return _rng(self.seed, stream, zone, ordinal)

    def _zone_parameters(self, zone: int) -> Parameters:
        base, spread = self.design.parameters, self.design.zone_setpoint_spread
        if self.nominal:
            return base
        own = varied(base, self._rng(_ZONE, zone))
        if not spread:
            return own
        shift = float(spread * np.clip(self._rng(_SETPOINTS, zone).standard_normal(), -2.0, 2.0))
        return replace(own, operate_cooling=own.operate_cooling + shift, operate_heating=own.operate_heating + shift)

    def _window_ua(self, zone: int, day: date) -> NDArray[np.float64]:
        """Return the conductance of an open window in W/K, minute by minute, or one 0 where it stays shut."""
        if not self.design.window_share:
            return _SHUT
        rng = self._rng(_WINDOW, zone, day.toordinal())
        if rng.random() >= self.design.window_share:
            return _SHUT
        conductance, begin = np.zeros(MINUTES), int(rng.integers(7 * 60, 18 * 60))
        conductance[begin : begin + int(rng.integers(30, 360))] = rng.uniform(15.0, 60.0)
        return conductance

    def _simulate(self, day: Day, hooks: DayHooks) -> NDArray[np.float64]:
        date = day.start.date()
        weather = self.weather.day(date)
        ordinal = date.toordinal()
        is_operating = self.design.calendar.is_operating(date, self.seed)
        chilled, hot = self.design.water.day(self.design.parameters, date, weather.temperature, self.seed)
        telemetry = np.empty((self.num_zones, MINUTES, NUM_SIGNALS))
        for zone in range(self.num_zones):
            p = self._flat[zone]
            # first the occupancy, then the sensors: neither draw depends on what an attack does
            rng = self._rng(_DAY, zone, ordinal)
            loads = zone_loads(p, date, weather.clearness, None if self.nominal else rng, is_workday=is_operating)
            noise, levels = (draw_day(rng), quantiles()) if self.noise else (SILENCE, SILENT)
            imposed = hooks.edited(zone) or self._neutral
            sensors = self.sensors[zone]
            offsets = imposed.offsets
            if not self.design.sensors.is_ideal:
                offsets = offsets + (sensors.offsets + max(day.number, 0) * sensors.drifts)
            around = Surroundings(
                weather.temperature,
                weather.humidity,
                weather.ratio,
                chilled,
                hot,
                loads.air,
                loads.mass,
                loads.moisture,
                self._window_ua(zone, date),
            )
            run_day(
                p,
                self.state[zone],
                self._last[zone],
                is_operating,
                around,
                HookRows(imposed.fields, offsets, imposed.overrides, imposed.scales),
                Instruments(noise, levels, sensors.sigmas, sensors.slopes),
                telemetry[zone],
            )
        return telemetry


def _rng(seed: int, stream: int, zone: int, ordinal: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence([seed, stream, zone, ordinal])))
