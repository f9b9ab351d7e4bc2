"""What a plant is: a value, not a code path. Template graph, signals, sampling step, attack catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from graphghha.errors import NotFoundError
from graphghha.graph import CpsGraph


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    """A measured quantity, in SI. `noise` is the standard deviation of its sensor noise.

    A signal that is one of a few whole numbers names them: `states[0]` is what `low` means.
    """

    name: str
    meaning: str
    unit: str
    low: float  # what the instrument can report
    high: float
    noise: float
    states: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseInfo:
    """One row of an attack catalogue: what is attacked, how, and what it cannot be told apart from."""

    name: str
    family: str
    attack_class: str  # actuator | sensor | controller
    targets: tuple[str, ...]  # node names in the template
    severity: str = ""
    equivalent: tuple[str, ...] = ()  # further nodes that count as a hit: same telemetry within noise
    meaning: str = ""
    same_as: str = ""  # the case that does the very same thing, only for longer or shorter

    @property
    def attack(self) -> str:
        """The name of what is done: equal for cases that differ in nothing but their duration."""
        return self.same_as or self.name


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """What an operator should hear about a node: its name in words, what its readings look like, what to do.

    Techniques are ATT&CK for ICS ids an attack through this node would be consistent with, today's id before the
    one it replaced; none for physical tampering, which that catalogue does not know.
    """

    name: str
    action: str
    priority: str = "medium"  # low | medium | high
    techniques: tuple[str, ...] = ()
    low: str = "reads low"  # its reading is below what its neighbours imply
    high: str = "reads high"


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """A showcase: a building, a day, and the attacks of that day (case specifications)."""

    zones: int
    day: datetime
    begin_min: int  # minute of the day at which watching begins
    cases: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """How published files of a plant write things: known by the name of the time column and the form of its times."""

    time_column: str
    time_format: str
    units: Mapping[str, str]  # signal name -> unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Plant:
    """A physical system with its template graph and signals."""

    name: str
    title: str
    template: CpsGraph
    signals: tuple[Signal, ...]
    step_s: float
    cases: Mapping[str, CaseInfo] = field(default_factory=dict)
    scene: Scene | None = None
    dialects: tuple[Dialect, ...] = ()
    advice: Mapping[str, Advice] = field(default_factory=dict)  # by role

    def advise(self, role: str) -> Advice:
        """The plant's own advice about a node, or what holds for any plant."""
        name = role.replace("_", " ")
        return self.advice.get(role) or Advice(name=name, action=f"Compare {name} with a local reading on site.")

    def signal(self, name: str) -> Signal:
        for signal in self.signals:
            if signal.name == name:
                return signal
        raise NotFoundError(f"plant {self.name!r} has no signal {name!r}")


def choose_cases(plant: Plant, *, family: str | None = None, attack_class: str | None = None) -> list[CaseInfo]:
    """The cases of a plant, narrowed by family or class."""
    families = sorted({case.family for case in plant.cases.values()})
    if family is not None and family not in families:
        raise NotFoundError(f"plant {plant.name!r} has no family {family!r}; it has {', '.join(families)}")
    return [
        case
        for case in plant.cases.values()
        if family in (None, case.family) and attack_class in (None, case.attack_class)
    ]
