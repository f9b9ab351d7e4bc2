"""The deterministic core: rows -> scores -> alarms -> incidents. No clock, no I/O: the same rows, the same notices."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import (
    AlarmRule,
    AlarmState,
    Change,
    ChangeKind,
    GroupRule,
    GroupState,
    Incident,
    Proximity,
    advance,
    group,
)
from graphghha.graph import CpsGraph
from graphghha.vocabulary import CLASSES

TOLD = (ChangeKind.ANNUNCIATED, ChangeKind.CLOSED)


class Scorer(Protocol):
    """What the monitor asks of an engine."""

    def push(self, values: NDArray[Any], fresh: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Any:
        """Readings [r p] in SI; returns an object whose `probs` is [w s c], NaN where a node is unknown."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something an operator is told about an incident."""

    kind: ChangeKind
    time: np.datetime64
    since: np.datetime64
    root: str
    zone: str | None
    attack_class: str
    probability: float
    members: tuple[str, ...]
    incident: Incident

    def to_dict(self) -> dict[str, Any]:
        """As JSON, in the names of the public contract."""
        return {
            "id": self.incident.number,
            "event": str(self.kind),
            "time": f"{self.time}Z",
            "zone": self.zone,
            "root": self.root.rpartition("/")[2],
            "class": self.attack_class,
            "probability": round(self.probability, 3),
            "since": f"{self.since}Z",
            "alarms": [member.rpartition("/")[2] for member in self.members],
        }


class Pipeline:
    """One building: feed rows in time order, read notices."""

    def __init__(self, scorer: Scorer, graph: CpsGraph, rule: AlarmRule, group_rule: GroupRule) -> None:
        self.graph, self._scorer, self._rule, self._group_rule = graph, scorer, rule, group_rule
        self._near = Proximity(graph)
        self.alarms = AlarmState.start(graph.num_nodes)
        self._groups = GroupState()
        self._times: dict[int, np.datetime64] = {}  # of steps that open incidents may still refer to
        self._told: dict[int, tuple[str, float]] = {}  # class and probability of an incident when it was announced

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """Those open now."""
        return self._groups.incidents

    def warm_up(self, values: NDArray[Any], fresh: NDArray[np.bool_]) -> None:
        """Rows that fill the windows and are not judged."""
        self._scorer.push(values, fresh, np.zeros(len(values), np.bool_))

    def push(self, times: NDArray[np.datetime64], values: NDArray[Any], fresh: NDArray[np.bool_]) -> Iterator[Notice]:
        """Judge rows one by one."""
        probs = self._scorer.push(values, fresh, np.ones(len(values), np.bool_)).probs
        for time, scores in zip(times, probs, strict=True):
            attack = 1.0 - scores[:, 0].astype(np.float64)
            self._times[self.alarms.step] = time
            self.alarms, events = advance(self.alarms, attack, self._rule)
            self._groups, changes = group(self._groups, self.alarms, events, attack, self._near, self._group_rule)
            yield from (self._notice(change, time, scores) for change in changes if change.kind in TOLD)
        self._forget()

    def _notice(self, change: Change, time: np.datetime64, scores: NDArray[np.float32]) -> Notice:
        incident = change.incident
        if change.kind is ChangeKind.ANNUNCIATED:
            likeliest = CLASSES[1 + int(np.argmax(scores[incident.root, 1:]))]
            self._told[incident.number] = likeliest, 1.0 - float(scores[incident.root, 0])
        attack_class, probability = self._told[incident.number]
        if change.kind is ChangeKind.CLOSED:
            del self._told[incident.number]
        names = self.graph.names
        return Notice(
            change.kind,
            time,
            self._times.get(incident.since, time),
            names[incident.root],
            self.graph.zones[incident.root],
            attack_class,
            probability,
            tuple(names[member] for member in incident.members),
            incident,
        )

    def _forget(self) -> None:
        onsets = self.alarms.onset[self.alarms.onset >= 0]
        needed = [int(onset) for onset in onsets] + [incident.since for incident in self.incidents]
        oldest = min(needed, default=self.alarms.step)
        self._times = {step: time for step, time in self._times.items() if step >= oldest}
