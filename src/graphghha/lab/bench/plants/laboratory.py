"""EDS, a laboratory plant under real attacks: every trial is left out once.

Xue et al., doi 10.1109/TICPS.2024.3406505. Every recording is normal at first and attacked to its end, so neither row
numbers nor times are features of any method.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from graphghha.exports.attack_labels import AttackEvent
from graphghha.exports.recordings import Recording, read_recordings
from graphghha.lab.bench.plants.trials import HOUR_PER_DAY, Draw, Trial, part_of, propose
from graphghha.plants.arrow import pq

DATASET = "EDS"
BUDGET_PER_HOUR = 1.0
ABOUT = ("file", "attack", "trial", "row", "time", "class")
SAME_RECORDING = "iw100toLow_4"  # is a copy of iw100toLow_1, and would be seen in training
FEWEST_ROWS = 40


def laboratory_trials(folder: Path, work: Path, trials: tuple[int, ...] = (1, 2, 3, 4)) -> Iterator[Trial]:
    """Yield one division for each trial that is left out; `work` receives one file for each recording."""
    table = pq.read_table(folder / "train.parquet")
    names = np.array(table["file"].to_pylist())
    attacked = np.array(table["class"].to_pylist()) == "Attack"
    stamps = table["time"].to_numpy().astype("datetime64[ms]").astype(np.int64)
    signals = [name for name in table.column_names if name not in ABOUT]
    facts = {
        row["attack"]: row
        for row in csv.DictReader((folder / "attack_map.csv").read_text(encoding="utf-8").splitlines())
    }
    first = np.flatnonzero(np.append(True, names[1:] != names[:-1]))
    about: dict[str, tuple[int, str, int]] = {}
    work.mkdir(parents=True, exist_ok=True)
    files = []
    for start, stop in zip(first.tolist(), [*first[1:].tolist(), len(names)], strict=True):
        stem = Path(str(names[start])).stem
        begin = start + int(np.argmax(attacked[start:stop])) if attacked[start:stop].any() else stop
        about[stem] = (
            int(table["trial"][start].as_py()),
            str(table["attack"][start]),
            int(stamps[min(begin, stop - 1)]) + (1 if begin == stop else 0),
        )
        files.append(work / f"{stem}.parquet")
        pq.write_table(table.slice(start, stop - start).select(["time", *signals]), files[-1])
    plant = propose("plant", files)
    recordings = read_recordings(files, plant).recordings
    for left_out in trials:
        inside = [each for each in recordings if about[Path(each.name).stem][0] == left_out]
        others = [
            each
            for each in recordings
            if about[Path(each.name).stem][0] != left_out and Path(each.name).stem != SAME_RECORDING
        ]
        if not inside or not others:
            continue
        cut = [(each, _begin(each, about)) for each in others]
        yield Trial(
            dataset=DATASET,
            split=f"without trial {left_out}",
            plant=plant,
            normal=tuple(part_of(each, 0, begin) for each, begin in cut if begin > FEWEST_ROWS),
            draws=(_labelled(inside, about, facts),),
            budget_per_day=BUDGET_PER_HOUR * HOUR_PER_DAY,
            labelled=_labelled(others, about, facts),
        )


def _begin(recording: Recording, about: dict[str, tuple[int, str, int]]) -> int:
    """Return the first attacked row."""
    return int(np.searchsorted(recording.times_ms, about[Path(recording.name).stem][2]))


def _labelled(
    recordings: list[Recording], about: dict[str, tuple[int, str, int]], facts: dict[str, dict[str, str]]
) -> Draw:
    events = []
    for number, recording in enumerate(recordings):
        begin, fact = _begin(recording, about), facts[about[Path(recording.name).stem][1]]
        if begin >= len(recording.times_ms):
            continue
        targets = tuple(filter(None, (part.strip() for part in fact["target_columns"].replace("|", ";").split(";"))))
        stated = fact["class"] if fact["class"] != "other" else ""
        events.append(AttackEvent(number, begin, len(recording.times_ms), targets, stated, recording.name))
    return Draw(recordings=tuple(recordings), events=tuple(events))
