"""EDS, a laboratory plant under real attacks: every trial is left out once.

Xue et al., doi 10.1109/TICPS.2024.3406505. Every recording is normal at first and attacked to its end, so neither row
numbers nor times are features of any method, and the plant is proposed from the normal rows of the other trials.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphghha.exports.attack_labels import AttackEvent
from graphghha.exports.recordings import Recording, read_recordings
from graphghha.lab.bench.plants.trials import HOUR_PER_DAY, Draw, Trial, part_of, propose
from graphghha.plants.arrow import pq

DATASET = "EDS"
BUDGET_PER_HOUR = 1.0
ABOUT = ("file", "attack", "trial", "row", "time", "class")
SAME_RECORDING = "iw100toLow_4"  # is a copy of iw100toLow_1; it is left out altogether
FEWEST_ROWS = 40


@dataclass(frozen=True, slots=True)
class _Recorded:
    """One recording: a file of all its rows, one of its normal beginning, and what is known of it."""

    file: Path
    normal: Path | None  # None: the beginning is too short
    trial: int
    begin_ms: int  # of the attack; behind the last row if there is none
    nodes: tuple[str, ...]
    attack_class: str


def laboratory_trials(folder: Path, work: Path, trials: tuple[int, ...] = (1, 2, 3, 4)) -> Iterator[Trial]:
    """Yield one division for each trial that is left out; `work` receives files of each recording."""
    recorded = _write_files(folder, work)
    for left_out in trials:
        inside = [each for each in recorded if each.trial == left_out]
        others = [each for each in recorded if each.trial != left_out]
        if not inside or not others:
            continue
        plant = propose("plant", [each.normal for each in others if each.normal])
        judged, labelled = (
            _labelled(part, read_recordings([each.file for each in part], plant).recordings)
            for part in (inside, others)
        )
        begins = {event.recording: event.start for event in labelled.events}
        normal = [(each, begins.get(number, len(each.times_ms))) for number, each in enumerate(labelled.recordings)]
        yield Trial(
            dataset=DATASET,
            split=f"without trial {left_out}",
            plant=plant,
            normal=tuple(part_of(each, 0, end) for each, end in normal if end > FEWEST_ROWS),
            draws=(judged,),
            budget_per_day=BUDGET_PER_HOUR * HOUR_PER_DAY,
            labelled=labelled,
        )


def _write_files(folder: Path, work: Path) -> list[_Recorded]:
    table = pq.read_table(folder / "train.parquet")
    names = np.array(table["file"].to_pylist())
    attacked = np.array(table["class"].to_pylist()) == "Attack"
    stamps = table["time"].to_numpy().astype("datetime64[ms]").astype(np.int64)
    plain = table.select(["time", *(name for name in table.column_names if name not in ABOUT)])
    lines = (folder / "attack_map.csv").read_text(encoding="utf-8").splitlines()
    facts = {row["attack"]: row for row in csv.DictReader(lines)}
    first = np.flatnonzero(np.append(True, names[1:] != names[:-1]))
    (work / "normal").mkdir(parents=True, exist_ok=True)
    found = []
    for start, stop in zip(first.tolist(), [*first[1:].tolist(), len(names)], strict=True):
        stem = Path(str(names[start])).stem
        if stem == SAME_RECORDING:
            continue
        begin = start + int(np.argmax(attacked[start:stop])) if attacked[start:stop].any() else stop
        fact = facts[str(table["attack"][start])]
        targets = (part.strip() for part in fact["target_columns"].replace("|", ";").split(";"))
        file, beginning = work / f"{stem}.parquet", work / "normal" / f"{stem}.parquet"
        found.append(
            _Recorded(
                file=_write(plain, start, stop, file),
                normal=_write(plain, start, begin, beginning) if begin - start > FEWEST_ROWS else None,
                trial=int(table["trial"][start].as_py()),
                begin_ms=int(stamps[begin]) if begin < stop else int(stamps[stop - 1]) + 1,
                nodes=tuple(filter(None, targets)),
                attack_class=fact["class"] if fact["class"] != "other" else "",
            )
        )
    return found


def _write(table: Any, start: int, stop: int, path: Path) -> Path:
    pq.write_table(table.slice(start, stop - start), path)
    return path


def _labelled(recorded: Sequence[_Recorded], recordings: Sequence[Recording]) -> Draw:
    """Return recordings with their attacks, each of which lasts to the end of its recording."""
    about = {each.file.stem: each for each in recorded}
    events = []
    for number, recording in enumerate(recordings):
        own = about[Path(recording.name).stem]
        begin = int(np.searchsorted(recording.times_ms, own.begin_ms))
        if begin < len(recording.times_ms):
            end = len(recording.times_ms)
            events.append(AttackEvent(number, begin, end, own.nodes, own.attack_class, recording.name))
    return Draw(recordings=tuple(recordings), events=tuple(events))
