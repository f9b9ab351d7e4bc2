"""How a building management system reports readings: resolution, change of value, sampling, losses, missing points."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError
from graphghha.plants.fcu.attacks.hooks import MINUTES
from graphghha.plants.fcu.physics.jit import compiled
from graphghha.plants.fcu.signals import INDEX, NAMES, NUM_SIGNALS, SIGNALS

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Mode = Literal["minute", "cov", "sampled"]

# Usual increments of change-of-value reporting, by signal; a mode is reported whenever it changes.
_INCREMENT_BY_UNIT = {"degC": 0.2, "%RH": 1.0, "fraction": 0.01, "rev/s": 0.2, "W": 0.2, "mode": 0.5}
_INCREMENT_BY_NAME = {
    "RMCLGSPT": 0.05,
    "RMHTGSPT": 0.05,
    "FCU_CLG_GPM": 0.005,
    "FCU_HTG_GPM": 0.001,
    "FCU_DA_CFM": 5.0,
    "FCU_OA_CFM": 1.0,
}
INCREMENTS: Floats = np.array([_INCREMENT_BY_NAME.get(s.name) or _INCREMENT_BY_UNIT[s.unit] for s in SIGNALS])


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolution:
    """Steps to which readings are rounded; 0 leaves them as they are."""

    temperature: float = 0.0  # K, setpoints included
    humidity: float = 0.0  # %RH
    position: float = 0.0  # fraction, commands included
    air_flow: float = 0.0  # L/s

    def steps(self) -> Floats:
        """Return the step of every signal [signals]."""
        by_unit = {"degC": self.temperature, "%RH": self.humidity, "fraction": self.position}
        steps = np.array([by_unit.get(signal.unit, 0.0) for signal in SIGNALS])
        steps[[INDEX["FCU_DA_CFM"], INDEX["FCU_OA_CFM"]]] = self.air_flow
        return steps


@dataclass(frozen=True, kw_only=True, slots=True)
class Reporting:
    """What reaches a monitor. The default sends every reading of every point once a minute, unrounded."""

    mode: Mode = "minute"
    interval_min: int = 1  # between two samples, in the mode "sampled"
    increment_factor: float = 1.0  # on the usual increments, in the mode "cov"
    heartbeat_min: int = 0  # after which "cov" repeats an unchanged value; 0 means never
    resolution: Resolution = Resolution()
    loss: float = 0.0  # share of messages that never arrive
    outages_per_day: float = 0.0  # of a zone's gateway, each from ten minutes to three hours
    missing: tuple[str, ...] = ()  # points the site does not have

    def __post_init__(self) -> None:
        if unknown := [name for name in self.missing if name not in INDEX]:
            raise ConfigError(f"reporting: no point {unknown[0]!r} in the fan-coil plant; it has {', '.join(NAMES)}")
        if not 1 <= self.interval_min <= MINUTES or MINUTES % self.interval_min:
            raise ConfigError(f"reporting: an interval of {self.interval_min} minutes does not divide a day")
        if not 0 <= self.loss < 1:
            raise ConfigError(f"reporting: loss {self.loss} must be at least 0 and below 1")

    @property
    def is_ideal(self) -> bool:
        """Whether telemetry is reported exactly as it is measured."""
        return self == Reporting()

    @property
    def points(self) -> tuple[str, ...]:
        """Return the points the site has, in the order of the plant."""
        return tuple(name for name in NAMES if name not in self.missing)

    @property
    def increments(self) -> Floats:
        """Return the change [signals] below which nothing is sent; 0 outside the mode "cov"."""
        factor = self.increment_factor if self.mode == "cov" else 0.0
        increments: Floats = INCREMENTS * factor
        return increments

    def uncertainty(self) -> Floats:
        """Return the standard deviation [signals] that rounding and dead bands add; infinite for missing points."""
        spread: Floats = np.maximum(self.resolution.steps(), self.increments) / np.sqrt(12.0)
        spread[[INDEX[name] for name in self.missing]] = np.inf
        return spread


@dataclass(frozen=True, slots=True)
class Reported:
    """One day as a monitor receives it, [zones, minutes, signals]."""

    values: Floats  # last value received; NaN before the first, during outages, where a sample was lost
    sent: Bools  # whether a message arrived in this minute


class Reporter:
    """Turns measured days into reported ones; remembers what it sent last. The same seed loses the same messages."""

    def __init__(self, reporting: Reporting, zones: int, seed: int) -> None:
        self.reporting, self._seed = reporting, seed
        self._steps, self._increments = reporting.resolution.steps(), reporting.increments
        self._columns = np.array([INDEX[name] for name in reporting.missing], np.int64)
        self._last = np.full((zones, NUM_SIGNALS), np.nan)
        self._age = np.zeros((zones, NUM_SIGNALS), np.int64)

    def report(self, ordinal: int, telemetry: Floats) -> Reported:
        """Report the telemetry [zones, minutes, signals] of the day with this ordinal number."""
        values, sent = np.empty_like(telemetry), np.zeros(telemetry.shape, np.bool_)
        interval = self.reporting.interval_min if self.reporting.mode == "sampled" else 1
        is_cov = self.reporting.mode == "cov"
        for zone in range(len(telemetry)):
            rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence([self._seed, 3, zone, ordinal])))
            phase = int(np.random.default_rng([self._seed, 4, zone]).integers(interval))
            report_day(
                telemetry[zone],
                self._steps,
                self._increments,
                is_cov,
                interval,
                phase,
                self.reporting.heartbeat_min,
                self._lost(rng),
                self._silent(rng),
                self._last[zone],
                self._age[zone],
                values[zone],
                sent[zone],
            )
        values[..., self._columns] = np.nan
        sent[..., self._columns] = False
        return Reported(values, sent)

    def _lost(self, rng: np.random.Generator) -> Bools:
        """Return which messages of a day are lost [minutes, signals], or one row for none."""
        if not self.reporting.loss:
            return np.zeros((1, NUM_SIGNALS), np.bool_)
        lost: Bools = rng.random((MINUTES, NUM_SIGNALS), np.float32) < self.reporting.loss
        return lost

    def _silent(self, rng: np.random.Generator) -> Bools:
        """Return the minutes of a day in which a zone's gateway is silent [minutes]."""
        silent = np.zeros(MINUTES, np.bool_)
        for _ in range(rng.poisson(self.reporting.outages_per_day) if self.reporting.outages_per_day else 0):
            begin, length = int(rng.integers(MINUTES)), int(rng.integers(10, 180))
            silent[begin : begin + length] = True
        return silent


