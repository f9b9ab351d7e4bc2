"""Windows to learn from: runs of the testbed through the featurizer, sampled sparsely, labelled.

w windows, Z zones, n nodes and S signals of the template, f features.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.lab.runs.equivalent_cases import canonical_days
from graphghha.lab.runs.run import Run
from graphghha.plants import NO_EVENT, LabelledDay, Plant
from graphghha.windows.features import HISTORY_ROWS, RECENT, Featurizer, Preprocessing
from graphghha.windows.multiscale import Summarizer
from graphghha.windows.scale import Scaler

MINUTES_PER_DAY = 1440

# What a node-minute is worth: a clear case; an attack that shows nothing just now but has shown itself before;
# nothing at all (an attack that has not shown itself yet, or the aftermath of one).
CLEAR, HIDDEN, VOID = 0, 1, 2


@dataclass(frozen=True, slots=True)
class LabelledWindows:
    features: NDArray[np.float16]  # [w Z n f], some zones of one building at one time
    labels: NDArray[np.uint8]  # [w Z n]
    worth: NDArray[np.uint8]  # [w Z n] CLEAR | HIDDEN | VOID

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def joined(cls, parts: Sequence["LabelledWindows"]) -> "LabelledWindows":
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS))


FIELDS = tuple(LabelledWindows.__dataclass_fields__)


def flat_values(day: LabelledDay) -> NDArray[np.floating[Any]]:
    """Readings [m Z*S] in the order of a replicated template's measured nodes."""
    return day.values.reshape(len(day.times), -1)


def recent_rows(
    plant: Plant, run: Run, scaler: Scaler, per_day: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Per day, some rows of what the expectation reads [r S*L] and must explain [r S]."""
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
    """Windows every `stride_min` minutes, and some more within ninety minutes of each onset.

    Of each window `keep_zones` zones are kept, half of the places for attacked ones first: most zones are normal
    most of the time, and little is learned from one more of them. Labels are those of the canonical case
    of each attack or, without `canonical_labels`, of the attack itself.
    """
    graph = plant.template.replicate(run.zones)
    featurizer = Featurizer(graph, plant.template, preprocessing)
    rng = np.random.default_rng([run.seed, 3])
    shown = np.zeros(len(run.cases), np.bool_)  # events that have been observable at some time
    parts: list[LabelledWindows] = []
    shape = (run.zones, plant.template.num_nodes)
    for number, day in enumerate(canonical_days(plant, run) if canonical_labels else run.simulate(plant)):
        wanted = np.zeros(len(day.times), np.bool_)
        wanted[int(rng.integers(stride_min)) :: stride_min] = True
        for minute in _onsets(day):
            wanted[np.minimum(minute + rng.integers(0, 90, extra_at_onset), len(wanted) - 1)] = True
        worth = _worth(day, shown)
        if (number + 1) * MINUTES_PER_DAY <= HISTORY_ROWS:
            wanted[:] = False
        values = flat_values(day)
        windows = featurizer.push(values, np.ones(values.shape, np.bool_), wanted)
        features = windows.features.reshape(-1, *shape, windows.features.shape[-1]).astype(np.float16)
        found = LabelledWindows(features, day.attack_class[wanted], worth[wanted])
        parts.append(_some_zones(found, keep_zones, rng) if keep_zones else found)
    return LabelledWindows.joined(parts)


def _some_zones(windows: LabelledWindows, count: int, rng: np.random.Generator) -> LabelledWindows:
    """`count` zones of every window: for half of the places attacked ones go first, the others are drawn."""
    attacked = ((windows.labels > 0) & (windows.worth == CLEAR)).any(axis=2)  # [w Z]
    chance = rng.random(attacked.shape)
    places = np.argsort(np.argsort(-(chance + attacked), axis=1), axis=1)
    order = np.argsort(np.where(places < count // 2, -1.0, rng.random(attacked.shape)), axis=1)[:, :count]  # [w count]
    rows = np.arange(len(order))[:, None]
    return LabelledWindows(*(getattr(windows, name)[rows, order] for name in FIELDS))


def signal_features(windows: LabelledWindows, plant: Plant) -> NDArray[np.float16]:
    """[w*Z S f] features of the nodes that carry a signal: what a norm is fitted on."""
    found: NDArray[np.float16] = windows.features[:, :, plant.template.signal_nodes]
    return found.reshape(-1, *found.shape[2:])


def _onsets(day: LabelledDay) -> list[int]:
    active = (day.event != NO_EVENT).any(axis=2)  # [m Z]
    starts = active[1:] & ~active[:-1]
    return (np.flatnonzero(starts.any(axis=1)) + 1).tolist()


def _worth(day: LabelledDay, shown: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Mark each node-minute; `shown` is brought up to date."""
    worth = np.full(day.attack_class.shape, CLEAR, np.uint8)
    worth[day.recovering] = VOID
    for event in np.unique(day.event[day.event != NO_EVENT]).tolist():
        mine = day.event == event
        visible = (mine & day.observable).any(axis=(1, 2))  # [m]
        first = 0 if shown[event] else int(np.argmax(visible)) if visible.any() else len(visible)
        before = np.arange(len(visible)) < first
        worth[mine] = HIDDEN
        worth[mine & before[:, None, None]] = VOID
        worth[mine & day.observable] = CLEAR
        shown[event] |= visible.any()
    return worth
