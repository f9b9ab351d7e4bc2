"""Signals and scores over time."""

from typing import Literal

from pydantic import Field

from graphghha.web.contract.common import Answer, Time

BandKind = Literal["expected", "affected", "unsure"]


class Series(Answer):
    """One signal over time: smallest, mean and largest value per bucket, null where nothing was fresh."""

    point: str
    name: str
    unit: str
    decimals: int
    states: list[str] = []
    is_setting: bool = False
    least: list[float | None]
    mean: list[float | None]
    most: list[float | None]
    expected: list[float | None] = Field(default=[], description="empty without `band`")
    low: list[float | None] = Field(default=[], description="expected - 3 spreads, within the instrument's range")
    high: list[float | None] = []
    kind: list[BandKind | None] = Field(
        default=[], description="affected: after the onset of an incident; unsure: wider than 60 % of the range"
    )


class History(Answer):
    """Signals over time. All series share `times`."""

    site: str
    start: Time
    end: Time
    bucket_ms: int
    times: list[int] = Field(description="begin of each bucket, ms since 1970")
    series: list[Series]


class Marks(Answer):
    """An incident as a bar on a time axis."""

    id: str
    zone: str | None
    since: Time
    announced: Time | None
    closed: Time | None
    priority: str


class ScoreSeries(Answer):
    name: str = Field(description="a node, or a zone: then the largest P of its nodes")
    p: list[float | None] = Field(description="the largest P of each bucket; null: unknown")


class ScoreHistory(Answer):
    site: str
    start: Time
    end: Time
    bucket_ms: int
    times: list[int]
    series: list[ScoreSeries]
    incidents: list[Marks]
