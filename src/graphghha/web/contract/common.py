"""What several requests and answers share."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Time = Annotated[str, Field(description="UTC", examples=["2018-07-10T17:41:00Z"])]
Role = Literal["viewer", "operator", "engineer", "admin"]
Priority = Literal["critical", "high", "medium", "low"]
State = Literal[
    "normal", "unacknowledged", "acknowledged", "returned", "shelved", "suppressed", "out-of-service", "unknown"
]
Kind = Literal["sensor", "controller", "actuator", "equipment"]
EdgeKind = Literal["comm", "phys", "near"]
Disposition = Literal["attack", "fault", "maintenance", "false"]


class Answer(BaseModel):
    """A part of an answer. Further fields may be added within version 1; clients ignore those they do not know."""

    model_config = ConfigDict(frozen=True)


class Request(BaseModel):
    """A body that is sent. Unknown fields are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Problem(Answer):
    """Why a request was refused: what is wrong, where, and what to do instead."""

    error: str = Field(description="the kind of error", examples=["ConflictError"])
    message: str = Field(examples=["you acted on version 3, the incident is now at version 7; review it and retry"])
    needs: Role | None = Field(default=None, description="the role that would be allowed to do it")
    retry_after_s: int | None = Field(default=None, description="when the same request may be sent again")
