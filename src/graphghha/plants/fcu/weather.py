"""Outdoor air through the year: a seeded continental generator, or any hourly file."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError, SchemaError
from graphghha.plants.fcu.imposition import MINUTES
from graphghha.plants.fcu.psychro import humidity_ratios

HOURS = 8760
TEMPERATURE_COLUMN, HUMIDITY_COLUMN = "FCU_OAT", "FCU_OA_HUMD"  # degF and %RH, as in the data set


@dataclass(frozen=True, slots=True)
class WeatherDay:
    """The outdoor air of one day, minute by minute, and how clear its sky is (0 to 1)."""

    temperature: NDArray[np.float64]  # degC
    humidity: NDArray[np.float64]  # %RH
    ratio: NDArray[np.float64]  # kg of water per kg of dry air
    clearness: float


class Weather:
    """A year of hourly means (8,760 from 1 January, degC and %RH), used again for every year."""

    def __init__(self, temperature: NDArray[np.float64], humidity: NDArray[np.float64]) -> None:
        for name, values in (("temperature", temperature), ("humidity", humidity)):
            if values.shape != (HOURS,):
                raise DataError(f"weather {name} has {values.size} hours; a year of {HOURS} hourly values is needed")
            if not np.isfinite(values).all():
                raise DataError(
                    f"weather {name} has missing values at hour {int(np.flatnonzero(~np.isfinite(values))[0])}"
                )
        self.temperature = temperature
        self.humidity = np.clip(humidity, 0.0, 100.0)

    def day(self, day: date) -> WeatherDay:
        """The minutes of a calendar day; 29 February repeats the 28th."""
        of_year = date(2018, day.month, 28 if (day.month, day.day) == (2, 29) else day.day).timetuple().tm_yday - 1
        hours = np.arange(of_year * 24 - 1, of_year * 24 + 25) % HOURS
        places = (np.arange(MINUTES) + 0.5) / 60.0
        middles = np.arange(-0.5, 25.0)
        temperature = self.temperature[hours]
        spread = float(temperature[1:25].max() - temperature[1:25].min())
        minutes = np.interp(places, middles, temperature)
        humidity = np.interp(places, middles, self.humidity[hours])
        return WeatherDay(minutes, humidity, humidity_ratios(minutes, humidity), clearness(spread))


def clearness(daily_range: float) -> float:
    """How clear the sky is, from the day's temperature range in K: clear days swing, overcast ones do not."""
    # after Hargreaves and Samani: radiation goes with the square root of the range; 16 K is a cloudless day
    return float(np.clip(np.sqrt(max(daily_range, 0.0) / 16.0), 0.05, 1.0))


def continental(seed: int) -> Weather:
    """A synthetic continental year: season, day, fronts of a few days, humidity that falls as the air warms."""
    rng = np.random.default_rng([seed, 0x57EA])
    hours = np.arange(HOURS)
    days = hours / 24.0
    season = -np.cos(2 * np.pi * (days - 20.0) / 365.0)
    fronts = _fronts(rng, scale_h=60.0)
    cloud = _fronts(rng, scale_h=36.0)
    clear = 1.0 / (1.0 + np.exp(-cloud))
    # winters are more restless than summers; clear days swing more
    mean = 10.2 + 13.0 * season + (5.2 - 1.6 * season) * fronts
    swing = (2.0 + 4.5 * clear) * (1.0 + 0.15 * season)
    temperature = mean + swing * np.cos(2 * np.pi * (hours % 24 - 15.0) / 24.0) + 0.3 * rng.standard_normal(HOURS)
    dew_gap = 3.0 + 5.0 * clear + 1.5 * _fronts(rng, scale_h=30.0)
    dew = mean - np.maximum(dew_gap, 0.3) + 1.0
    vapour, saturated = (611.2 * np.exp(17.62 * t / (243.12 + t)) for t in (dew, temperature))
    return Weather(temperature, np.clip(100.0 * vapour / saturated, 8.0, 100.0))


def _fronts(rng: np.random.Generator, *, scale_h: float) -> NDArray[np.float64]:
    """A smooth unit-variance wander with the given time scale, closed over the year."""
    spectrum = np.fft.rfft(rng.standard_normal(HOURS))
    frequency = np.fft.rfftfreq(HOURS)
    spectrum *= 1.0 / (1.0 + (2 * np.pi * frequency * scale_h / 2.0) ** 2)
    wander: NDArray[np.float64] = np.fft.irfft(spectrum, HOURS)
    wander /= wander.std()
    return wander


def read_weather(path: Path) -> Weather:
    """Read an hourly CSV or Parquet file with the columns FCU_OAT (degF) and FCU_OA_HUMD (%RH)."""
    columns = read_columns(path, (TEMPERATURE_COLUMN, HUMIDITY_COLUMN))
    fahrenheit, humidity = columns
    if fahrenheit.size < HOURS:
        raise DataError(f"{path}: {fahrenheit.size} rows; {HOURS} hourly rows from 1 January are needed")
    return Weather((fahrenheit[:HOURS] - 32.0) / 1.8, humidity[:HOURS])


def read_columns(path: Path, names: Sequence[str]) -> list[NDArray[np.float64]]:
    """Named columns of a CSV or Parquet file as floats."""
    if not path.exists():
        raise DataError(f"{path}: no such file")
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet as pq

            present = pq.read_schema(path).names
        else:
            from pyarrow import csv

            table = csv.read_csv(path)
            present = table.column_names
        if missing := [name for name in names if name not in present]:
            raise SchemaError(f"{path}: missing columns {missing}; an hourly weather file has {list(names)}")
        if path.suffix == ".parquet":
            table = pq.read_table(path, columns=list(names))
        return [np.asarray(table[name].to_numpy(zero_copy_only=False), dtype=np.float64) for name in names]
    except (OSError, ValueError) as exc:
        if isinstance(exc, DataError):
            raise
        raise DataError(f"{path}: not a readable hourly file: {exc}") from exc
