"""What an attacker can do to a zone, one small class each. Effects edit the plant's hooks and can be combined.

A new attack is a class with an `edit` method here, and a row in the catalogue.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError
from graphghha.plants.fcu.attacks.hooks import HOLD, HOOKS, MINUTES, Day, ZoneHooks
from graphghha.plants.fcu.signals import INDEX

Floats = NDArray[np.float64]

# these hooks are either on or off: a ramp does not apply to them
SWITCHES = frozenset({"cooling_reverse", "heating_reverse", "interlock_off"})


@dataclass(frozen=True, slots=True)
class Span:
    """The minutes of one day in which an attack acts."""

    day: Day
    minutes: slice
    elapsed_min: Floats  # since the onset, one per minute of the slice
    strength: Floats  # 0-1, follows the ramp


class Attack(Protocol):
    """Edits the hooks of the attacked zone in the minutes of a span."""

    def edit(self, hooks: ZoneHooks, span: Span) -> None: ...


@dataclass(frozen=True, slots=True)
class SetHooks:
    """Set hooks of the plant: stuck and leaking actuators, fouled coils, obstructed air, altered control."""

    settings: Mapping[str, float]

    def edit(self, hooks: ZoneHooks, span: Span) -> None:
        for name, value in self.settings.items():
            column = hooks.hook(name)[span.minutes]
            neutral = HOOKS[name]
            if np.isnan(neutral) or name in SWITCHES:
                column[:] = value
            elif neutral == 1.0:
                column *= 1.0 + span.strength * (value - 1.0)
            elif name.endswith("_offset"):
                column += span.strength * value
            else:
                np.maximum(column, span.strength * value, out=column)


@dataclass(frozen=True, slots=True)
class Bias:
    """A constant added to a reading."""

    signal: str
    amount: float

    def edit(self, hooks: ZoneHooks, span: Span) -> None:
        hooks.offset(self.signal)[span.minutes] += span.strength * self.amount


@dataclass(frozen=True, slots=True)
class Drift:
    """An offset on a reading that grows from zero at a constant rate and stops at a limit."""

    signal: str
    per_hour: float
    limit: float

    def edit(self, hooks: ZoneHooks, span: Span) -> None:
        grown = np.minimum(np.abs(self.per_hour) * (span.elapsed_min + 1.0) / 60.0, self.limit)
        hooks.offset(self.signal)[span.minutes] += np.sign(self.per_hour) * grown


@dataclass(frozen=True, slots=True)
class Saturate:
    """A reading held at one value, usually an end of the instrument's range."""

    signal: str
    value: float

    def edit(self, hooks: ZoneHooks, span: Span) -> None:
        hooks.override(self.signal)[span.minutes] = self.value


@dataclass(frozen=True, slots=True)
class Hold:
    """A reading that stays at its last value from the onset on."""

    signal: str

    def edit(self, hooks: ZoneHooks, span: Span) -> None:
        hooks.override(self.signal)[span.minutes] = HOLD


@dataclass(frozen=True, slots=True)
class Scale:
    """A reading multiplied by a factor, temperatures around 20 degC."""

    signal: str
    factor: float

    def edit(self, hooks: ZoneHooks, span: Span) -> None:
        hooks.scale(self.signal)[span.minutes] *= 1.0 + span.strength * (self.factor - 1.0)


@dataclass(frozen=True, slots=True)
class Noise:
    """Random noise added to a reading, fresh every minute; the seed makes it reproducible."""

    signal: str
    spread: float
    seed: int

    def edit(self, hooks: ZoneHooks, span: Span) -> None:
        rng = np.random.default_rng([self.seed, span.day.start.toordinal()])
        added = rng.standard_normal(MINUTES)[span.minutes]
        hooks.offset(self.signal)[span.minutes] += span.strength * self.spread * added


@dataclass(frozen=True, slots=True)
class Swing:
    """A sine added to a reading."""

    signal: str
    amplitude: float
    period_min: float

    def edit(self, hooks: ZoneHooks, span: Span) -> None:
        swing = self.amplitude * np.sin(2.0 * np.pi * (span.elapsed_min + 1.0) / self.period_min)
        hooks.offset(self.signal)[span.minutes] += span.strength * swing


@dataclass(frozen=True, slots=True)
class Oscillate:
    """A sine on `_offset` hooks: setpoints and commands that swing."""

    hooks: tuple[str, ...]
    amplitude: float
    period_min: float

    def edit(self, hooks: ZoneHooks, span: Span) -> None:
        swing = self.amplitude * np.sin(2.0 * np.pi * (span.elapsed_min + 1.0) / self.period_min)
        for name in self.hooks:
            hooks.hook(name)[span.minutes] += span.strength * swing


@dataclass(frozen=True, slots=True)
class FalseCommand:
    """An offset between a controller and its drive: the drive follows it, the reported command does not show it."""

    hook: str
    command: str  # the signal that reports the controller's own command, without the offset
    amount: float

    def edit(self, hooks: ZoneHooks, span: Span) -> None:
        hooks.hook(self.hook)[span.minutes] += span.strength * self.amount


@dataclass(slots=True)
class Replay:
    """Plays back readings of the last clean day before the onset that was of the same kind, workday or weekend."""

    signals: tuple[str, ...]
    zone: int = -1  # set when the attack is scheduled
    recorded: dict[bool, Floats] = field(default_factory=dict)  # workday -> [minutes, chosen signals]

    def observe(self, day: Day, telemetry: Floats) -> None:
        """Record the chosen signals of a clean day."""
        columns = [INDEX[name] for name in self.signals]
        self.recorded[_is_workday(day)] = telemetry[self.zone][:, columns].copy()

    def edit(self, hooks: ZoneHooks, span: Span) -> None:
        if not self.recorded:
            raise ConfigError(
                f"replay on {span.day.start:%Y-%m-%d}: there is no earlier day to replay; start it a day later"
            )
        kind = _is_workday(span.day)
        recording = self.recorded[kind if kind in self.recorded else not kind]
        for column, name in enumerate(self.signals):
            hooks.override(name)[span.minutes] = recording[span.minutes, column]


@dataclass(frozen=True, slots=True)
class Together:
    """Several attacks at the same time: a coordinated attack."""

    parts: tuple[Attack, ...]

    def edit(self, hooks: ZoneHooks, span: Span) -> None:
        for part in self.parts:
            part.edit(hooks, span)


def find_replays(attack: Attack) -> list[Replay]:
    """Return the parts of an attack that must record a day before they act."""
    if isinstance(attack, Together):
        return [replay for part in attack.parts for replay in find_replays(part)]
    return [attack] if isinstance(attack, Replay) else []


def held_values(attack: Attack) -> dict[str, float]:
    """Return the hooks and readings that an attack holds, and their values; NaN for a replay, which equals nothing."""
    if isinstance(attack, Together):
        return {name: value for part in attack.parts for name, value in held_values(part).items()}
    if isinstance(attack, SetHooks):
        return {name: value for name, value in attack.settings.items() if np.isnan(HOOKS[name])}
    if isinstance(attack, Saturate):
        return {f"reading {attack.signal}": attack.value}
    if isinstance(attack, Hold):
        return {f"reading {attack.signal}": float("nan")}
    return {f"reading {name}": float("nan") for replay in find_replays(attack) for name in replay.signals}


def _is_workday(day: Day) -> bool:
    return day.start.weekday() < 5
