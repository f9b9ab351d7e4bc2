"""The life of one node's alarm after ISA-18.2: what the process says, what the operator says. Pure: no clock, no I/O.

Stored are the bits `active`, `unacked` and `latched` and one suspension; the letter A-G is derived. A suspended alarm
is still evaluated: when the suspension ends it shows where the process stands by then.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

from graphghha.errors import ConfigError, ConflictError

HOUR_MS = 3_600_000
SHELVE_DEFAULT_MS, SHELVE_MOST_MS = 8 * HOUR_MS, 24 * HOUR_MS  # one shift; more needs a fresh decision


class Letter(StrEnum):
    """The seven states, by the letters of the standard's diagram."""

    NORMAL = "A"
    UNACKNOWLEDGED = "B"
    ACKNOWLEDGED = "C"
    RETURNED = "D"  # to normal, unacknowledged
    SHELVED = "E"
    SUPPRESSED = "F"  # by design
    OUT_OF_SERVICE = "G"


WORDS = {
    Letter.NORMAL: "normal",
    Letter.UNACKNOWLEDGED: "unacknowledged",
    Letter.ACKNOWLEDGED: "acknowledged",
    Letter.RETURNED: "returned",
    Letter.SHELVED: "shelved",
    Letter.SUPPRESSED: "suppressed",
    Letter.OUT_OF_SERVICE: "out-of-service",
}


class Suspension(StrEnum):
    NONE = "none"
    SHELVED = "shelved"
    SUPPRESSED = "suppressed"
    OUT_OF_SERVICE = "out-of-service"


class Verb(StrEnum):
    """What can be asked of an alarm."""

    ACK = "ack"
    SHELVE = "shelve"
    UNSHELVE = "unshelve"
    SUPPRESS = "suppress"
    OUT_OF_SERVICE = "out-of-service"
    RETURN = "return"  # to service, from suppressed or out of service
    RESET = "reset"  # a latched alarm whose cause is gone
    DISPOSE = "dispose"  # of an incident: what it turned out to be


_LETTERS = {
    Suspension.SHELVED: Letter.SHELVED,
    Suspension.SUPPRESSED: Letter.SUPPRESSED,
    Suspension.OUT_OF_SERVICE: Letter.OUT_OF_SERVICE,
}
_ENTERS = {
    Verb.SHELVE: Suspension.SHELVED,
    Verb.SUPPRESS: Suspension.SUPPRESSED,
    Verb.OUT_OF_SERVICE: Suspension.OUT_OF_SERVICE,
}


@dataclass(frozen=True, slots=True)
class NodeAlarm:
    """`version` counts the changes: who asks for something says which version was looked at."""

    active: bool = False
    unacked: bool = False
    latched: bool = False
    suspension: Suspension = Suspension.NONE
    until_ms: int | None = None  # of a shelf, in plant time
    reason: str = ""
    version: int = 0

    @property
    def letter(self) -> Letter:
        if self.suspension is not Suspension.NONE:
            return _LETTERS[self.suspension]
        if self.unacked:
            return Letter.UNACKNOWLEDGED if self.active else Letter.RETURNED
        return Letter.ACKNOWLEDGED if self.active or self.latched else Letter.NORMAL

    @property
    def is_suspended(self) -> bool:
        return self.suspension is not Suspension.NONE

    @property
    def is_at_rest(self) -> bool:
        """Nothing about it is worth remembering but its version."""
        return self.letter is Letter.NORMAL

    def to_dict(self) -> dict[str, Any]:
        return {
            "active": self.active,
            "unacked": self.unacked,
            "latched": self.latched,
            "suspension": str(self.suspension),
            "until_ms": self.until_ms,
            "reason": self.reason,
            "version": self.version,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(**{**data, "suspension": Suspension(data["suspension"])})


def raised(alarm: NodeAlarm, *, latching: bool = False) -> NodeAlarm:
    """The condition became true."""
    return _next(alarm, active=True, unacked=True, latched=alarm.latched or latching)


def cleared(alarm: NodeAlarm) -> NodeAlarm:
    """The condition became false."""
    return _next(alarm, active=False)


def expired(alarm: NodeAlarm, now_ms: int) -> bool:
    """A shelf whose time is up."""
    return alarm.suspension is Suspension.SHELVED and alarm.until_ms is not None and now_ms >= alarm.until_ms


def unsuspended(alarm: NodeAlarm) -> NodeAlarm:
    return _next(alarm, suspension=Suspension.NONE, until_ms=None, reason="")


def commanded(
    alarm: NodeAlarm,
    verb: Verb,
    *,
    now_ms: int,
    version: int | None = None,
    for_ms: int | None = None,
    reason: str = "",
) -> NodeAlarm:
    """What an operator asked for, or a `ConflictError` that says why not. `version=None` asks without looking."""
    if version is not None and version != alarm.version:
        raise ConflictError(f"it has changed: version {version} was looked at, now it is {alarm.version}; look again")
    if verb in _ENTERS:
        return _suspended(alarm, verb, now_ms, for_ms, reason)
    match verb:
        case Verb.ACK if alarm.unacked:
            return _next(alarm, unacked=False)
        case Verb.RESET if alarm.latched and not (alarm.active or alarm.unacked):
            return _next(alarm, latched=False)
        case Verb.UNSHELVE if alarm.suspension is Suspension.SHELVED:
            return unsuspended(alarm)
        case Verb.RETURN if alarm.suspension in (Suspension.SUPPRESSED, Suspension.OUT_OF_SERVICE):
            return unsuspended(alarm)
    raise ConflictError(f"cannot {verb} an alarm that is {WORDS[alarm.letter]}{_hint(alarm, verb)}")


def _suspended(alarm: NodeAlarm, verb: Verb, now_ms: int, for_ms: int | None, reason: str) -> NodeAlarm:
    if not reason.strip():
        raise ConfigError(f"{verb}: give a reason; the next shift will ask")
    until_ms = None
    if verb is Verb.SHELVE:
        for_ms = SHELVE_DEFAULT_MS if for_ms is None else for_ms
        if not 0 < for_ms <= SHELVE_MOST_MS:
            raise ConfigError(f"shelve: {for_ms / HOUR_MS:g} h; more than 0 h and at most {SHELVE_MOST_MS // HOUR_MS}")
        until_ms = now_ms + for_ms
    if verb is not Verb.SHELVE and alarm.suspension is _ENTERS[verb]:
        raise ConflictError(f"it is {alarm.suspension} already: {alarm.reason}")
    return _next(alarm, suspension=_ENTERS[verb], until_ms=until_ms, reason=reason)


def _hint(alarm: NodeAlarm, verb: Verb) -> str:
    if verb is Verb.RESET and alarm.latched:
        return ": its cause stands or nobody acknowledged it"
    return ""


def _next(alarm: NodeAlarm, **changes: Any) -> NodeAlarm:
    return replace(alarm, version=alarm.version + 1, **changes)
