"""What an operator asks for, as a value that can be written down and folded later."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from graphghha.alarms.lifecycle import Verb
from graphghha.errors import ConfigError

DISPOSITIONS = ("attack", "fault", "maintenance", "false")


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    verb: Verb
    target: str  # an incident's id, or a node's name
    by: str
    version: int | None = None  # the one that was looked at
    for_ms: int | None = None  # of a shelf
    reason: str = ""
    disposition: str | None = None  # what an incident turned out to be

    def __post_init__(self) -> None:
        if self.verb is Verb.DISPOSE and self.disposition not in DISPOSITIONS:
            raise ConfigError(f"dispose: {self.disposition!r} is none of {', '.join(DISPOSITIONS)}")

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in (None, "")}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        try:
            return cls(**{**data, "verb": Verb(data["verb"])})
        except (KeyError, TypeError, ValueError) as exc:
            raise ConfigError(f"command: {exc}") from exc
