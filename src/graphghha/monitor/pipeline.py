"""The deterministic core: rows -> scores -> alarms -> incidents. No clock, no I/O: equal rows give equal steps."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import (
    AlarmRule,
    AlarmState,
    AlarmTransitions,
    Change,
    GroupRule,
    GroupState,
    Incident,
    Proximity,
    advance,
    group,
)
from graphghha.classes import CLASS_NAMES, CLASSES, UNCLASSIFIED
from graphghha.graph import CpsGraph


class Scorer(Protocol):
    """What the monitor needs of an engine."""

    def push(self, values: NDArray[Any], fresh: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Any:
        """Take readings [r p] in SI; return an object whose `probs` is [w s c], NaN where a node is unknown."""


@runtime_checkable
class Explainer(Protocol):
    """What a scorer may offer in addition: evidence from inside its model."""

    def explain(self, scored: Any, window: int, node: int) -> list[dict[str, Any]]:
        """Return evidence about a node in a window that `push` has just scored; items as in an incident's evidence."""


@runtime_checkable
class Rehearsing(Protocol):
    """What a scorer may offer in addition: to load at the start whatever `explain` needs."""

    def rehearse(self) -> list[dict[str, Any]]:
        """Explain something once; return that evidence."""


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one row."""

    time_ms: int
    scores: NDArray[np.float32]  # [s c]
    transitions: AlarmTransitions
    changes: tuple[Change, ...]
    explain: Callable[[int], list[dict[str, Any]]]  # evidence from inside the model

    def probability(self, node: int) -> float:
        """Return P(attack) of a node."""
        return 1.0 - float(self.scores[node, 0])

    def attack_class(self, node: int) -> str:
        """Return the likeliest attack class of a node, or that its score prefers none."""
        own = self.scores[node, 1:]
        return CLASS_NAMES[UNCLASSIFIED if (own == own[0]).all() else 1 + int(np.argmax(own))]


class Pipeline:
    """The detection of one site: takes rows in time order and yields steps."""

    def __init__(self, scorer: Scorer, graph: CpsGraph, rule: AlarmRule, group_rule: GroupRule) -> None:
        self.graph, self.scorer, self._rule, self._group_rule = graph, scorer, rule, group_rule
        self._near = Proximity(graph)
        self.alarms = AlarmState.start(graph.num_nodes)
        self._groups = GroupState()

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """Return the open incidents."""
        return self._groups.incidents

    def warm_up(self, values: NDArray[Any], fresh: NDArray[np.bool_]) -> None:
        """Fill the windows with rows that are not scored."""
        if len(values):
            self.scorer.push(values, fresh, np.zeros(len(values), np.bool_))

    def push(
        self,
        times_ms: NDArray[np.int64],
        values: NDArray[Any],
        fresh: NDArray[np.bool_],
        judged: NDArray[np.bool_] | None = None,
    ) -> Iterator[Step]:
        """Yield a step for every row. In a row that is not `judged` [r], all nodes are unknown."""
        if not len(values):
            return
        is_scored = np.asarray(fresh.any(axis=1))  # a row without any reading needs no engine
        if judged is not None:
            is_scored &= judged
        probs = np.full((len(values), self.graph.num_nodes, len(CLASSES)), np.nan, np.float32)
        scored = self.scorer.push(values, fresh, is_scored)
        probs[is_scored] = scored.probs
        windows = np.cumsum(is_scored) - 1
        for at, (time_ms, scores) in enumerate(zip(times_ms.tolist(), probs, strict=True)):
            attack = 1.0 - scores[:, 0].astype(np.float64)
            self.alarms, transitions = advance(self.alarms, attack, self._rule)
            self._groups, changes = group(self._groups, self.alarms, transitions, attack, self._near, self._group_rule)
            yield Step(time_ms, scores, transitions, changes, partial(self._explain, scored, int(windows[at])))

    def _explain(self, scored: Any, window: int, node: int) -> list[dict[str, Any]]:
        return self.scorer.explain(scored, window, node) if isinstance(self.scorer, Explainer) else []

    def rehearse(self) -> list[dict[str, Any]]:
        """Load what `explain` of the scorer needs; return the evidence of that trial."""
        return self.scorer.rehearse() if isinstance(self.scorer, Rehearsing) else []

    def to_state(self) -> dict[str, Any]:
        """Return alarms and groups for a checkpoint; the scorer's windows are rebuilt from rows instead."""
        return {
            "alarms": {field.name: getattr(self.alarms, field.name) for field in fields(self.alarms)},
            "incidents": [_to_dict(incident) for incident in self._groups.incidents],
            "next_number": self._groups.next_number,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over alarms and groups from `to_state`."""
        self.alarms = AlarmState(**state["alarms"])
        self._groups = GroupState(tuple(_from_dict(each) for each in state["incidents"]), state["next_number"])


def _to_dict(incident: Incident) -> dict[str, Any]:
    return asdict(incident) | {"standing": sorted(incident.standing)}


def _from_dict(data: Mapping[str, Any]) -> Incident:
    sequences = {"members": tuple(data["members"]), "ranking": tuple(data["ranking"])}
    return Incident(**{**data, **sequences, "standing": frozenset(data["standing"])})
