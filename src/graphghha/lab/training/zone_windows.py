"""Labelled windows of single zones of random buildings under generic attacks, as a monitor sees them.

w windows, n nodes of the template, f features.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphghha.commissioning.levels import DayCollector, SiteDays
from graphghha.lab.runs import Run
from graphghha.lab.training.windows import IGNORED, VISIBLE, flat_values, label_quality
from graphghha.plants import NO_EVENT, LabelledDay, Plant
from graphghha.windows.evidence import HISTORY, EvidenceFeaturizer, EvidencePreprocessing

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ZoneWindows:
    """Windows of zones that are normal, or attacked visibly."""

    features: NDArray[np.float16]  # [w n f]
    known: Bools  # [w n]
    targets: Bools  # [w n] the attacked nodes; none in a normal window

    def __len__(self) -> int:
        return len(self.targets)

    @classmethod
    def concatenate(cls, parts: Sequence["ZoneWindows"]) -> "ZoneWindows":
        """Return all windows of the parts."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS))

    def select(self, rows: NDArray[np.int64]) -> "ZoneWindows":
        """Return some of the windows."""
        return ZoneWindows(*(getattr(self, name)[rows] for name in FIELDS))


FIELDS = tuple(ZoneWindows.__dataclass_fields__)


def compared_days(plant: Plant, run: Run, preprocessing: EvidencePreprocessing) -> SiteDays:
    """Return a run compared with the expectation, for commissioning."""
    collector = DayCollector(plant.template.replicate(run.zones), plant.template, preprocessing)
    for values in map(flat_values, run.simulate(plant)):
        collector.push(values, np.isfinite(values))
    return collector.days(plant.steps_per_day)


def zone_windows(
    plant: Plant, run: Run, preprocessing: EvidencePreprocessing, *, stride_min: int, rng: np.random.Generator
) -> ZoneWindows:
    """Return windows of all zones of an attacked run, as many normal ones as attacked ones.

    Half of the normal windows are drawn by the square of their largest evidence, since easy ones teach little.
    """
    parts = list(_every_window(plant, run, preprocessing, stride_min, rng))
    windows = ZoneWindows.concatenate(parts)
    attacked = windows.targets.any(axis=1)
    normal = np.flatnonzero(~attacked)
    count = min(len(normal), max(int(attacked.sum()), len(windows) // 10))
    weight = np.square(np.abs(windows.features[normal, :, :5]).max(axis=(1, 2)).astype(np.float64)) + 1e-6
    hard = rng.choice(normal, count // 2, replace=False, p=weight / weight.sum())
    easy = rng.choice(normal, count - count // 2, replace=False)
    return windows.select(np.sort(np.concatenate([np.flatnonzero(attacked), hard, easy])))


def _every_window(
    plant: Plant, run: Run, preprocessing: EvidencePreprocessing, stride_min: int, rng: np.random.Generator
) -> Iterator[ZoneWindows]:
    featurizer = EvidenceFeaturizer(plant.template.replicate(run.zones), plant.template, preprocessing)
    shown = np.zeros(len(run.cases), np.bool_)
    nodes = plant.template.num_nodes
    for number, day in enumerate(run.simulate(plant)):
        wanted = np.zeros(len(day.times), np.bool_)
        if (number + 1) * plant.steps_per_day > HISTORY:
            wanted[int(rng.integers(stride_min)) :: stride_min] = True
            for minute in _onsets(day):
                wanted[np.minimum(minute + rng.integers(5, 120, 4), len(wanted) - 1)] = True
        quality = label_quality(day, shown)
        values = flat_values(day)
        windows = featurizer.push(values, np.isfinite(values), wanted)
        known = windows.known.reshape(-1, nodes)
        targets, usable = zone_labels(day, quality, wanted)
        usable &= known.any(axis=1)
        features = windows.features.reshape(-1, nodes, windows.features.shape[-1])
        yield ZoneWindows(features[usable].astype(np.float16), known[usable], targets[usable])


def zone_labels(day: LabelledDay, quality: NDArray[np.uint8], wanted: Bools) -> tuple[Bools, Bools]:
    """Return the attacked nodes [w*Z n] of every wanted row and zone, and whether the label is certain [w*Z]."""
    attacked, quality = day.attack_class[wanted] > 0, quality[wanted]
    visible = attacked & (quality == VISIBLE)
    certain = (~attacked & (quality != IGNORED)).all(axis=2) | visible.any(axis=2)
    targets = attacked & visible.any(axis=2, keepdims=True)
    return targets.reshape(-1, targets.shape[-1]), certain.reshape(-1)


def _onsets(day: LabelledDay) -> list[int]:
    active = (day.event != NO_EVENT).any(axis=2)  # [m Z]
    starts = active[1:] & ~active[:-1]
    return (np.flatnonzero(starts.any(axis=1)) + 1).tolist()
