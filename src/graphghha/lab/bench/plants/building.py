"""A real building as its operator exported it: nobody attacked it, so attacks are written onto its readings.

Later days, the same swapped, and cooler days against warmer ones. Nothing physical follows a forged reading. Forged
readings stay inside the limits of their instrument, and an attack that would change next to nothing is drawn again.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphghha.exports.attack_labels import AttackEvent
from graphghha.exports.recordings import Recording, read_recordings
from graphghha.lab.bench.plants.trials import Draw, Trial, part_of, propose
from graphghha.plants import Plant

DATASET = "building"
BUDGET_PER_DAY = 1.0
DAYS = 16  # to learn from
DRAWS = (11, 12, 13, 14)
ATTACKED = ("ZN-T", "DPR-O", "SUPFLOW")  # zone temperature, damper position and air flow of a box
OUTDOOR = "OA-T"
MECHANISMS = ("bias", "hold", "scale", "ramp", "replay")
HOURS = (3.0, 8.0)  # that an attack lasts
PAUSE_H = (9.0, 23.0)  # from the end of one attack to the next
REPLAY_DAYS = 3
MIDDLE = 0.99  # of the normal readings: the span of a point is as wide as these lie apart
VISIBLE = 0.1  # of the span of a point, at some time of an attack
TRIES = 20  # to draw an attack that can be seen
SIZES = (0.1, 0.2, 0.3, 0.5)  # of the span of a point: bounds of the classes of attacks by their size
SIZE_S = 1800  # a change must last: its largest mean over this time counts
KNOWN = 0.5  # of the rows to learn from, or a point is left out
Floats = NDArray[np.float64]


def building_trials(folder: Path, draws: tuple[int, ...] = DRAWS) -> Iterator[Trial]:
    """Yield the four divisions."""
    files = [folder / "exports"]
    plant = propose("plant", files)
    (recording,) = read_recordings(files, plant).recordings
    per_day = round(86_400 / plant.step_s)
    cut = min(DAYS * per_day, 2 * len(recording.times_ms) // 3)
    early, late = part_of(recording, 0, cut), part_of(recording, cut, len(recording.times_ms))
    yield _trial("later days", plant, (early,), (late,), draws)
    yield _trial("earlier days", plant, (late,), (early,), draws)
    cool, warm = _seasons(recording, plant, per_day)
    if cool and warm:
        yield _trial("warmer days", plant, cool, warm, draws)
        yield _trial("cooler days", plant, warm, cool, draws)


def _trial(
    split: str, plant: Plant, normal: tuple[Recording, ...], judged: tuple[Recording, ...], draws: tuple[int, ...]
) -> Trial:
    values = np.concatenate([each.values for each in normal])
    dead = np.isfinite(values).mean(axis=0) < KNOWN  # logs that begin late: they say nothing of the days before
    normal, judged = (tuple(_without(each, dead) for each in part) for part in (normal, judged))
    values = np.where(dead, 0.0, values)
    targets = [
        at
        for at, name in enumerate(plant.template.points)
        if name.endswith(ATTACKED) and not dead[at] and np.nanstd(values[:, at]) > 0
    ]
    return Trial(
        dataset=DATASET,
        split=split,
        plant=plant,
        normal=normal,
        draws=tuple(_draw(seed, plant, judged, values, targets) for seed in draws),
        budget_per_day=BUDGET_PER_DAY,
        untouched=judged,
    )


def _without(recording: Recording, dead: NDArray[np.bool_]) -> Recording:
    """Return a recording in which dead points read 0: known, and never moving."""
    values = np.where(dead, 0.0, recording.values)
    return Recording(recording.name, recording.files, recording.times_ms, values)


def _seasons(recording: Recording, plant: Plant, per_day: int) -> tuple[tuple[Recording, ...], tuple[Recording, ...]]:
    """Return the cooler and the warmer half of the days, by the outdoor temperature."""
    outdoor = next((at for at, name in enumerate(plant.template.points) if name.endswith(OUTDOOR)), None)
    if outdoor is None:
        return (), ()
    days = len(recording.times_ms) // per_day
    means = np.nanmean(recording.values[: days * per_day, outdoor].reshape(days, per_day), axis=1)
    is_warm = means > np.median(means)
    found: tuple[list[Recording], list[Recording]] = ([], [])
    edges = [0, *(np.flatnonzero(np.diff(is_warm)) + 1).tolist(), days]
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        found[int(is_warm[start])].append(part_of(recording, start * per_day, stop * per_day))
    return tuple(found[0]), tuple(found[1])


def _draw(seed: int, plant: Plant, judged: tuple[Recording, ...], normal: Floats, targets: list[int]) -> Draw:
    """Write attacks onto recordings: bias, hold, scale, ramp, or the readings of three days before."""
    rng = np.random.default_rng(seed)
    per_hour = 3600 / plant.step_s
    back = round(REPLAY_DAYS * 24 * per_hour)
    span = _spans(normal)
    recordings, events = [], []
    for number, recording in enumerate(judged):
        values = recording.values.copy()
        at = round(rng.uniform(*PAUSE_H) * per_hour / 2)
        while at + round(HOURS[1] * per_hour) < len(values) and targets:
            stop = at + round(rng.uniform(*HOURS) * per_hour)
            mechanism = int(rng.integers(len(MECHANISMS)))
            for _ in range(TRIES):
                column = int(rng.choice(targets))
                signal = plant.signal(plant.template.points[column])
                own = recording.values[at:stop, column]
                past = np.concatenate([normal[-back:, column], recording.values[:at, column]])[-back:]
                forged = _forge(mechanism, own, past, float(rng.choice([-1, 1]) * span[column]))
                forged = np.clip(forged, signal.low, signal.high)
                if np.nanmax(np.abs(forged - own), initial=0.0) >= VISIBLE * span[column]:
                    values[at:stop, column] = forged
                    node = plant.template.points[column]
                    events.append(AttackEvent(number, at, stop, (node,), "", MECHANISMS[mechanism]))
                    break
            at = stop + round(rng.uniform(*PAUSE_H) * per_hour)
        recordings.append(Recording(recording.name, recording.files, recording.times_ms, values))
    return Draw(recordings=tuple(recordings), events=tuple(events))


def attack_size(trial: Trial, recordings: Sequence[Recording], event: AttackEvent) -> float:
    """Return how far an attack moves its point: the largest mean change over half an hour, in spans of the point."""
    column, rows = trial.plant.template.points.index(event.nodes[0]), slice(event.start, event.stop)
    own, forged = (each[event.recording].values[rows, column] for each in (trial.untouched, recordings))
    change, length = np.nan_to_num(forged - own), min(len(own), round(SIZE_S / trial.plant.step_s))
    normal = np.concatenate([each.values[:, [column]] for each in trial.normal])
    return float(np.abs(np.convolve(change, np.full(length, 1 / length), "valid")).max() / _spans(normal)[0])


def size_class(size: float) -> str:
    """Return the name of the class of a size in spans."""
    names = [f"below {SIZES[0]:g}", *(f"{a:g} to {b:g}" for a, b in pairwise(SIZES)), f"{SIZES[-1]:g} and more"]
    return names[bisect_right(SIZES, size)]


def _spans(normal: Floats) -> Floats:
    """Return how far apart the middle of the normal readings [r p] lie, or all of them where that is nothing."""
    low, high = np.nanquantile(normal, [(1 - MIDDLE) / 2, (1 + MIDDLE) / 2], axis=0)
    whole = np.nanmax(normal, axis=0) - np.nanmin(normal, axis=0)
    return np.asarray(np.where(high > low, high - low, whole))


def _forge(mechanism: int, own: Floats, past: Floats, span: float) -> Floats:
    """Return readings [n] as a mechanism forges them, up or down by the sign of the span of the point."""
    if mechanism == 0:
        return own + 0.5 * span
    if mechanism == 1:
        return np.full_like(own, own[0])
    if mechanism == 2:
        return own * 1.4
    if mechanism == 3:
        return own + np.linspace(0, span, len(own))
    return np.resize(past, len(own))
