"""The life of one node's alarm as in ISA-18.2, driven by the process and by operators. Pure: no clock, no I/O.

An alarm stores the bits `active`, `unacked` and `latched` and one suspension; its state A-G is derived from them. A
suspended alarm is still evaluated, so when the suspension ends it shows the present state of the process.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Self

from graphghha._util.text import encodable
from graphghha._util.times import iso
from graphghha.errors import ConfigError, ConflictError

HOUR_MS = 3_600_000
SHELVE_DEFAULT_MS, SHELVE_MOST_MS = 8 * HOUR_MS, 24 * HOUR_MS  # one shift; a longer one needs a fresh decision
MOST_VERSION = 2**53
LATEST_MS = 253_402_300_799_999  # the end of the year 9999, after which no time can be written
_MOST_CHARACTERS = {"target": 300, "by": 100, "reason": 2_000, "token": 64, "address": 64, "wall_time": 40}
_MOST_CHARACTERS |= {"right_node": 300}
DISPOSITIONS = ("attack", "fault", "maintenance", "false")


class IsaState(StrEnum):
    """The seven alarm states, by their letters in the state diagram of ISA-18.2."""

    NORMAL = "A"
    UNACKNOWLEDGED = "B"
    ACKNOWLEDGED = "C"
    RETURNED = "D"  # to normal, unacknowledged
    SHELVED = "E"
    SUPPRESSED = "F"  # by design
    OUT_OF_SERVICE = "G"


STATE_NAMES = {
    IsaState.NORMAL: "normal",
    IsaState.UNACKNOWLEDGED: "unacknowledged",
    IsaState.ACKNOWLEDGED: "acknowledged",
    IsaState.RETURNED: "returned",
    IsaState.SHELVED: "shelved",
    IsaState.SUPPRESSED: "suppressed",
    IsaState.OUT_OF_SERVICE: "out-of-service",
}


class Suspension(StrEnum):
    """Why an alarm is kept from the operator, if it is."""

    NONE = "none"
    SHELVED = "shelved"
    SUPPRESSED = "suppressed"
    OUT_OF_SERVICE = "out-of-service"


class Verb(StrEnum):
    """What an operator can do with an alarm or an incident."""

    ACK = "ack"
    SHELVE = "shelve"
    UNSHELVE = "unshelve"
    SUPPRESS = "suppress"
    OUT_OF_SERVICE = "out-of-service"
    RETURN = "return"  # to service, from suppressed or out of service
    RESET = "reset"  # a latched alarm whose cause is gone
    DISPOSE = "dispose"  # record what an incident turned out to be
    COMMENT = "comment"  # record a remark


SUSPENSIONS = {
    IsaState.SHELVED: Suspension.SHELVED,
    IsaState.SUPPRESSED: Suspension.SUPPRESSED,
    IsaState.OUT_OF_SERVICE: Suspension.OUT_OF_SERVICE,
}
_SUSPENDED_STATES = {suspension: state for state, suspension in SUSPENSIONS.items()}
_SUSPENDING_VERBS = {
    Verb.SHELVE: Suspension.SHELVED,
    Verb.SUPPRESS: Suspension.SUPPRESSED,
    Verb.OUT_OF_SERVICE: Suspension.OUT_OF_SERVICE,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """What an operator asks for, as a value that can be stored and carried out later."""

    verb: Verb
    target: str  # an incident's id, or a node's name
    by: str
    version: int | None = None  # the version the operator acted on; None skips the check
    for_ms: int | None = None  # how long to shelve
    reason: str = ""
    disposition: str | None = None  # what an incident turned out to be
    right_node: str = ""  # with a disposition: the role of the node that it really was, if somebody knows
    at_ms: int | None = None  # when it was given, by the clock of the machine: plant time may be another
    token: str = ""  # id of the token or session by which the operator was known
    address: str = ""  # of the operator's machine
    wall_time: str = ""  # when it was asked for, by the clock of the machine that took it

    def __post_init__(self) -> None:
        for name, limit in _MOST_CHARACTERS.items():
            text = getattr(self, name)
            if not isinstance(text, str) or len(text) > limit:
                raise ConfigError(f"command: {name} must be a text of at most {limit} characters")
            object.__setattr__(self, name, encodable(text))
        for name, most in (("version", MOST_VERSION), ("for_ms", SHELVE_MOST_MS), ("at_ms", LATEST_MS)):
            number = getattr(self, name)
            if number is not None and (type(number) is not int or not 0 <= number <= most):
                raise ConfigError(f"command: {name} must be a whole number from 0 to {most}")
        if not isinstance(self.verb, Verb) or not isinstance(self.disposition, str | None):
            raise ConfigError("command: verb and disposition must be words")
        if self.verb is Verb.DISPOSE and self.disposition not in DISPOSITIONS:
            raise ConfigError(f"dispose: {self.disposition!r} must be one of {', '.join(DISPOSITIONS)}")

    @property
    def signature(self) -> dict[str, str]:
        """Return who gave the command and when, as events name it."""
        return {"by": self.by} | ({} if self.at_ms is None else {"at": iso(self.at_ms)})

    def given_at(self, at_ms: int) -> Self:
        """Return the command with the time at which it was given, if it has none yet."""
        return self if self.at_ms is not None else replace(self, at_ms=at_ms)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as plain JSON."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "")}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the command that `to_dict` wrote, or raise `ConfigError`."""
        try:
            return cls(**{**data, "verb": Verb(data["verb"])})
        except (KeyError, TypeError, ValueError) as exc:
            raise exc if isinstance(exc, ConfigError) else ConfigError(f"command: {exc}") from exc


