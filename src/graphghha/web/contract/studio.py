"""The attack studio of simulated sites."""

from typing import Literal

from pydantic import Field

from graphghha.web.contract.common import Answer, Request, Time


class Case(Answer):
    """An attack that can be injected."""

    name: str = Field(examples=["cooling_valve_stuck_50"])
    title: str
    family: str
    attack_class: str
    severity: str
    targets: list[str] = Field(description="roles")
    target_names: list[str]
    equivalents: list[str] = Field(description="roles that count as a hit too")


class Cases(Answer):
    site: str
    items: list[Case]


class NewInjection(Request):
    """An attack to begin in the simulated plant."""

    case: str = Field(min_length=1, max_length=100)
    zone: str = Field(min_length=1, max_length=64)
    in_minutes: int = Field(default=1, ge=1, le=1440, description="from the plant's present time")
    minutes: int | None = Field(default=None, ge=1, le=10_080, description="null: the case's own duration")
    comment: str = Field(default="", max_length=2000)


class NewRun(Request):
    """A simulated building to begin with, instead of the present one."""

    seed: int | None = Field(default=None, ge=0, le=2**31 - 1, description="of the building; null: the present one")
    comment: str = Field(default="", max_length=2000)


class Found(Answer):
    """How an injected attack was found."""

    incident: str | None
    first_doubt: Time | None = Field(description="P of an attacked or equivalent node above 0.05")
    since: Time | None
    announced: Time | None
    minutes: float | None = Field(description="from the injection to the announcement")
    hit: Literal["that very node", "cannot be told apart", "another"] | None
    named: str | None = Field(default=None, description="the node that was named, in words", examples=["cooling valve"])


class Injection(Answer):
    """An attack in a simulated plant and what became of it."""

    id: str
    case: str
    title: str
    zone: str
    targets: list[str]
    start: Time
    end: Time | None
    by: str
    comment: str
    state: Literal["planned", "running", "over"]
    stopped_by: str | None = Field(default=None, description="who ended it before its time", examples=["m.ortiz"])
    found: Found


class Score(Answer):
    attacks: int
    found: int
    that_very_node: int
    cannot_be_told_apart: int
    another: int
    median_minutes: float | None
    false_alarms: int


class Injections(Answer):
    site: str
    as_of: Time | None
    items: list[Injection]
    score: Score
    says: str = Field(description="what these figures are not")
    can_start_over: bool = Field(default=False, description="`POST /sites/{site}/runs` begins the building anew")
