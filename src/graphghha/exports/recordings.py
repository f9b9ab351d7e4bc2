"""Exported files of a plant of the user's own as recordings: rows at the plant's step, in the units of its file.

Files that overlap in time or continue one another (a file a day, a month, a point) are one recording. Files that give
a point different values for the same times, or lie far apart, are recordings of their own. A reading is used until it
is stale; a point that reports on change keeps its value until its next record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphghha._util.suggest import did_you_mean
from graphghha.errors import DataError, SchemaError
from graphghha.exports.file_names import without_date
from graphghha.exports.headers import split_header
from graphghha.exports.notes import counted
from graphghha.exports.options import ExportOptions
from graphghha.exports.reader import ExportReader
from graphghha.exports.series import Series
from graphghha.exports.times import Order
from graphghha.plants import Plant, Points
from graphghha.plants.units import conversion

MOST_CELLS = 200_000_000
FEWEST_ROWS = 3
LONGEST_BREAK_MS = 86_400_000  # between two files of one recording, and at most this share of the longer one:
LONGEST_BREAK = 0.1
MOST_EQUAL = 0.9  # share of the readings that two files have in common where they overlap


@dataclass(frozen=True, slots=True)
class Recording:
    """Rows [r] of all points [p] of a plant, from files that belong together."""

    name: str
    files: tuple[str, ...]
    times_ms: NDArray[np.int64]
    values: NDArray[np.float64]  # [r p], NaN where no fresh reading exists

    @property
    def hours(self) -> float:
        """The length of the recording."""
        if len(self.times_ms) < 2:
            return 0.0
        step_ms = int(self.times_ms[1] - self.times_ms[0])
        return len(self.times_ms) * step_ms / 3_600_000


@dataclass(frozen=True, slots=True)
class RecordedData:
    """Recordings in the order of time, and what a person should know about how they were read."""

    recordings: tuple[Recording, ...]
    notes: tuple[str, ...]

    @property
    def days(self) -> float:
        return sum(each.hours for each in self.recordings) / 24


@dataclass(frozen=True, slots=True)
class _Readings:
    """Readings of one point [n] in the unit of the plant, in the order of time."""

    times_ms: NDArray[np.int64]
    values: NDArray[np.float64]

    def joined(self, other: "_Readings") -> "_Readings":
        """Return these readings and later or overlapping ones; of two for one time the first stays."""
        times = np.concatenate([self.times_ms, other.times_ms])
        order = np.argsort(times, kind="stable")
        keep = order[np.append(True, np.diff(times[order]) != 0)]
        return _Readings(times[keep], np.concatenate([self.values, other.values])[keep])


@dataclass(slots=True)
class _Group:
    """Files that make one recording: the readings of each point."""

    files: list[Path]
    points: dict[int, _Readings]

    @property
    def span(self) -> tuple[int, int]:
        ends = [(int(own.times_ms[0]), int(own.times_ms[-1])) for own in self.points.values()]
        return min(first for first, _ in ends), max(last for _, last in ends)

    def takes(self, other: "_Group") -> bool:
        """Return whether files with readings from a later time on belong to this recording."""
        (first, last), (start, end) = self.span, other.span
        if start > last + min(LONGEST_BREAK_MS, LONGEST_BREAK * max(last - first, end - start)):
            return False
        common = equal = between = 0
        for at in self.points.keys() & other.points.keys():
            mine, theirs = self.points[at], other.points[at]
            _, own, their = np.intersect1d(mine.times_ms, theirs.times_ms, return_indices=True)
            common += len(own)
            equal += int((mine.values[own] == theirs.values[their]).sum())
            between += int((theirs.times_ms < mine.times_ms[-1]).sum())
        return equal >= MOST_EQUAL * common and common >= MOST_EQUAL * between

    def add(self, other: "_Group") -> None:
        """Take the files and readings of another group."""
        self.files += other.files
        for at, own in other.points.items():
            self.points[at] = self.points[at].joined(own) if at in self.points else own


def read_recordings(paths: Sequence[Path], plant: Plant) -> RecordedData:
    """Read files and folders for a plant; DataError says which columns do not fit and what to change."""
    reader = ExportReader(
        paths, ExportOptions(zone=plant.time_zone, dates=Order(plant.dates) if plant.dates else None), keep_units=True
    )
    points = plant.template.points
    columns = {plant.reporting[node].column: at for at, node in enumerate(points)}
    by_file: dict[Path, dict[int, _Readings]] = {}
    others: list[str] = []
    named: set[int] = set()
    limits = Points.from_names(plant, points)
    dropped = np.zeros(len(points), np.int64)
    strange: dict[str, int] = {}  # words that are none of the states of a point, how often each occurs
    for series in reader.series():
        at = columns.get(series.name, columns.get(series.column, columns.get(split_header(series.column).name)))
        if at is None:
            others.append(series.name)
            continue
        named.add(at)
        if len(series):
            values = _readings(series, plant, points[at])
            _count_strange(strange, series, values, plant, points[at])
            impossible = limits.impossible(np.full(len(values), at, np.int32), values)
            dropped[at] += int(impossible.sum())
            keep = ~impossible & np.isfinite(values)
            own = by_file.setdefault(series.file, {})
            if keep.any():
                own[at] = _Readings(series.times_ms[keep], values[keep])
    unread = {stem for file in reader.reports if not file.is_read for stem in _stems(file.path)}
    named |= {columns[stem] for stem in unread if stem in columns}
    _refuse_missing(plant, by_file, named, others, paths)
    recordings: list[Recording] = []
    notes = [f"{counted(count, 'reading')} of {text}" for text, count in strange.items()]
    for group in _groups({path: own for path, own in by_file.items() if own}):
        recording = _lay(group, plant)
        if len(recording.times_ms) >= FEWEST_ROWS:
            recordings.append(recording)
    if not recordings:
        raise DataError(f"{_where(paths)}: has fewer than {FEWEST_ROWS} rows at the plant's step of {plant.step_s:g} s")
    recordings.sort(key=lambda each: (int(each.times_ms[0]), each.name))
    silent = sorted(named - {at for own in by_file.values() for at in own})
    notes += [f"{points[at]}: has no reading and is unknown" for at in silent]
    return RecordedData(tuple(recordings), (*notes, *_notes(plant, others, dropped)))


def _stems(path: Path) -> tuple[str, str]:
    return path.stem, without_date(path.stem)


def _refuse_missing(
    plant: Plant,
    by_file: dict[Path, dict[int, _Readings]],
    named: set[int],
    others: Sequence[str],
    paths: Sequence[Path],
) -> None:
    """Raise if columns are not there; a column that is there and empty may be a sensor that failed."""
    found = {at for own in by_file.values() for at in own}
    points = plant.template.points
    if not found:
        wanted = plant.reporting[points[0]].column
        example = f", such as {others[0]!r}" if others else ""
        raise DataError(
            f"{_where(paths)}: none of its columns{example}, is a column of plant {plant.name!r}, such as {wanted!r}; "
            "these are data of another plant, or the columns in plant.toml must be renamed"
        )
    missing = [plant.reporting[node].column for at, node in enumerate(points) if at not in named]
    if missing:
        hint = did_you_mean(missing[0], others)
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise DataError(
            f"{_where(paths)}: there is no column {missing[0]!r}{more}{hint or ';'} correct its "
            "`columns` entry in plant.toml, or delete the signal there if the plant has it no longer"
        )


def _groups(by_file: dict[Path, dict[int, _Readings]]) -> list[_Group]:
    """Return the files that belong together, in the order of time."""
    single = [_Group([path], dict(own)) for path, own in by_file.items()]
    groups: list[_Group] = []
    are_apart = sum(len(each.points) for each in single) == len({at for each in single for at in each.points})
    for each in sorted(single, key=lambda group: group.span):
        # files without a common point are the parts of one export, whenever each of them begins
        host = next((group for group in groups if are_apart or group.takes(each)), None)
        if host is None:
            groups.append(each)
        else:
            host.add(each)
    return groups


def _lay(group: _Group, plant: Plant) -> Recording:
    step_ms = round(plant.step_s * 1000)
    nodes = plant.template.points
    leading = [own for at, own in group.points.items() if not plant.reporting[nodes[at]].is_held] or list(
        group.points.values()
    )
    start = -(-min(int(each.times_ms[0]) for each in leading) // step_ms) * step_ms
    last = max(int(each.times_ms[-1]) for each in leading)
    count = (last - start + step_ms - 1) // step_ms + 1
    if count * len(nodes) > MOST_CELLS:
        raise DataError(f"{count:,} rows of {len(nodes)} points do not fit into memory; give fewer days at once")
    times = start + step_ms * np.arange(count, dtype=np.int64)
    values = np.full((count, len(nodes)), np.nan)
    for at, own in group.points.items():
        newest = np.searchsorted(own.times_ms, times, side="right") - 1
        known = newest >= 0
        report = plant.reporting[nodes[at]]
        if not report.is_held:
            known &= times - own.times_ms[newest] <= report.stale_after_s * 1000
        values[known, at] = own.values[newest[known]]
    has_reading = np.isfinite(values).any(axis=1)
    first = int(np.argmax(has_reading)) if has_reading.any() else 0
    names = tuple(path.name for path in group.files)
    name = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    return Recording(name, names, times[first:], values[first:])


def _count_strange(
    strange: dict[str, int], series: Series, values: NDArray[np.float64], plant: Plant, node: str
) -> None:
    """Count the readings whose word is none of the states of the point."""
    if series.states and (unknown := np.isnan(values)).any():
        word = series.states[int(series.values[int(np.argmax(unknown))])]
        known = ", ".join(plant.signal(node).states)
        text = f"{node} such as {word!r}, which is none of its states {known}; add it to `words` in plant.toml"
        strange[text] = strange.get(text, 0) + int(unknown.sum())


def _readings(series: Series, plant: Plant, node: str) -> NDArray[np.float64]:
    """Return the readings of a point in the unit of the plant."""
    signal, report = plant.signal(node), plant.reporting[node]
    values = series.values
    if series.states:
        if not signal.states:
            raise SchemaError(
                f"{series.name}: its readings are words, such as {series.states[0]!r}; add states = [..] to its signal"
            )
        codes = {word.lower(): float(number) for number, word in enumerate(signal.states)} | dict(report.words)
        # a point that has never changed has one known word: any other one is its counterpart
        other = next((code for word, code in codes.items() if word.startswith("not ")), np.nan)
        table = np.array([codes.get(word.lower(), other) for word in series.states])
        return np.asarray(table[values.astype(np.int64)])
    if report.encoding == "float32 bits":
        return values.astype(np.uint32).view(np.float32).astype(np.float64)
    if report.encoding == "signed 16 bit":
        return np.where(values > 32_767, values - 65_536, values)
    if series.stated_unit and signal.unit:
        try:
            shift, scale = conversion(series.stated_unit, signal.unit)
        except SchemaError as exc:
            raise SchemaError(f"{series.name}: {exc}; correct `unit` in plant.toml or the unit in the file") from exc
        return (values - shift) * scale
    return values


def _notes(plant: Plant, others: Sequence[str], dropped: NDArray[np.int64]) -> list[str]:
    unlabelled = [name for name in dict.fromkeys(others) if name not in plant.label_columns]
    found = []
    if unlabelled:
        found.append(f"{counted(len(unlabelled), 'column')} not used, such as {unlabelled[0]!r}: not in plant.toml")
    for at in np.flatnonzero(dropped).tolist():
        found.append(
            f"{plant.template.points[at]}: {counted(int(dropped[at]), 'reading')} beyond the limits of its instrument"
        )
    return found


def _where(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths[:3])) + (", .." if len(paths) > 3 else "")
