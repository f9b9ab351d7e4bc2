"""Columns that were never attacked in training: labels of one half of the attacked columns, attacks on the other."""

from collections.abc import Callable, Sequence

import numpy as np

from graphghha.exports.attack_labels import AttackEvent
from graphghha.exports.recordings import Recording
from graphghha.lab.bench.plants.trials import Draw
from graphghha.lab.evaluation.own_evaluate import Outcome

Judging = Callable[[Sequence[Recording]], Outcome]


def column_halves(events: Sequence[AttackEvent]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the attacked columns in two halves; columns that were attacked together are in the same half."""
    groups: list[set[str]] = []
    for event in events:
        joined = set(event.nodes).union(*(group for group in groups if group & set(event.nodes)))
        groups = [group for group in groups if not group & joined] + ([joined] if joined else [])
    halves: tuple[set[str], set[str]] = (set(), set())
    for number, group in enumerate(sorted(groups, key=min)):
        halves[number % 2].update(group)
    return frozenset(halves[0]), frozenset(halves[1])


def on(columns: frozenset[str], events: Sequence[AttackEvent]) -> list[AttackEvent]:
    """Return the attacks on some columns."""
    return [event for event in events if event.nodes and set(event.nodes) <= columns]


def judge_by_halves(draw: Draw, halves: Sequence[frozenset[str]], judges: Sequence[Judging]) -> Judging:
    """Return a judge that takes for each recording the one that learned from no attack on its columns.

    `judges` learned from attacks on the half of the same number. Recordings without an attacked column go to the first.
    """
    of_recording = {draw.recordings[event.recording].name: set(event.nodes) for event in draw.events}

    def judge(recordings: Sequence[Recording]) -> Outcome:
        parts = []
        for recording in recordings:
            is_second = bool(of_recording.get(recording.name, set()) & halves[0])
            parts.append(judges[1 if is_second else 0]([recording]))
        return joined(parts)

    return judge


def joined(parts: Sequence[Outcome]) -> Outcome:
    """Return outcomes of recordings, one after the other, as one."""
    rows = np.array([len(part.score) for part in parts])
    return Outcome(
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.alarm for part in parts]),
        np.concatenate([part.places for part in parts]),
        float(np.average([part.unknown for part in parts], weights=rows)),
        None
        if any(part.classes is None for part in parts)
        else np.concatenate([part.classes for part in parts if part.classes is not None]),
        parts[0].class_is,
    )
