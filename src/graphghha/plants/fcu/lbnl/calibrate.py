"""Compare the simulator with published statistics: annual mean and standard deviation, and hourly means."""

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError, SchemaError
from graphghha.plants.fcu.lbnl.cases import FAULT_FREE, SETTINGS, WholeRun
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.physics.weather import HOURS, Weather, numbers, read_table, read_weather
from graphghha.plants.fcu.signals import INDEX, NAMES, NUM_SIGNALS, SOURCE_SCALE, SOURCE_UNITS, from_si

YEAR_START = datetime(2018, 1, 1)
YEAR_DAYS = 365
MEAN_LIMIT = 0.25
RATIO_LIMITS = (0.67, 1.5)
# the unit of a deviation where the fault-free standard deviation is zero
FLOORS = {"mode": 0.05, "degF": 1.0, "CFM": 1.0, "GPM": 0.01, "fraction": 0.01, "rev/s": 0.1, "W": 0.05, "%RH": 1.0}
# numerically saturated in the original run (outdoor air of thousands of CFM): reported separately
APART = "FCU_OADMPRStuck_100"
OPEN = 0.001  # an hour counts as heating or cooling if the mean valve command is above this

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Annual mean and standard deviation of the 29 signals, in the data set's units."""

    mean: Floats
    std: Floats


@dataclass(frozen=True, slots=True)
class Comparison:
    """One case and signal: how far the simulated year is from the published one."""

    case: str
    signal: str
    deviation: float  # of the mean, in fault-free standard deviations
    std_ratio: float
    moved: bool  # the real fault moves this signal
    apart: bool

    @property
    def mean_within(self) -> bool:
        return abs(self.deviation) <= MEAN_LIMIT

    @property
    def std_within(self) -> bool:
        return RATIO_LIMITS[0] <= self.std_ratio <= RATIO_LIMITS[1]


@dataclass(frozen=True, slots=True)
class HourlyFit:
    """How well the fault-free year fits hour by hour: errors in kelvin, and hours with an open valve."""

    rmse_operate: Mapping[str, float]
    rmse_all: Mapping[str, float]
    heating_hours: tuple[int, int]  # simulated, published
    cooling_hours: tuple[int, int]
    simulated: Floats  # [hours, signals], data set units
    published: Floats

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for JSON, in the data set's degF and in kelvin."""
        return {
            "rmse_operate_degF": {name: round(1.8 * value, 4) for name, value in self.rmse_operate.items()},
            "rmse_all_degF": {name: round(1.8 * value, 4) for name, value in self.rmse_all.items()},
            "rmse_operate_K": {name: round(value, 4) for name, value in self.rmse_operate.items()},
            "heating_hours": dict(zip(("simulated", "published"), self.heating_hours, strict=True)),
            "cooling_hours": dict(zip(("simulated", "published"), self.cooling_hours, strict=True)),
        }


@dataclass(frozen=True, slots=True)
class Calibration:
    """All comparisons, and the hourly fit if an hourly file was given."""

    rows: tuple[Comparison, ...]
    hourly: HourlyFit | None = None

    def summary(self) -> dict[str, Any]:
        """Return the shares within limits; the saturated case is reported separately."""
        main = [row for row in self.rows if not row.apart]
        fault_free = [row for row in main if row.case == FAULT_FREE]
        summary = shares(main)
        summary["fault_free_mean_within"] = _share(row.mean_within for row in fault_free)
        summary["fault_free_std_within"] = _share(row.std_within for row in fault_free)
        if apart := [row for row in self.rows if row.apart]:
            summary["apart"] = {APART: shares(apart)}
            summary["with_apart"] = shares(self.rows)
        if self.hourly:
            summary["hourly"] = self.hourly.as_dict()
        return summary

    def as_dict(self) -> dict[str, Any]:
        """Return summary and comparisons, ready for JSON."""
        return {"summary": self.summary(), "rows": [asdict(row) for row in self.rows]}


def shares(rows: Iterable[Comparison]) -> dict[str, Any]:
    """Return the number of pairs and the shares within limits, over all pairs and over the moved ones."""
    every = list(rows)
    moved = [row for row in every if row.moved]
    return {
        "pairs": len(every),
        "share_mean_within": _share(row.mean_within for row in every),
        "share_std_within": _share(row.std_within for row in every),
        "moved_pairs": len(moved),
        "moved_mean_within": _share(row.mean_within for row in moved),
        "moved_std_within": _share(row.std_within for row in moved),
    }


def _share(flags: Iterable[bool]) -> float | None:
    values = list(flags)
    return round(sum(values) / len(values), 4) if values else None


def read_statistics(mean: Path, std: Path) -> dict[str, Statistics]:
    """Read the two published tables: a `case` column and one column per signal."""
    means, stds = _read_table(mean), _read_table(std)
    if means.keys() != stds.keys():
        raise DataError(f"{std}: cases differ from {mean}: {sorted(means.keys() ^ stds.keys())}")
    if FAULT_FREE not in means:
        raise DataError(f"{mean}: no row {FAULT_FREE}, whose standard deviation is the unit of comparison")
    if unknown := sorted(means.keys() - SETTINGS.keys()):
        raise DataError(f"{mean}: unknown cases {unknown}; `graphghha cases` lists the known ones")
    return {case: Statistics(means[case], stds[case]) for case in means}


