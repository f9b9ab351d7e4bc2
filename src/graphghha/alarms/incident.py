"""Alarms grouped into incidents: one incident per attack, its root node first. Pure: no clock, no I/O.

A node that raises joins the open incident it is near to in the graph and in time; otherwise it opens a new one. An
incident stays open until all its members have been clear for `linger` steps. Its root is its strongest node at the
moment it is annunciated. From then on the root does not change, and two annunciated incidents never merge, so that
nothing that was announced to an operator is withdrawn.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms.building import BuildingRule
from graphghha.alarms.distances import Proximity
from graphghha.alarms.rule import NONE, AlarmState, AlarmTransitions
from graphghha.errors import ConfigError

Floats = NDArray[np.float64]
# An incident that waits longer is announced too late, one that lingers longer hides the next attack.
MOST = {"max_hops": 100, "join_within": 10_080, "linger": 10_080, "settle": 240}


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupRule:
    """How alarms are grouped. `settle` steps pass before the annunciation, so that the root can become apparent."""

    max_hops: int = 2  # from a node to the nearest member of the incident it joins
    join_within: int = 240  # steps since the incident's newest member; later alarms open a new incident
    linger: int = 30
    settle: int = 0
    building: BuildingRule | None = None  # None: incidents of zones are never joined

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            if getattr(self, name) < 0:
                raise ConfigError(f"incident.{name} {getattr(self, name)} must not be negative")
            if getattr(self, name) > most:
                raise ConfigError(f"incident.{name} {getattr(self, name)} must not be above {most}")


@dataclass(frozen=True, slots=True)
class Incident:
    """Alarms that belong together. Steps are those of the alarm state; a step not reached yet is NONE."""

    number: int
    zone: str | None  # of the node that opened it; None when all zones share that node, or there are no zones
    root: int
    members: tuple[int, ...]  # every node that has raised, in order
    standing: frozenset[int]  # members in alarm now
    since: int  # first step of evidence
    opened: int
    grown: int  # step at which its newest member joined
    quiet: int  # step at which the last member cleared
    annunciated: int = NONE
    closed: int = NONE
    evidence: float = 0.0  # of the root, at annunciation
    ranking: tuple[int, ...] = ()  # at annunciation: root, other members, other nodes, each by evidence

    @property
    def is_annunciated(self) -> bool:
        return self.annunciated != NONE


class ChangeKind(StrEnum):
    """What happened to an incident in one step."""

    OPENED = "opened"
    JOINED = "joined"
    ANNUNCIATED = "annunciated"
    MERGED = "merged"  # this incident, not annunciated yet, was absorbed by another
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one incident, with the incident as it is after the change."""

    kind: ChangeKind
    incident: Incident


@dataclass(frozen=True, slots=True)
class GroupState:
    """The open incidents between two steps."""

    incidents: tuple[Incident, ...] = ()  # open ones, by number
    next_number: int = 1


