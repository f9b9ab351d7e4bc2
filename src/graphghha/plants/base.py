"""A plant as a value: its template graph, signals, sampling step, attack catalogue and advice to operators."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from graphghha._util.suggest import did_you_mean
from graphghha.errors import ConfigError, NotFoundError
from graphghha.graph import CpsGraph

STEPS_OF_RANGE = 500  # the resolution of a signal without noise, as a share of its range
ZERO_SHARE = 0.01  # of its range, by which a quantity that cannot be negative may read below zero
UNKNOWN_DECIMALS = 2
_SYMBOLS = {"degC": "°C", "degF": "°F"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    """A measured quantity, in SI. `noise` is the standard deviation of its sensor noise.

    A signal whose readings are a few whole numbers has a name for each of them: `states[0]` is the meaning of `low`.
    """

    name: str
    meaning: str
    unit: str
    low: float  # the range of the instrument
    high: float
    noise: float
    states: tuple[str, ...] = ()

    @property
    def decimals(self) -> int:
        """Return the number of significant decimals: the last one is not finer than the noise."""
        resolution = self.noise or (self.high - self.low) / STEPS_OF_RANGE
        if not (math.isfinite(resolution) and resolution > 0):  # neither noise nor limits are known, or one state
            return UNKNOWN_DECIMALS
        return max(0, math.floor(-math.log10(resolution) + 1e-9))

    @property
    def least(self) -> float:
        """Return the lowest value that the quantity can have: a range that begins just below zero allows for noise."""
        return 0.0 if -ZERO_SHARE * (self.high - self.low) <= self.low < 0 else self.low

    def format_reading(self, value: float) -> str:
        """Return a reading for people, such as `44%`, `22.5 °C` or `setback`."""
        if self.states:
            position = min(max(round(value - self.low), 0), len(self.states) - 1)
            return self.states[position]
        value = round(value, self.decimals) + 0.0  # adding zero turns -0.0 into 0.0
        if self.unit == "fraction":
            return f"{value:.{max(0, self.decimals - 2)}%}"
        return f"{value:.{self.decimals}f} {_SYMBOLS.get(self.unit, self.unit)}".rstrip()


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseInfo:
    """One case of an attack catalogue: which nodes it attacks, how, and which nodes show the same telemetry."""

    name: str
    family: str
    attack_class: str  # actuator | sensor | controller
    targets: tuple[str, ...]  # node names in the template
    severity: str = ""
    equivalent: tuple[str, ...] = ()  # further nodes that count as a hit: within noise, the telemetry is the same
    alike: tuple[str, ...] = ()  # further nodes that count as a hit: at another severity, the telemetry is the same
    meaning: str = ""
    same_as: str = ""  # the case that does the same for another duration

    @property
    def attack(self) -> str:
        """The name of the attack, which is the same for cases that differ only in their duration."""
        return self.same_as or self.name

    @property
    def hits(self) -> tuple[str, ...]:
        """The nodes beside the targets that count as a hit, since no reading tells them apart from the targets."""
        return tuple(dict.fromkeys((*self.equivalent, *self.alike)))


CASE_NOTATION = "NAME@ZONE,start=2018-07-02T09:00,for=6h[,ramp=30m]"
SUSTAINED = timedelta.max  # the duration of an attack that lasts to the end of the run
LONGEST = timedelta(days=36525)
_MINUTE = timedelta(minutes=1)
_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseSpec:
    """One case of a catalogue on one zone from a start time on, as `--case` of the command line gives it.

    `CaseSpec.parse` reads the notation and `str` writes it. Whether the case and the zone exist is checked by the
    plant's testbed. A duration or ramp of None is the case's own. Times are whole minutes.
    """

    name: str
    zone: str  # its name, or its number counted from 1
    start: datetime
    duration: timedelta | None = None
    ramp: timedelta | None = None
    on: tuple[str, ...] = ()  # the signals of a case that leaves the choice open

    def __post_init__(self) -> None:
        if self.start.tzinfo is not None:
            raise ConfigError(f"case {self.name}: start {self.start.isoformat()} must not name a time zone")
        if self.start.second or self.start.microsecond:
            raise ConfigError(f"case {self.name}: start {self.start.isoformat()} must be a whole minute")
        for option, value in (("for", self.duration), ("ramp", self.ramp)):
            if value is None or (option == "for" and value == SUSTAINED):
                continue
            if value < timedelta(0):
                raise ConfigError(f"case {self.name}: {option} = {value} is negative")
            if value > LONGEST:
                raise ConfigError(f"case {self.name}: {option} = {value} is longer than a century; use for=sustained")
            if value % _MINUTE:
                raise ConfigError(f"case {self.name}: {option} = {value} must be whole minutes")
        if self.duration == timedelta(0):
            raise ConfigError(f"case {self.name}: for = 0m is too short; use for=sustained for an attack without end")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `NAME@ZONE,start=...` with the options `for`, `ramp` and `on=A+B`."""
        head, *options = (part.strip() for part in text.split(","))
        name, at, zone = head.rpartition("@")
        if not at:
            raise ConfigError(f"case {text!r}: no zone; write {CASE_NOTATION}")
        fields: dict[str, str] = {}
        for option in options:
            key, equals, value = option.partition("=")
            if not equals or key not in ("start", "for", "ramp", "on"):
                raise ConfigError(f"case {text!r}: cannot read {option!r}; write {CASE_NOTATION}")
            if key in fields:
                raise ConfigError(f"case {text!r}: {key} is given twice")
            fields[key] = value
        if "start" not in fields:
            raise ConfigError(f"case {text!r}: no start; write {CASE_NOTATION}")
        return cls(
            name=name,
            zone=zone,
            start=_parse_start(fields["start"], text),
            duration=SUSTAINED if fields.get("for") == "sustained" else _parse_duration(fields.get("for"), text),
            ramp=_parse_duration(fields.get("ramp"), text),
            on=tuple(fields["on"].split("+")) if "on" in fields else (),
        )

    def __str__(self) -> str:
        parts = [f"{self.name}@{self.zone}", f"start={self.start.isoformat(timespec='minutes')}"]
        if self.duration is not None:
            parts.append(f"for={_format_duration(self.duration)}")
        if self.ramp is not None:
            parts.append(f"ramp={_format_duration(self.ramp)}")
        if self.on:
            parts.append(f"on={'+'.join(self.on)}")
        return ",".join(parts)


