"""The figures of a site: announcements, what they turned out to be, and what people found."""

from typing import Any, Literal

from pydantic import Field

from graphghha.web.contract.common import Answer, Disposition, Request, Time


class Target18(Answer):
    """A figure of ISA-18.2 beside its target."""

    key: str
    title: str
    value: float | None
    unit: str
    target: str
    is_within: bool | None = Field(description="null: not enough data")
    why: str
    number_of_target: float | None = Field(default=None, description="the largest value within the target")


class Count(Answer):
    """A node and how often it was announced."""

    name: str = Field(description="in words")
    count: int
    zone_title: str = ""
    by_disposition: dict[str, int] = {}


class Week(Answer):
    """Announcements of a week, by what they turned out to be."""

    start: Time
    real: int
    false: int
    not_judged: int


class Delays(Answer):
    """Minutes of plant time."""

    median: float
    p90: float


class Bin(Answer):
    """Incidents with p in this range that people judged."""

    low: float
    high: float
    judged: int
    real: int


class RightNode(Answer):
    """Incidents with something wrong of which people said which node it was."""

    yes: int = Field(description="it was the one that was named", examples=[33])
    of: int = Field(examples=[38])


class FoundByPeople(Answer):
    """Something that people found and the monitor did not."""

    time: Time = Field(description="when it was recorded, in plant time")
    zone_title: str = Field(examples=["Zone 40"])
    name: str = Field(description="the node in words; empty if nobody named one", examples=["heating valve"])
    disposition: Disposition
    text: str = Field(examples=["leaking valve"])
    by: str


class NewFind(Request):
    """Something that people found and the monitor did not: it counts in the figures of the site."""

    zone: str = Field(min_length=1, max_length=64, examples=["zone-40"])
    node: str | None = Field(default=None, max_length=100, description="role", examples=["FCU_HVLV"])
    disposition: Literal["attack", "fault", "maintenance"]
    text: str = Field(min_length=3, max_length=2000, description="what was found", examples=["leaking valve"])


class Kpis(Answer):
    site: str
    start: Time
    end: Time
    days: float
    rows: list[Target18]
    announced: int
    real: int
    false: int
    not_judged: int
    by_disposition: dict[str, int]
    honesty: list[Bin]
    worst_nodes: list[Count]
    weeks: list[Week] = Field(default=[], description="oldest first")
    time_to_acknowledge_min: Delays | None = None
    right_node: RightNode | None = Field(default=None, description="null: nobody said which node it was")
    found_by_people: list[FoundByPeople] = Field(default=[], description="newest first")
    figures: dict[str, Any] = Field(description="as `graphghha alarms kpi --json`")
