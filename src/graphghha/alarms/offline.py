"""The alarm rule and the grouping applied to recorded probabilities, with the same result as in a monitor."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms.distances import Proximity
from graphghha.alarms.incident import ChangeKind, GroupRule, GroupState, Incident, group
from graphghha.alarms.rule import AlarmRule, AlarmState, advance
from graphghha.errors import SchemaError


def replay(
    probs: NDArray[np.floating],
    near: Proximity,
    rule: AlarmRule,
    group_rule: GroupRule,
    evidence: NDArray[np.floating] | None = None,
) -> tuple[Incident, ...]:
    """Return the incidents that attack probabilities [t s] lead to, by number; those open at the end are not closed.

    `evidence` [t s] ranks the nodes of an incident; by default the probability does.
    """
    evidence = probs if evidence is None else evidence
    if probs.ndim != 2 or probs.shape[1] != near.graph.num_nodes or evidence.shape != probs.shape:
        raise SchemaError(
            f"replay: probabilities {probs.shape} and evidence {evidence.shape} do not fit {near.graph.num_nodes} nodes"
        )
    state, groups = AlarmState.start(probs.shape[1]), GroupState()
    closed: list[Incident] = []
    # while no alarm and no vote exists only a new vote can change anything: jump to the next one
    voting = np.flatnonzero((probs >= rule.raise_at).any(axis=1))
    step = 0
    while step < len(probs):
        if state.is_idle and not groups.incidents:
            at = int(np.searchsorted(voting, step))
            if at == len(voting):
                break
            step = int(voting[at])
            state = replace(state, step=step)
        state, transitions = advance(state, probs[step], rule)
        groups, changes = group(groups, state, transitions, evidence[step], near, group_rule)
        closed += [change.incident for change in changes if change.kind is ChangeKind.CLOSED]
        step += 1
    return tuple(sorted((*closed, *groups.incidents), key=lambda incident: incident.number))
