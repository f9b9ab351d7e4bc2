"""The model in use at a site: its card, its levels, and the record of its commissioning."""

from typing import Any

from pydantic import Field

from graphghha.web.contract.common import Answer, Time
from graphghha.web.contract.incidents import EventLine


class Standing(Answer):
    """A zone that looked abnormal during commissioning, and its leading node."""

    zone: str
    node: str
    share_of_time: float


class Commissioned(Answer):
    """The record of a commissioning: where the levels come from, and what was found on the way."""

    first: str
    last: str
    days: int
    zones: list[str]
    threshold: float = Field(description="in log-odds of a zone")
    own_threshold: float = Field(description="what the site's own days asked for, before floor and cap")
    expected_false_per_day: tuple[float, float]
    standing: list[Standing] = Field(description="for much of the time: possible standing faults")
    left_out: list[Standing] = Field(description="for a time that the levels were not learned from")
    missing_points: list[str] = Field(description="without a usable reading in these days")
    reporting: dict[str, str] = Field(description="how each signal is reported, in words")


class ModelCard(Answer):
    """What is known of the model in use. Figures are those of its report card."""

    site: str
    model: str
    signed_by: str | None
    levels: dict[str, Any] = Field(description="everything that decides about alarms")
    card: str = Field(description="its card in Markdown; empty if it has none")
    figures: dict[str, Any] = Field(
        description="the model's card.json: `measured` (command, page, buildings), `card` (as shipped), "
        "`commissioned`, `shift`, `families`, as far as they were measured; empty if it has none"
    )
    commissioning: Commissioned | None = Field(description="null if the model was not commissioned at a site")
    loaded: Time | None
    changes: list[EventLine] = Field(description="model swaps, newest first")