def _parse_start(value: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise ConfigError(f"case {text!r}: start {value!r} is not a time like 2018-07-02T09:00") from None


def _parse_duration(value: str | None, text: str) -> timedelta | None:
    if value is None:
        return None
    match = _DURATION.fullmatch(value)
    if not value or match is None:
        raise ConfigError(f"case {text!r}: {value!r} is not a duration like 30m, 6h, 1h30m or 2d")
    try:
        days, hours, minutes = (int(group or 0) for group in match.groups())
        return timedelta(days=days, hours=hours, minutes=minutes)
    except (OverflowError, ValueError):  # Python refuses to read very many digits
        raise ConfigError(f"case {text!r}: {value[:40]!r} is longer than a century; use for=sustained") from None


def _format_duration(value: timedelta) -> str:
    if value == SUSTAINED:
        return "sustained"
    minutes = value // _MINUTE
    parts = ((minutes // 1440, "d"), (minutes % 1440 // 60, "h"), (minutes % 60, "m"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0m"


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """What an incident says about a node to the operator: its name, how its readings are off, and what to do.

    Techniques are the ATT&CK for ICS ids that an attack through this node would be consistent with, the current id
    before the one it replaced. Physical tampering has none, because that catalogue does not cover it.
    """

    name: str
    action: str
    priority: str = "medium"  # low | medium | high
    techniques: tuple[str, ...] = ()
    low: str = "reads low"  # shown when a reading is below what the neighbouring nodes imply
    high: str = "reads high"
    is_opening: bool = False  # its reading is how far it is open
    twin: str = ""  # role of the sensor that reads nearly the same


@dataclass(frozen=True, kw_only=True, slots=True)
class Showcase:
    """A day for demonstrations: a building, the date, and the attacks of that day."""

    zones: int
    day: datetime
    begin_min: int  # minute of the day at which the demonstration begins
    cases: tuple[CaseSpec, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """The conventions of a plant's published files, which are recognized by their time column and its format."""

    time_column: str
    time_format: str
    units: Mapping[str, str]  # signal name -> unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Reporting:
    """How the readings of one point of a plant of the user's own come in."""

    column: str  # in files; also the name that sources are searched for
    alias: str  # copy and role in the plant file
    stale_after_s: float
    is_held: bool  # reports on change: silence means unchanged
    encoding: str = ""
    words: Mapping[str, float] = field(default_factory=dict)  # further words of states, and their codes
    resolution: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plant:
    """A physical system with its template graph and signals.

    The graph of a plant of the user's own, which was read from a `text` in TOML, is the whole plant, not a template.
    """

    name: str
    title: str
    template: CpsGraph
    signals: tuple[Signal, ...]
    step_s: float
    cases: Mapping[str, CaseInfo] = field(default_factory=dict)
    showcase: Showcase | None = None
    dialects: tuple[Dialect, ...] = ()
    advice: Mapping[str, Advice] = field(default_factory=dict)  # by role
    main_value: tuple[str, ...] = ()  # the role people ask for first, and those of its setpoints
    text: str = ""
    reporting: Mapping[str, Reporting] = field(default_factory=dict)  # by node
    time_zone: str | None = None
    dates: str = ""  # the order of day and month in its files, where a file may not show it
    label_columns: tuple[str, ...] = ()

    @property
    def is_own(self) -> bool:
        """Whether the plant was described by its user, and is not built in."""
        return bool(self.text)

    def building(self, zones: int) -> CpsGraph:
        """Return the graph of this many zones; a plant of the user's own is one whole."""
        return self.template if self.is_own else self.template.replicate(zones)

    @property
    def steps_per_day(self) -> int:
        """The number of readings of a signal in one day."""
        return round(86_400 / self.step_s)

    def advise(self, role: str) -> Advice:
        """Return the plant's advice about nodes of this role, or a general one if the plant has none."""
        name = role if self.is_own else role.replace("_", " ")  # users know their points by their names
        return self.advice.get(role) or Advice(name=name, action=f"Compare {name} with a local reading on site.")

    def signal(self, name: str) -> Signal:
        """Return the signal of this name."""
        for signal in self.signals:
            if signal.name == name:
                return signal
        known = [signal.name for signal in self.signals]
        raise NotFoundError(f"plant {self.name!r} has no signal {name!r}{did_you_mean(name, known)}")


def choose_cases(plant: Plant, *, family: str | None = None, attack_class: str | None = None) -> list[CaseInfo]:
    """Return the cases of a plant, all or those of one family or class."""
    families = sorted({case.family for case in plant.cases.values()})
    if family is not None and family not in families:
        raise NotFoundError(f"plant {plant.name!r} has no family {family!r}; it has {', '.join(families)}")
    return [
        case
        for case in plant.cases.values()
        if family in (None, case.family) and attack_class in (None, case.attack_class)
    ]
