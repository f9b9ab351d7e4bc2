"""The alarm board of one site: its alarms by node and its incidents by id. Deterministic: no clock, no I/O.

The board takes what the detector reports (alarms raised and cleared, incidents grouped) and what operators ask for, and
turns both into events.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Any, Self

from graphghha._util.times import iso
from graphghha.alarms.events import Event
from graphghha.alarms.flood import FloodRule, FloodState, QueuedIncident, throttle
from graphghha.alarms.lifecycle import (
    STATE_NAMES,
    Command,
    IsaState,
    NodeAlarm,
    Verb,
    apply_command,
    clear_alarm,
    end_suspension,
    is_shelving_over,
    raise_alarm,
)
from graphghha.alarms.stops import PlannedStops
from graphghha.errors import ConflictError, NotFoundError

Body = dict[str, Any]

# an incident is in the first of these states that any of its alarms is in
_WORST_FIRST = (
    IsaState.UNACKNOWLEDGED,
    IsaState.RETURNED,
    IsaState.ACKNOWLEDGED,
    IsaState.SHELVED,
    IsaState.SUPPRESSED,
    IsaState.OUT_OF_SERVICE,
    IsaState.NORMAL,
)
_STANDING = (STATE_NAMES[IsaState.UNACKNOWLEDGED], STATE_NAMES[IsaState.ACKNOWLEDGED])
_EVENT_OF_VERB = {
    Verb.ACK: "acknowledged",
    Verb.SHELVE: "shelved",
    Verb.UNSHELVE: "unshelved",
    Verb.SUPPRESS: "suppressed",
    Verb.OUT_OF_SERVICE: "out-of-service",
    Verb.RETURN: "returned-to-service",
    Verb.RESET: "reset",
}


class AlarmBoard:
    """The alarms and incidents that the operators of one site see and act on."""

    def __init__(self, nodes: Container[str], *, flood_rule: FloodRule | None = None, latching: bool = False) -> None:
        self._nodes, self._flood_rule, self._latching = nodes, flood_rule or FloodRule(), latching
        self._alarms: dict[str, NodeAlarm] = {}
        self._owner: dict[str, str] = {}  # node -> the newest incident it is part of
        self._flood = FloodState()
        self.stops = PlannedStops()
        self.incidents: dict[str, Body] = {}  # open ones, and closed ones that are not acknowledged

    def alarm(self, node: str) -> NodeAlarm:
        """Return the alarm of a node, or a new one if the node has never raised an alarm."""
        return self._alarms.get(node, NodeAlarm())

    @property
    def states(self) -> dict[str, IsaState]:
        """Return the state of every node whose alarm is not normal."""
        return {node: alarm.state for node, alarm in self._alarms.items() if alarm.state is not IsaState.NORMAL}

    @property
    def is_flood(self) -> bool:
        return self._flood.is_flood

    def update_alarms(self, now_ms: int, raised: Mapping[str, float], cleared: Iterable[str]) -> list[Event]:
        """Take one step of the alarm rule: nodes that raised, with their probability, and nodes that cleared."""
        events: list[Event] = self.stops.expire(now_ms)
        for node in [node for node, alarm in self._alarms.items() if is_shelving_over(alarm, now_ms)]:
            events.append(self._put(now_ms, "alarm.unshelved", node, end_suspension(self.alarm(node)), by="time"))
        for node in cleared:
            events.append(self._put(now_ms, "alarm.cleared", node, clear_alarm(self.alarm(node))))
        for node, probability in raised.items():
            alarm = raise_alarm(self.alarm(node), latching=self._latching)
            events.append(self._put(now_ms, "alarm.raised", node, alarm, probability=round(probability, 3)))
        return events

    def update_incidents(
        self, now_ms: int, changed: Iterable[tuple[Body, tuple[str, ...]]], closed: Iterable[str]
    ) -> list[Event]:
        """Take one step of the grouping: incidents that are new or have grown, each with its nodes; ids that closed.

        The incident of a building has `members`, the ids of the incidents of its zones. Their nodes are its nodes; it
        is announced in their place and closes with the last of them.
        """
        events, grown, closed = [], [], list(closed)
        for body, members in changed:
            self._owner.update((member, body["id"]) for member in members)
            known = self.incidents.get(body["id"])
            defaults = {"annunciated": None, "cleared": None, "closed": None, "disposition": None, "version": 0}
            self.incidents[body["id"]] = defaults | (known or {}) | body
            grown.append(body["id"])
        for key in closed:
            if key in self.incidents:
                self.incidents[key] |= {"closed": iso(now_ms)}
        for key in [key for key in self.incidents if self._is_over(key)]:
            self.incidents[key] |= {"closed": iso(now_ms)}
            closed.append(key)
        events += self._annunciate(now_ms, frozenset(closed), grown)
        return events + self._refresh(now_ms, closed)

    def close_all(self, now_ms: int) -> list[Event]:
        """Clear all alarms and close all incidents, which can still be acknowledged but are no longer evaluated."""
        active = [node for node, alarm in self._alarms.items() if alarm.active]
        is_open = [key for key, body in self.incidents.items() if not body["closed"]]
        return self.update_alarms(now_ms, {}, active) + self.update_incidents(now_ms, (), is_open)

    def apply(self, command: Command, now_ms: int, past: Body | None = None) -> list[Event]:
        """Carry out a command, or raise an error with the reason why it is refused.

        `past` is the last body of a target that has left the board.
        """
        given = {name: value for name, value in command.to_dict().items() if name != "at_ms"}
        events = [Event(now_ms, "operator.command", given | command.signature)]
        body = self.incidents.get(command.target, past)
        if body is None:
            if command.target not in self._nodes or command.verb in (Verb.DISPOSE, Verb.COMMENT):
                raise NotFoundError(f"there is no incident {command.target!r}")
            events.append(self._command(command, command.target, now_ms, command.version))
            return events + self._refresh(now_ms)
        if command.version is not None and command.version != body["version"]:
            raise ConflictError(
                f"{command.target}: you acted on version {command.version}, the incident is now at version "
                f"{body['version']}; review it and retry"
            )
        if command.verb is Verb.DISPOSE:
            return [*events, self._dispose(command, now_ms, body)]
        if command.verb is Verb.COMMENT:
            return events
        done, refusals = [], []
        for node in self._members(command.target):
            try:
                done.append(self._command(command, node, now_ms, None))
            except ConflictError as exc:
                refusals.append(str(exc))
        if not done:
            reason = refusals[0] if refusals else f"it has no alarm left to {command.verb}"
            raise ConflictError(f"{command.target}: {reason}")
        return events + done + self._refresh(now_ms)

    def to_dict(self) -> Body:
        """Return the board as it is kept in a checkpoint."""
        return {
            "alarms": {node: alarm.to_dict() for node, alarm in self._alarms.items()},
            "owner": dict(self._owner),
            "flood": self._flood.to_dict(),
            "incidents": self.incidents,
            "stops": self.stops.to_list(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], nodes: Container[str], **settings: Any) -> Self:
        """Return the board that `to_dict` wrote."""
        board = cls(nodes, **settings)
        board._alarms = {node: NodeAlarm.from_dict(alarm) for node, alarm in data["alarms"].items()}
        board._owner = dict(data["owner"])
        board._flood = FloodState.from_dict(data["flood"])
        board.incidents = {key: dict(body) for key, body in data["incidents"].items()}
        board.stops = PlannedStops.from_list(data.get("stops", ()))
        return board

    def _put(self, now_ms: int, kind: str, node: str, alarm: NodeAlarm, **more: Any) -> Event:
        self._alarms[node] = alarm
        return Event(now_ms, kind, {"node": node, "state": str(alarm.state), "version": alarm.version, **more})

    def _command(self, command: Command, node: str, now_ms: int, version: int | None) -> Event:
        alarm = apply_command(
            self.alarm(node),
            command.verb,
            now_ms=now_ms,
            version=version,
            for_ms=command.for_ms,
            reason=command.reason,
        )
        more = command.signature | ({"reason": command.reason} if command.reason else {})
        if alarm.until_ms is not None:
            more["until"] = iso(alarm.until_ms)
        return self._put(now_ms, f"alarm.{_EVENT_OF_VERB[command.verb]}", node, alarm, **more)

    def _dispose(self, command: Command, now_ms: int, body: Body) -> Event:
        note = {"is": command.disposition, **command.signature, "reason": command.reason, "time": iso(now_ms)}
        note |= {"right_node": command.right_node} if command.right_node else {}
        body = body | {"disposition": note, "version": body["version"] + 1}
        if command.target in self.incidents:
            self.incidents[command.target] = body
        return Event(now_ms, "incident.disposed", dict(body))

    def _members(self, key: str) -> list[str]:
        keys = {key, *self.incidents.get(key, {}).get("members", ())}
        return [node for node, owner in self._owner.items() if owner in keys]

    def _is_over(self, key: str) -> bool:
        """Return whether an incident is an open one of the building and all its members have closed."""
        body = self.incidents[key]
        if body["closed"] or "members" not in body:
            return False
        return all(self.incidents[each]["closed"] for each in body["members"] if each in self.incidents)

    def _annunciate(self, now_ms: int, closed: frozenset[str], grown: list[str]) -> list[Event]:
        """Annunciate what the throttle lets through; an announced incident that grew is an update."""
        queued = {entry.key for entry in self._flood.queue}
        parts = {key for key, body in self.incidents.items() if body.get("part_of")}
        new = [
            QueuedIncident(key, body["zone"], body["probability"])
            for key, body in self.incidents.items()
            if body["annunciated"] is None
            and not body["closed"]
            and key not in queued | parts
            and self._is_audible(key)
        ]
        if not (new or queued or self._flood.requested_ms or grown):
            return []
        self._flood, result = throttle(self._flood, now_ms, new, closed | parts, self._flood_rule)
        events = []
        if result.began:
            held = [entry.key for entry in self._flood.queue]
            events.append(Event(now_ms, "flood.started", {"waiting": held}))
        for key in result.keys:
            self.incidents[key]["annunciated"] = iso(now_ms)
            events.append(self._incident_event(now_ms, "incident.annunciated", key))
        new_keys = {entry.key for entry in new}
        for key in dict.fromkeys((*grown, *new_keys)):
            if key not in result.keys:
                is_held = key in new_keys or (key in grown and self.incidents[key]["version"] == 0)
                if is_held and self.stops.covers(self.incidents[key]["zone"]):
                    self.incidents[key]["held"] = "planned stop"
                events.append(self._incident_event(now_ms, "incident.held" if is_held else "incident.updated", key))
        if result.ended:
            events.append(Event(now_ms, "flood.ended", {}))
        return events

    def _is_audible(self, key: str) -> bool:
        if self.stops.covers(self.incidents[key]["zone"]):
            return False
        return any(not self.alarm(node).is_suspended for node in self._members(key))

    def _refresh(self, now_ms: int, closed: Iterable[str] = ()) -> list[Event]:
        """Bring the incidents' states in line with their alarms; remove incidents that are closed and acknowledged."""
        events, closing = [], set(closed)
        for key, body in list(self.incidents.items()):
            if key in closing:
                events.append(self._incident_event(now_ms, "incident.closed", key))
            elif self._state(key) != body["state"]:
                events.append(self._incident_event(now_ms, "incident.updated", key))
            if body["closed"] and self._state(key) == STATE_NAMES[IsaState.NORMAL]:
                del self.incidents[key]
                self._owner = {node: owner for node, owner in self._owner.items() if owner != key}
        return events

    def _state(self, key: str) -> str:
        states = {self.alarm(node).state for node in self._members(key)}
        return STATE_NAMES[next((state for state in _WORST_FIRST if state in states), IsaState.NORMAL)]

    def _incident_event(self, now_ms: int, kind: str, key: str) -> Event:
        body = self.incidents[key]
        body["cleared"] = self._cleared(now_ms, key)
        body["state"], body["version"] = self._state(key), body["version"] + 1
        return Event(now_ms, kind, dict(body))

    def _cleared(self, now_ms: int, key: str) -> str | None:
        """Return when the last alarm of an incident went back in range; None if one stands, or nobody noted it."""
        body = self.incidents[key]
        if any(self.alarm(node).active for node in self._members(key)):
            return None
        return body.get("cleared") or (iso(now_ms) if body["state"] in _STANDING else None)
