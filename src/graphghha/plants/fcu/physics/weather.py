"""Outdoor air through the year: a seeded continental generator, or any hourly file."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError, DataError, SchemaError
from graphghha.plants.fcu.attacks.hooks import MINUTES
from graphghha.plants.fcu.physics.psychro import humidity_ratios

HOURS, LEAP_HOURS = 8760, 8784
TEMPERATURE_COLUMN, HUMIDITY_COLUMN, TIME_COLUMN = "FCU_OAT", "FCU_OA_HUMD", "Datetime"  # degF and %RH, as in the data
PLAUSIBLE = {"temperature": (-60.0, 60.0, "degC"), "humidity": (0.0, 100.0, "%RH")}
_TIME_FORMAT = "%m/%d/%Y %H:%M"  # as in the data set; ISO times are read as well


@dataclass(frozen=True, slots=True)
class WeatherDay:
    """The outdoor air of one day, minute by minute, and how clear its sky is (0 to 1)."""

    temperature: NDArray[np.float64]  # degC
    humidity: NDArray[np.float64]  # %RH
    ratio: NDArray[np.float64]  # kg of water per kg of dry air
    clearness: float


class Weather:
    """A year of hourly means from 1 January (8,760 hours, or 8,784 with 29 February), used again for every year."""

    def __init__(
        self, temperature: NDArray[np.float64], humidity: NDArray[np.float64], *, source: str = "weather"
    ) -> None:
        """Temperatures in degC, humidity in %RH; `source` names the place in error messages."""
        for name, values in (("temperature", temperature), ("humidity", humidity)):
            if values.shape not in ((HOURS,), (LEAP_HOURS,)):
                raise DataError(
                    f"{source}: {values.size} rows of {name}; a year has {HOURS} hourly rows ({LEAP_HOURS} with "
                    "29 February): take hourly means from 1 January to 31 December"
                )
            if (bad := np.flatnonzero(~np.isfinite(values))).size:
                raise DataError(
                    f"{source}: row {bad[0] + 1}: {name} is missing, in {bad.size} rows in all; fill the gaps first"
                )
        if temperature.shape != humidity.shape:
            raise DataError(
                f"{source}: {temperature.size} temperatures, {humidity.size} humidities; give as many of both"
            )
        self.temperature = temperature
        self.humidity = np.clip(humidity, 0.0, 100.0)

    def day(self, day: date) -> WeatherDay:
        """Return the minutes of a calendar day; 29 February repeats the 28th unless the year has one of its own."""
        year_hours = self.temperature.size
        day = day.replace(year=2020)
        if year_hours == HOURS:
            day = day.replace(year=2018, day=28 if (day.month, day.day) == (2, 29) else day.day)
        of_year = day.timetuple().tm_yday - 1
        hours = np.arange(of_year * 24 - 1, of_year * 24 + 25) % year_hours
        places = (np.arange(MINUTES) + 0.5) / 60.0
        middles = np.arange(-0.5, 25.0)
        temperature = self.temperature[hours]
        spread = float(temperature[1:25].max() - temperature[1:25].min())
        minutes = np.interp(places, middles, temperature)
        humidity = np.interp(places, middles, self.humidity[hours])
        return WeatherDay(minutes, humidity, humidity_ratios(minutes, humidity), clearness(spread))


def clearness(daily_range: float) -> float:
    """Return how clear the sky is, from the day's temperature range in K: clear days swing, overcast ones do not."""
    # after Hargreaves and Samani: radiation goes with the square root of the range; 16 K, which one
    # day in ten of the published year exceeds, is a cloudless day
    return float(np.clip(np.sqrt(max(daily_range, 0.0) / 16.0), 0.05, 1.0))


@dataclass(frozen=True, kw_only=True, slots=True)
class Climate:
    """A place. The default is chosen after the published year of the LBNL data set, for a place like it, not a copy.

    That year: mean 10.3 degC, coldest about 20 January, days 5.9 K (winter) and 3.0 K (summer) around the season,
    warmest at 15 h, swings of 5 to 16 K. Here the season is somewhat milder (13 against 16 K), the days swing less (6
    to 12 K), and the air is moister (75 against 65 %RH).
    """

    mean: float = 10.2  # degC over the year
    season: float = 13.0  # K between the year's mean and its warmest weeks
    swing_overcast: float = 2.0  # K, half of the daily range under an overcast sky
    swing_clear: float = 4.5  # K that a clear sky adds to it
    dew_gap: float = 3.0  # K between air and dew point under an overcast sky
    dew_gap_clear: float = 5.0  # K that a clear sky adds to it


CONTINENTAL = Climate()