def group(
    state: GroupState,
    alarms: AlarmState,
    transitions: AlarmTransitions,
    evidence: Floats,
    near: Proximity,
    rule: GroupRule,
) -> tuple[GroupState, tuple[Change, ...]]:
    """Group the alarms of one step; return the next state and the changes.

    `alarms` is the alarm state after the step, `transitions` what changed in it; `evidence` [s] ranks the nodes.
    """
    if not (state.incidents or transitions.raised.any()):
        return state, ()
    step = alarms.step - 1
    strength = np.where(np.isfinite(evidence), evidence, -np.inf)
    open_ = {incident.number: incident for incident in state.incidents}
    changes: list[Change] = []
    number = state.next_number
    if transitions.cleared.any():
        cleared = frozenset(np.flatnonzero(transitions.cleared).tolist())
        open_ = {n: _without(incident, cleared, step) for n, incident in open_.items()}

    for node in _by_strength(np.flatnonzero(transitions.raised), strength, alarms):
        hosts = _hosts(node, step, open_.values(), near, rule)
        if not hosts:
            since = int(alarms.onset[node])
            new = Incident(number, near.zone(node), node, (node,), frozenset({node}), since, step, step, NONE)
            open_[number], number = new, number + 1
            changes.append(Change(ChangeKind.OPENED, new))
            continue
        host = hosts[0]
        for other in hosts[1:]:
            if not other.is_annunciated and all(_takes(host, member, near) for member in other.members):
                host = _union(host, other)
                changes.append(Change(ChangeKind.MERGED, open_.pop(other.number)))
        open_[host.number] = _with(host, node, step, alarms)
        changes.append(Change(ChangeKind.JOINED, open_[host.number]))

    for n, incident in list(open_.items()):
        if incident.standing and not incident.is_annunciated:
            root = _by_strength(np.array(sorted(incident.standing)), strength, alarms)[0]
            incident = replace(incident, root=root)
            if step - incident.opened >= rule.settle:
                ranking = _ranking(incident, strength, near)
                incident = replace(incident, annunciated=step, evidence=float(strength[root]), ranking=ranking)
                changes.append(Change(ChangeKind.ANNUNCIATED, incident))
            open_[n] = incident
        elif not incident.standing and step - incident.quiet >= rule.linger:
            changes.append(Change(ChangeKind.CLOSED, replace(open_.pop(n), closed=step)))
    return GroupState(tuple(open_.values()), number), tuple(changes)


def _by_strength(nodes: NDArray[np.int64], strength: Floats, alarms: AlarmState) -> list[int]:
    """Return the nodes, strongest first; of equals the one with the older evidence, then the lower row."""
    order = np.lexsort((nodes, alarms.onset[nodes], -strength[nodes]))
    return [int(node) for node in nodes[order]]


def _hosts(node: int, step: int, incidents: Iterable[Incident], near: Proximity, rule: GroupRule) -> list[Incident]:
    """Return the open incidents a node may join: annunciated ones first, then the nearest, then the oldest.

    A member that raises again always rejoins its own incident, and does not extend the time in which others may join.
    """
    hops = near.hops_from(node, rule.max_hops)
    far = rule.max_hops + 1
    hosts = []
    for incident in incidents:
        distance = min(hops.get(member, far) for member in incident.members)
        is_timely = distance == 0 or step - incident.grown <= rule.join_within
        if distance < far and is_timely and _takes(incident, node, near):
            hosts.append((not incident.is_annunciated, distance, incident.number, incident))
    return [incident for *_, incident in sorted(hosts, key=lambda entry: entry[:3])]


def _takes(incident: Incident, node: int, near: Proximity) -> bool:
    """Return whether an incident may contain a node.

    An incident of one zone takes nodes of that zone and shared ones; an incident opened by a shared node takes any.
    """
    return incident.zone is None or near.zone(node) in (incident.zone, None)


def _without(incident: Incident, cleared: frozenset[int], step: int) -> Incident:
    left = incident.standing - cleared
    if left == incident.standing:
        return incident
    return replace(incident, standing=left, quiet=incident.quiet if left else step)


def _with(incident: Incident, node: int, step: int, alarms: AlarmState) -> Incident:
    incident = replace(incident, standing=incident.standing | {node}, quiet=NONE)
    if node in incident.members:
        return incident
    since = min(incident.since, int(alarms.onset[node]))
    return replace(incident, members=(*incident.members, node), since=since, grown=step)


def _union(host: Incident, other: Incident) -> Incident:
    return replace(
        host,
        members=(*host.members, *(m for m in other.members if m not in host.members)),
        standing=host.standing | other.standing,
        since=min(host.since, other.since),
        opened=min(host.opened, other.opened),
        grown=max(host.grown, other.grown),
    )


def _ranking(incident: Incident, strength: Floats, near: Proximity) -> tuple[int, ...]:
    nodes = near.candidates(incident.zone)
    is_member = np.isin(nodes, incident.members)
    order = np.lexsort((nodes, -strength[nodes], ~is_member, nodes != incident.root))
    return tuple(nodes[order].tolist())