@dataclass(frozen=True, slots=True)
class NodeAlarm:
    """The alarm of one node. `version` counts its changes; a command names the version it was decided on."""

    active: bool = False
    unacked: bool = False
    latched: bool = False
    suspension: Suspension = Suspension.NONE
    until_ms: int | None = None  # end of the shelving, in plant time
    reason: str = ""
    version: int = 0

    @property
    def state(self) -> IsaState:
        """Return the ISA-18.2 state that follows from the stored bits."""
        if self.suspension is not Suspension.NONE:
            return _SUSPENDED_STATES[self.suspension]
        if self.unacked:
            return IsaState.UNACKNOWLEDGED if self.active else IsaState.RETURNED
        return IsaState.ACKNOWLEDGED if self.active or self.latched else IsaState.NORMAL

    @property
    def is_suspended(self) -> bool:
        return self.suspension is not Suspension.NONE

    def to_dict(self) -> dict[str, Any]:
        """Return the alarm as it is kept in a checkpoint."""
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
        """Return the alarm that `to_dict` wrote."""
        return cls(**{**data, "suspension": Suspension(data["suspension"])})


def raise_alarm(alarm: NodeAlarm, *, latching: bool = False) -> NodeAlarm:
    """Return the alarm after its condition has become true."""
    return _next(alarm, active=True, unacked=True, latched=alarm.latched or latching)


def clear_alarm(alarm: NodeAlarm) -> NodeAlarm:
    """Return the alarm after its condition has become false."""
    return _next(alarm, active=False)


def is_shelving_over(alarm: NodeAlarm, now_ms: int) -> bool:
    """Return whether the alarm is still shelved although its time is up."""
    return alarm.suspension is Suspension.SHELVED and alarm.until_ms is not None and now_ms >= alarm.until_ms


def end_suspension(alarm: NodeAlarm) -> NodeAlarm:
    """Return the alarm without its suspension."""
    return _next(alarm, suspension=Suspension.NONE, until_ms=None, reason="")


def apply_command(
    alarm: NodeAlarm,
    verb: Verb,
    *,
    now_ms: int,
    version: int | None = None,
    for_ms: int | None = None,
    reason: str = "",
) -> NodeAlarm:
    """Return the alarm after an operator's command, or raise `ConflictError` with the reason for refusing it.

    `version=None` carries the command out whatever the alarm's version is.
    """
    if version is not None and version != alarm.version:
        raise ConflictError(
            f"you acted on version {version}, the alarm is now at version {alarm.version}; review it and retry"
        )
    if verb in _SUSPENDING_VERBS:
        return _suspend(alarm, verb, now_ms, for_ms, reason)
    match verb:
        case Verb.ACK if alarm.unacked:
            return _next(alarm, unacked=False)
        case Verb.RESET if alarm.latched and not (alarm.active or alarm.unacked):
            return _next(alarm, latched=False)
        case Verb.UNSHELVE if alarm.suspension is Suspension.SHELVED:
            return end_suspension(alarm)
        case Verb.RETURN if alarm.suspension in (Suspension.SUPPRESSED, Suspension.OUT_OF_SERVICE):
            return end_suspension(alarm)
    raise ConflictError(f"cannot {verb} an alarm that is {STATE_NAMES[alarm.state]}{_hint(alarm, verb)}")


def _suspend(alarm: NodeAlarm, verb: Verb, now_ms: int, for_ms: int | None, reason: str) -> NodeAlarm:
    if not reason.strip():
        raise ConfigError(f"{verb}: give a reason; it is recorded for the next shift")
    until_ms = None
    if verb is Verb.SHELVE:
        for_ms = SHELVE_DEFAULT_MS if for_ms is None else for_ms
        if not 0 < for_ms <= SHELVE_MOST_MS:
            raise ConfigError(
                f"shelve: {for_ms / HOUR_MS:g} h must be more than 0 h and at most {SHELVE_MOST_MS // HOUR_MS} h"
            )
        until_ms = now_ms + for_ms
    if verb is not Verb.SHELVE and alarm.suspension is _SUSPENDING_VERBS[verb]:
        raise ConflictError(f"the alarm is already {alarm.suspension}: {alarm.reason}")
    return _next(alarm, suspension=_SUSPENDING_VERBS[verb], until_ms=until_ms, reason=reason)


def _hint(alarm: NodeAlarm, verb: Verb) -> str:
    if verb is Verb.RESET and alarm.latched:
        return ": its cause is still present, or nobody has acknowledged it"
    return ""


def _next(alarm: NodeAlarm, **changes: Any) -> NodeAlarm:
    return replace(alarm, version=alarm.version + 1, **changes)
