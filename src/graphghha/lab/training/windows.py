"""Labelled windows for training: simulated runs through the featurizer, sampled sparsely.

Shapes: w windows, Z zones, n nodes and S signals of the template, f features.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.lab.runs import Run, canonical_days
from graphghha.plants import NO_EVENT, LabelledDay, Plant
from graphghha.windows import HISTORY_ROWS, RECENT, Featurizer, Preprocessing, Scaler, Summarizer

# The quality of a node-minute's label. VISIBLE: normal, or an attack that is visible now. INVISIBLE: an attack that is
# not visible now but was before. IGNORED: an attack that has not been visible yet, or recovery from one.
VISIBLE, INVISIBLE, IGNORED = 0, 1, 2


@dataclass(frozen=True, slots=True)
class LabelledWindows:
    """Windows of some zones of a building, with labels."""

    features: NDArray[np.float16]  # [w Z n f]
    labels: NDArray[np.uint8]  # [w Z n] class
    label_quality: NDArray[np.uint8]  # [w Z n] VISIBLE | INVISIBLE | IGNORED

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def concatenate(cls, parts: Sequence["LabelledWindows"]) -> "LabelledWindows":
        """Return all windows of the parts."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS))


FIELDS = tuple(LabelledWindows.__dataclass_fields__)


def flat_values(day: LabelledDay) -> NDArray[np.floating[Any]]:
    """Return the readings [m Z*S] in the order of the points of the replicated template."""
    return day.values.reshape(len(day.times), -1)


def recent_rows(
    plant: Plant, run: Run, scaler: Scaler, per_day: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Yield for every day some random rows of the inputs [r S*L] and the targets [r S] of the expectation."""
    signals = plant.template.point_signals
    scale = scaler.columns(signals * run.zones)
    summarizer = Summarizer(len(signals) * run.zones, RECENT)
    for day in run.simulate(plant):
        values = flat_values(day)
        fresh = np.ones(values.shape, np.bool_)
        wanted = np.zeros(len(values), np.bool_)
        wanted[rng.choice(len(values), per_day, replace=False)] = True
        scaled = scale(values, fresh)
        recent = summarizer.push(scaled, fresh, wanted)
        yield recent.reshape(per_day * run.zones, -1), scaled[wanted].reshape(per_day * run.zones, -1)


def labelled_windows(
    plant: Plant,
    run: Run,
    preprocessing: Preprocessing,
    *,
    stride_min: int,
    extra_at_onset: int = 0,
    keep_zones: int | None = None,
    canonical_labels: bool = True,
) -> LabelledWindows:
    """Return a window every `stride_min` minutes, and `extra_at_onset` more within ninety minutes of each onset.

    With `keep_zones`, each window keeps only that many zones, attacked ones first for half of the places: most zones
    are normal most of the time, and more of them add little. Labels are those of the canonical case of each attack or,
    without `canonical_labels`, of the attack itself.
    """
    graph = plant.template.replicate(run.zones)
    featurizer = Featurizer(graph, plant.template, preprocessing)
    rng = np.random.default_rng([run.seed, 3])
    shown = np.zeros(len(run.cases), np.bool_)  # events that were observable before
    parts: list[LabelledWindows] = []
    shape = (run.zones, plant.template.num_nodes)
    for number, day in enumerate(canonical_days(plant, run) if canonical_labels else run.simulate(plant)):
        wanted = np.zeros(len(day.times), np.bool_)
        wanted[int(rng.integers(stride_min)) :: stride_min] = True
        for minute in _onsets(day):
            wanted[np.minimum(minute + rng.integers(0, 90, extra_at_onset), len(wanted) - 1)] = True
        quality = label_quality(day, shown)
        if (number + 1) * plant.steps_per_day <= HISTORY_ROWS:
            wanted[:] = False
        values = flat_values(day)
        windows = featurizer.push(values, np.ones(values.shape, np.bool_), wanted)
        features = windows.features.reshape(-1, *shape, windows.features.shape[-1]).astype(np.float16)
        day_windows = LabelledWindows(features, day.attack_class[wanted], quality[wanted])
        parts.append(choose_zones(day_windows, keep_zones, rng) if keep_zones else day_windows)
    return LabelledWindows.concatenate(parts)


def choose_zones(windows: LabelledWindows, count: int, rng: np.random.Generator) -> LabelledWindows:
    """Return `count` random zones of every window; for half of the places, visibly attacked zones go first."""
    attacked = ((windows.labels > 0) & (windows.label_quality == VISIBLE)).any(axis=2)  # [w Z]
    chance = rng.random(attacked.shape)
    places = np.argsort(np.argsort(-(chance + attacked), axis=1), axis=1)
    order = np.argsort(np.where(places < count // 2, -1.0, rng.random(attacked.shape)), axis=1)[:, :count]  # [w count]
    rows = np.arange(len(order))[:, None]
    return LabelledWindows(*(getattr(windows, name)[rows, order] for name in FIELDS))


def signal_features(windows: LabelledWindows, plant: Plant) -> NDArray[np.float16]:
    """Return the features of the nodes with a signal [w*Z S f], on which the norm is fitted."""
    features: NDArray[np.float16] = windows.features[:, :, plant.template.signal_nodes]
    return features.reshape(-1, *features.shape[2:])


def _onsets(day: LabelledDay) -> list[int]:
    active = (day.event != NO_EVENT).any(axis=2)  # [m Z]
    starts = active[1:] & ~active[:-1]
    return (np.flatnonzero(starts.any(axis=1)) + 1).tolist()


def label_quality(day: LabelledDay, shown: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return the quality of every label [m Z n]. `shown` marks events that were observable before, and is updated."""
    quality = np.full(day.attack_class.shape, VISIBLE, np.uint8)
    quality[day.recovering] = IGNORED
    for event in np.unique(day.event[day.event != NO_EVENT]).tolist():
        mine = day.event == event
        visible = (mine & day.observable).any(axis=(1, 2))  # [m]
        first = 0 if shown[event] else int(np.argmax(visible)) if visible.any() else len(visible)
        before = np.arange(len(visible)) < first
        quality[mine] = INVISIBLE
        quality[mine & before[:, None, None]] = IGNORED
        quality[mine & day.observable] = VISIBLE
        shown[event] |= visible.any()
    return quality