@compiled
def report_day(
    measured: Floats,
    steps: Floats,
    increments: Floats,
    is_cov: bool,
    interval: int,
    phase: int,
    heartbeat: int,
    lost: Bools,
    silent: Bools,
    last: Floats,
    age: NDArray[np.int64],
    values: Floats,
    sent: Bools,
) -> None:
    """Fill `values` and `sent` [minutes, signals] of one zone and day; `last` and `age` [signals] carry over."""
    lost_rows = lost.shape[0]
    for minute in range(measured.shape[0]):
        is_sample = minute % interval == phase
        for signal in range(measured.shape[1]):
            value = measured[minute, signal]
            if steps[signal] > 0.0:
                value = np.round(value / steps[signal]) * steps[signal]
            age[signal] += 1
            is_due = is_sample
            if is_cov:
                # written so that a first value, compared with NaN, is due
                is_due = not abs(value - last[signal]) < increments[signal]
                is_due = is_due or (heartbeat > 0 and age[signal] >= heartbeat)
            is_lost = lost[min(minute, lost_rows - 1), signal]
            if is_due and not is_lost and not silent[minute]:
                last[signal] = value
                age[signal] = 0
                sent[minute, signal] = True
            values[minute, signal] = last[signal]
            if silent[minute] or (is_lost and not is_cov and interval == 1):
                values[minute, signal] = np.nan
