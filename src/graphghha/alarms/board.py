"""The operator's desk of one site: alarms by node, incidents by id, what was told. Deterministic: no clock, no I/O.

The rule and the grouping say what the process does; operators say what they know; the desk folds both into facts.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Any, Self

from graphghha.alarms.command import Command
from graphghha.alarms.events import Fact, iso
from graphghha.alarms.flood import FloodRule, FloodState, Waiting, meter
from graphghha.alarms.lifecycle import (
    WORDS,
    Letter,
    NodeAlarm,
    Verb,
    cleared,
    commanded,
    expired,
    raised,
    unsuspended,
)
from graphghha.errors import ConflictError, NotFoundError

Body = dict[str, Any]

# an incident is in the first of these states that any of its alarms is in
_WORST_FIRST = (
    Letter.UNACKNOWLEDGED,
    Letter.RETURNED,
    Letter.ACKNOWLEDGED,
    Letter.SHELVED,
    Letter.SUPPRESSED,
    Letter.OUT_OF_SERVICE,
    Letter.NORMAL,
)


class Desk:
    """What the operators of one site have before them."""

    def __init__(self, nodes: Container[str], *, flood_rule: FloodRule | None = None, latching: bool = False) -> None:
        self._nodes, self._flood_rule, self._latching = nodes, flood_rule or FloodRule(), latching
        self._alarms: dict[str, NodeAlarm] = {}
        self._owner: dict[str, str] = {}  # node -> the newest incident it is part of
        self._flood = FloodState()
        self.incidents: dict[str, Body] = {}  # open ones, and closed ones nobody acknowledged

    def alarm(self, node: str) -> NodeAlarm:
        return self._alarms.get(node, NodeAlarm())

    @property
    def letters(self) -> dict[str, Letter]:
        """Of nodes that are not normal."""
        return {node: alarm.letter for node, alarm in self._alarms.items() if not alarm.is_at_rest}

    @property
    def is_flood(self) -> bool:
        return self._flood.is_flood

    def process(self, now_ms: int, rose: Mapping[str, float], fell: Iterable[str]) -> list[Fact]:
        """One step of the alarm rule: nodes that raised, with their probability, and nodes that cleared."""
        facts = []
        for node in [node for node, alarm in self._alarms.items() if expired(alarm, now_ms)]:
            facts.append(self._put(now_ms, "alarm.unshelved", node, unsuspended(self.alarm(node)), by="time"))
        for node in fell:
            facts.append(self._put(now_ms, "alarm.cleared", node, cleared(self.alarm(node))))
        for node, probability in rose.items():
            alarm = raised(self.alarm(node), latching=self._latching)
            facts.append(self._put(now_ms, "alarm.raised", node, alarm, probability=round(probability, 3)))
        return facts

    def report(self, now_ms: int, news: Iterable[tuple[Body, tuple[str, ...]]], closed: Iterable[str]) -> list[Fact]:
        """One step of the grouping: incidents that are new or have grown, with all their nodes; ids that closed."""
        facts, grown = [], []
        for body, members in news:
            self._owner.update((member, body["id"]) for member in members)
            known = self.incidents.get(body["id"])
            told = {"annunciated": None, "closed": None, "disposition": None, "version": 0}
            self.incidents[body["id"]] = told | (known or {}) | body
            grown.append(body["id"])
        for key in closed:
            if key in self.incidents:
                self.incidents[key] |= {"closed": iso(now_ms)}
        facts += self._tell(now_ms, frozenset(closed), grown)
        return facts + self._refresh(now_ms, closed)

    def let_go(self, now_ms: int) -> list[Fact]:
        """Nobody watches these alarms any more: they clear, their incidents close, acknowledgements stay owed."""
        active = [node for node, alarm in self._alarms.items() if alarm.active]
        return self.process(now_ms, {}, active) + self.report(now_ms, (), self._open())

    def apply(self, command: Command, now_ms: int, past: Body | None = None) -> list[Fact]:
        """Fold a command, or say why not. `past` is the target's last body when it has left the desk."""
        facts = [Fact(now_ms, "operator.command", command.to_dict())]
        body = self.incidents.get(command.target, past)
        if body is None:
            if command.target not in self._nodes or command.verb is Verb.DISPOSE:
                raise NotFoundError(f"no incident {command.target!r}")
            facts.append(self._command(command, command.target, now_ms, command.version))
            return facts + self._refresh(now_ms)
        if command.version is not None and command.version != body["version"]:
            raise ConflictError(
                f"{command.target} has changed: version {command.version} was looked at, now it is "
                f"{body['version']}; look again"
            )
        if command.verb is Verb.DISPOSE:
            return [*facts, self._disposed(command, now_ms, body)]
        done, refusals = [], []
        for node in self._members(command.target):
            try:
                done.append(self._command(command, node, now_ms, None))
            except ConflictError as exc:
                refusals.append(str(exc))
        if not done:
            raise ConflictError(
                f"{command.target}: {refusals[0] if refusals else 'nothing is left to ' + command.verb}"
            )
        return facts + done + self._refresh(now_ms)

    def to_dict(self) -> Body:
        return {
            "alarms": {node: alarm.to_dict() for node, alarm in self._alarms.items()},
            "owner": dict(self._owner),
            "flood": self._flood.to_dict(),
            "incidents": self.incidents,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], nodes: Container[str], **settings: Any) -> Self:
        desk = cls(nodes, **settings)
        desk._alarms = {node: NodeAlarm.from_dict(alarm) for node, alarm in data["alarms"].items()}
        desk._owner = dict(data["owner"])
        desk._flood = FloodState.from_dict(data["flood"])
        desk.incidents = {key: dict(body) for key, body in data["incidents"].items()}
        return desk

    def _put(self, now_ms: int, kind: str, node: str, alarm: NodeAlarm, **more: Any) -> Fact:
        self._alarms[node] = alarm
        return Fact(now_ms, kind, {"node": node, "state": str(alarm.letter), "version": alarm.version, **more})

    def _command(self, command: Command, node: str, now_ms: int, version: int | None) -> Fact:
        alarm = commanded(
            self.alarm(node),
            command.verb,
            now_ms=now_ms,
            version=version,
            for_ms=command.for_ms,
            reason=command.reason,
        )
        more = {"by": command.by, "reason": command.reason} if command.reason else {"by": command.by}
        if alarm.until_ms is not None:
            more["until"] = iso(alarm.until_ms)
        return self._put(now_ms, f"alarm.{_PAST[command.verb]}", node, alarm, **more)

    def _disposed(self, command: Command, now_ms: int, body: Body) -> Fact:
        note = {"is": command.disposition, "by": command.by, "reason": command.reason, "time": iso(now_ms)}
        body = body | {"disposition": note, "version": body["version"] + 1}
        if command.target in self.incidents:
            self.incidents[command.target] = body
        return Fact(now_ms, "incident.disposed", dict(body))

    def _open(self) -> list[str]:
        return [key for key, body in self.incidents.items() if not body["closed"]]

    def _members(self, key: str) -> list[str]:
        return [node for node, owner in self._owner.items() if owner == key]

    def _tell(self, now_ms: int, closed: frozenset[str], grown: list[str]) -> list[Fact]:
        """Annunciate what the meter lets through; what grew and was told before is an update."""
        waiting = {entry.key for entry in self._flood.waiting}
        new = [
            Waiting(key, body["zone"], body["probability"])
            for key, body in self.incidents.items()
            if body["annunciated"] is None and not body["closed"] and key not in waiting and self._is_audible(key)
        ]
        if not (new or waiting or self._flood.wanted_ms or grown):
            return []
        self._flood, told = meter(self._flood, now_ms, new, closed, self._flood_rule)
        facts = []
        if told.began:
            held = [entry.key for entry in self._flood.waiting]
            facts.append(Fact(now_ms, "flood.started", {"waiting": held}))
        for key in told.keys:
            self.incidents[key]["annunciated"] = iso(now_ms)
            facts.append(self._note(now_ms, "incident.annunciated", key))
        new_keys = {entry.key for entry in new}
        for key in dict.fromkeys((*grown, *new_keys)):
            if key not in told.keys:
                held_now = key in new_keys or (key in grown and self.incidents[key]["version"] == 0)
                facts.append(self._note(now_ms, "incident.held" if held_now else "incident.updated", key))
        if told.ended:
            facts.append(Fact(now_ms, "flood.ended", {}))
        return facts

    def _is_audible(self, key: str) -> bool:
        return any(not self.alarm(node).is_suspended for node in self._members(key))

    def _refresh(self, now_ms: int, closed: Iterable[str] = ()) -> list[Fact]:
        """States that follow from the alarms; incidents that are over leave the desk."""
        facts, closing = [], set(closed)
        for key, body in list(self.incidents.items()):
            if key in closing:
                facts.append(self._note(now_ms, "incident.closed", key))
            elif self._state(key) != body["state"]:
                facts.append(self._note(now_ms, "incident.updated", key))
            if body["closed"] and self._state(key) == WORDS[Letter.NORMAL]:
                del self.incidents[key]
                self._owner = {node: owner for node, owner in self._owner.items() if owner != key}
        return facts

    def _state(self, key: str) -> str:
        letters = {self.alarm(node).letter for node in self._members(key)}
        return WORDS[next((letter for letter in _WORST_FIRST if letter in letters), Letter.NORMAL)]

    def _note(self, now_ms: int, kind: str, key: str) -> Fact:
        body = self.incidents[key]
        body["state"], body["version"] = self._state(key), body["version"] + 1
        return Fact(now_ms, kind, dict(body))


_PAST = {
    Verb.ACK: "acknowledged",
    Verb.SHELVE: "shelved",
    Verb.UNSHELVE: "unshelved",
    Verb.SUPPRESS: "suppressed",
    Verb.OUT_OF_SERVICE: "out-of-service",
    Verb.RETURN: "returned-to-service",
    Verb.RESET: "reset",
}