def synthetic(seed: int, climate: Climate = CONTINENTAL) -> Weather:
    """Return a synthetic year: season, day, fronts of a few days, humidity that falls as the air warms."""
    if seed < 0:
        raise ConfigError(f"seed {seed} is negative; use 0, 1, 2, ..")
    rng = np.random.default_rng([seed, 0x57EA])
    hours = np.arange(HOURS)
    days = hours / 24.0
    season = -np.cos(2 * np.pi * (days - 20.0) / 365.0)
    fronts = _fronts(rng, scale_h=60.0)
    cloud = _fronts(rng, scale_h=36.0)
    clear = 1.0 / (1.0 + np.exp(-cloud))
    # winters are more restless than summers; clear days swing more
    mean = climate.mean + climate.season * season + (5.2 - 1.6 * season) * fronts
    swing = (climate.swing_overcast + climate.swing_clear * clear) * (1.0 + 0.15 * season)
    temperature = mean + swing * np.cos(2 * np.pi * (hours % 24 - 15.0) / 24.0) + 0.3 * rng.standard_normal(HOURS)
    # chosen: the dew point follows the air mass and not the hour, and lies further below the mean on clear days
    dew_gap = climate.dew_gap + climate.dew_gap_clear * clear + 1.5 * _fronts(rng, scale_h=30.0)
    dew = mean - np.maximum(dew_gap, 0.3) + 1.0
    vapour, saturated = (611.2 * np.exp(17.62 * t / (243.12 + t)) for t in (dew, temperature))
    return Weather(temperature, np.clip(100.0 * vapour / saturated, 8.0, 100.0))


def _fronts(rng: np.random.Generator, *, scale_h: float) -> NDArray[np.float64]:
    """Return a smooth unit-variance wander with the given time scale, closed over the year."""
    spectrum = np.fft.rfft(rng.standard_normal(HOURS))
    frequency = np.fft.rfftfreq(HOURS)
    spectrum *= 1.0 / (1.0 + (2 * np.pi * frequency * scale_h / 2.0) ** 2)
    wander: NDArray[np.float64] = np.fft.irfft(spectrum, HOURS)
    wander /= wander.std()
    return wander


def read_weather(path: Path) -> Weather:
    """Read an hourly CSV or Parquet file with the columns FCU_OAT (degF), FCU_OA_HUMD (%RH) and, if any, Datetime."""
    table = read_table(path, (TEMPERATURE_COLUMN, HUMIDITY_COLUMN), optional=(TIME_COLUMN,))
    fahrenheit, humidity = (numbers(table, name, path) for name in (TEMPERATURE_COLUMN, HUMIDITY_COLUMN))
    weather = Weather((fahrenheit - 32.0) / 1.8, humidity, source=str(path))
    for name, values in (("temperature", weather.temperature), ("humidity", humidity)):
        low, high, unit = PLAUSIBLE[name]
        if (bad := np.flatnonzero((values < low) | (values > high))).size:
            raise DataError(
                f"{path}: row {bad[0] + 1}: {name} {values[bad[0]]:g} {unit} is not plausible, in {bad.size} rows; "
                f"give {low:g} to {high:g} {unit} ({TEMPERATURE_COLUMN} in degF), no marks for missing values"
            )
    if TIME_COLUMN in table.column_names:
        _check_times(table[TIME_COLUMN].to_pylist(), path)
    return weather


def read_table(path: Path, names: Sequence[str], optional: Sequence[str] = ()) -> Any:
    """Read named columns of an hourly CSV or Parquet file as an Arrow table."""
    from graphghha.plants.arrow import pacsv, pq

    if not path.exists():
        raise DataError(f"{path}: no such file; give an hourly CSV or Parquet file")
    try:
        parquet = path.suffix == ".parquet"
        table = None if parquet else pacsv.read_csv(path)
        present = pq.read_schema(path).names if table is None else table.column_names
        if missing := [name for name in names if name not in present]:
            raise SchemaError(f"{path}: missing columns {missing}; an hourly file has {list(names)}")
        chosen = [*names, *(name for name in optional if name in present)]
        return pq.read_table(path, columns=chosen) if table is None else table.select(chosen)
    except (OSError, ValueError) as exc:
        if isinstance(exc, DataError):
            raise
        raise DataError(f"{path}: not a readable hourly file: {exc}") from exc


def numbers(table: Any, name: str, path: Path) -> NDArray[np.float64]:
    """Return a column as floats, NaN where it is empty."""
    try:
        return np.asarray(table[name].to_numpy(), dtype=np.float64)
    except (ValueError, TypeError) as exc:
        raise DataError(f"{path}: column {name} does not hold numbers: {exc}") from exc


def _check_times(times: Sequence[object], path: Path) -> None:
    """Refuse times that do not continue hour by hour from 1 January; months may come from different years."""
    first = datetime(2020 if len(times) == LEAP_HOURS else 2018, 1, 1)
    for row, value in enumerate(times):
        expected = first + timedelta(hours=row)
        time = _time(value)
        # the year does not count
        if time is None or time.timetuple()[1:6] != expected.timetuple()[1:6]:
            raise DataError(
                f"{path}: row {row + 1}: {TIME_COLUMN} {value}, where {expected:%d %B %H:%M} belongs; "
                "give one row an hour from 1 January 00:00 to 31 December 23:00"
            )


def _time(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        pass
    try:
        return datetime.strptime(str(value), _TIME_FORMAT)
    except ValueError:
        return None