def _read_table(path: Path) -> dict[str, Floats]:
    try:
        with path.open(newline="") as file:
            reader = csv.DictReader(file)
            if missing := [name for name in ("case", *NAMES) if name not in (reader.fieldnames or ())]:
                raise SchemaError(f"{path}: missing columns {missing}")
            return {row["case"]: np.array([float(row[name]) for name in NAMES]) for row in reader}
    except (OSError, ValueError, TypeError) as exc:
        if isinstance(exc, SchemaError):
            raise
        raise DataError(f"{path}: not a readable table of statistics: {exc}") from exc


def read_hourly(path: Path) -> Floats:
    """Read the published fault-free year [hours, signals], in the data set's units."""
    table = read_table(path, NAMES)
    hourly = np.stack([numbers(table, name, path) for name in NAMES], axis=1)
    if len(hourly) != HOURS:
        raise DataError(f"{path}: {len(hourly)} rows; the hourly means of 2018 are {HOURS} rows from 1 January")
    if (bad := np.argwhere(~np.isfinite(hourly))).size:
        row, signal = bad[0]
        raise DataError(f"{path}: row {row + 1}: {NAMES[signal]} is missing; fill the gaps first")
    return hourly


def year_statistics(case: str, weather: Weather) -> tuple[Statistics, Floats]:
    """Simulate a case for a year on the reference unit without noise; return its statistics and hourly means."""
    attacks = () if case == FAULT_FREE else (WholeRun(case),)
    building = Building(weather=weather, start=YEAR_START, noise=False, nominal=True, attacks=attacks, spin_up_days=0)
    total, square = np.zeros(NUM_SIGNALS), np.zeros(NUM_SIGNALS)
    hourly = np.empty((YEAR_DAYS, 24, NUM_SIGNALS))
    origin: Floats | None = None
    for number, chunk in enumerate(building.days(YEAR_DAYS)):
        day = chunk.telemetry[0]
        # sums of differences from the first value: a constant has a standard deviation of exactly zero
        origin = day[0].copy() if origin is None else origin
        difference = day - origin
        total += difference.sum(axis=0)
        square += (difference * difference).sum(axis=0)
        hourly[number] = day.reshape(24, 60, NUM_SIGNALS).mean(axis=1)
    assert origin is not None
    count = YEAR_DAYS * 1440
    mean = total / count
    std = np.sqrt(np.maximum(square / count - mean * mean, 0.0))
    return Statistics(from_si(mean + origin), std / SOURCE_SCALE), from_si(hourly.reshape(-1, NUM_SIGNALS))


def compare(case: str, simulated: Statistics, published: Statistics, fault_free: Statistics) -> list[Comparison]:
    """Compare a simulated year of one case with the published one, signal by signal."""
    rows = []
    for signal, name in enumerate(NAMES):
        unit = fault_free.std[signal] or FLOORS[SOURCE_UNITS[signal]]
        shift = abs(published.mean[signal] - fault_free.mean[signal]) / unit
        change = std_ratio(published.std[signal], fault_free.std[signal])
        rows.append(
            Comparison(
                case,
                name,
                float((simulated.mean[signal] - published.mean[signal]) / unit),
                std_ratio(simulated.std[signal], published.std[signal]),
                bool(shift > MEAN_LIMIT or not RATIO_LIMITS[0] <= change <= RATIO_LIMITS[1]),
                case == APART,
            )
        )
    return rows


def std_ratio(ours: float, theirs: float) -> float:
    """Return the ratio of standard deviations: 1 for two zeros, large but finite against a zero."""
    if ours < 1e-6 and theirs < 1e-6:
        return 1.0
    return float(np.clip(ours / max(theirs, 1e-12), 0.0, 1e6))


def hourly_fit(simulated: Floats, published: Floats) -> HourlyFit:
    """Return the errors of the fault-free year against the hourly file; operate hours are weekdays, 07h to 17h."""
    hours = np.arange(len(published))
    operate = (hours // 24 % 7 < 5) & (hours % 24 >= 7) & (hours % 24 <= 17)
    errors = {name: (simulated - published)[:, INDEX[name]] / 1.8 for name in ("RM_TEMP", "FCU_DAT", "FCU_MAT")}

    def open_hours(name: str) -> tuple[int, int]:
        return tuple(int((side[operate, INDEX[name]] > OPEN).sum()) for side in (simulated, published))  # type: ignore[return-value]

    return HourlyFit(
        {name: float(np.sqrt((error[operate] ** 2).mean())) for name, error in errors.items()},
        {name: float(np.sqrt((error**2).mean())) for name, error in errors.items()},
        open_hours("FCU_HVLV_DM"),
        open_hours("FCU_CVLV_DM"),
        simulated,
        published,
    )


def calibrate(
    mean: Path,
    std: Path,
    weather: Path,
    hourly: Path | None = None,
    *,
    progress: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> Calibration:
    """Simulate every case of the published tables for a year and compare."""
    published = read_statistics(mean, std)
    outdoors = read_weather(weather)
    reference = read_hourly(hourly) if hourly else None
    rows: list[Comparison] = []
    fit: HourlyFit | None = None
    for case in progress(list(published)):
        simulated, by_hour = year_statistics(case, outdoors)
        rows += compare(case, simulated, published[case], published[FAULT_FREE])
        if case == FAULT_FREE and reference is not None:
            fit = hourly_fit(by_hour, reference)
    return Calibration(tuple(rows), fit)
