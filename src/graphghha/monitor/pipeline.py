"""The deterministic core: rows -> scores -> alarms -> incidents. No clock, no I/O: the same rows, the same steps."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import (
    AlarmEvents,
    AlarmRule,
    AlarmState,
    Change,
    GroupRule,
    GroupState,
    Incident,
    Proximity,
    advance,
    group,
)
from graphghha.classes import CLASSES
from graphghha.graph import CpsGraph


class Scorer(Protocol):
    """What the monitor asks of an engine."""

    def push(self, values: NDArray[Any], fresh: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Any:
        """Readings [r p] in SI; returns an object whose `probs` is [w s c], NaN where a node is unknown."""


@runtime_checkable
class Explainer(Protocol):
    """What a scorer may offer besides: evidence from inside its model."""

    def explain(self, scored: Any, window: int, node: int) -> list[dict[str, Any]]:
        """About a node in one of the windows that `push` has just scored; items as in an incident's evidence."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one row brought."""

    time_ms: int
    scores: NDArray[np.float32]  # [s c]
    events: AlarmEvents
    changes: tuple[Change, ...]
    explain: Callable[[int], list[dict[str, Any]]]  # evidence from inside the model

    def probability(self, node: int) -> float:
        """P(attack)."""
        return 1.0 - float(self.scores[node, 0])

    def attack_class(self, node: int) -> str:
        """The likeliest of the attack classes."""
        return CLASSES[1 + int(np.argmax(self.scores[node, 1:]))]


class Pipeline:
    """One building: feed rows in time order, read steps."""

    def __init__(self, scorer: Scorer, graph: CpsGraph, rule: AlarmRule, group_rule: GroupRule) -> None:
        self.graph, self.scorer, self._rule, self._group_rule = graph, scorer, rule, group_rule
        self._near = Proximity(graph)
        self.alarms = AlarmState.start(graph.num_nodes)
        self._groups = GroupState()

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """Those open now."""
        return self._groups.incidents

    def warm_up(self, values: NDArray[Any], fresh: NDArray[np.bool_]) -> None:
        """Rows that fill the windows and are not judged."""
        if len(values):
            self.scorer.push(values, fresh, np.zeros(len(values), np.bool_))

    def push(
        self,
        times_ms: NDArray[np.int64],
        values: NDArray[Any],
        fresh: NDArray[np.bool_],
        judged: NDArray[np.bool_] | None = None,
    ) -> Iterator[Step]:
        """Judge rows one by one. Rows not `judged` [r] are steps all the same: all nodes are unknown in them."""
        if not len(values):
            return
        heard = np.asarray(fresh.any(axis=1))  # a row of which nothing is known needs no engine
        if judged is not None:
            heard &= judged
        probs = np.full((len(values), self.graph.num_nodes, len(CLASSES)), np.nan, np.float32)
        scored = self.scorer.push(values, fresh, heard)
        probs[heard] = scored.probs
        windows = np.cumsum(heard) - 1
        for at, (time_ms, scores) in enumerate(zip(times_ms.tolist(), probs, strict=True)):
            attack = 1.0 - scores[:, 0].astype(np.float64)
            self.alarms, events = advance(self.alarms, attack, self._rule)
            self._groups, changes = group(self._groups, self.alarms, events, attack, self._near, self._group_rule)
            yield Step(time_ms, scores, events, changes, partial(self._explain, scored, int(windows[at])))

    def _explain(self, scored: Any, window: int, node: int) -> list[dict[str, Any]]:
        return self.scorer.explain(scored, window, node) if isinstance(self.scorer, Explainer) else []

    def to_state(self) -> dict[str, Any]:
        """Alarms and groups; the scorer's windows are rebuilt from rows instead."""
        return {
            "alarms": {field.name: getattr(self.alarms, field.name) for field in fields(self.alarms)},
            "incidents": [_plain(incident) for incident in self._groups.incidents],
            "next_number": self._groups.next_number,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.alarms = AlarmState(**state["alarms"])
        self._groups = GroupState(tuple(_incident(each) for each in state["incidents"]), state["next_number"])


def _plain(incident: Incident) -> dict[str, Any]:
    return asdict(incident) | {"standing": sorted(incident.standing)}


def _incident(data: Mapping[str, Any]) -> Incident:
    sequences = {"members": tuple(data["members"]), "ranking": tuple(data["ranking"])}
    return Incident(**{**data, **sequences, "standing": frozenset(data["standing"])})
