"""Exported tables of any dialect as a source: one or many files, laid on the plant's own time step.

A point that reports on change keeps its value until its next record. A point that is sampled less often than the
plant's step keeps a reading for one and a half of its own intervals.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError, SchemaError
from graphghha.exports.headers import split_header
from graphghha.exports.notes import Guess, Omission, counted, note_lines, span_text
from graphghha.exports.options import ExportOptions
from graphghha.exports.reader import ExportReader
from graphghha.exports.reporting import Mode, repeats_unchanged
from graphghha.exports.series import Series
from graphghha.plants import Plant
from graphghha.sources.base import Batch, CoarseError, ReadingBatch, Rejection, RowBatch
from graphghha.sources.batch_builder import EARLIEST_MS, LATEST_MS
from graphghha.sources.config import FileConfig
from graphghha.sources.mapping import Mapper, Route
from graphghha.sources.refusals import RefusalCounter

MOST_READINGS = 100_000_000  # of mapped points, which are held in memory
COARSE_STEPS = 2.5  # readings further apart than this many steps of the plant are too few for it
QUICKEST = 0.1
FEWEST_INTERVALS = 10  # needed to estimate how far apart readings are
HELD_STEPS = 1.5
OUT_OF_ORDER_MS = 3_600_000  # back in time in a long table; less is a device whose readings came late
MANY_OF_ONE = 10_000  # readings of one point at the beginning of a table, if it is ordered by points
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class _Held:
    """The readings of one point in SI, and how long each is used; None: until the next one."""

    name: str
    times_ms: NDArray[np.int64]
    values: NDArray[np.float64]
    hold_ms: int | None


def export_batches(
    config: FileConfig, site: str, mapper: Mapper, plant: Plant, stated: Mapping[str, str]
) -> tuple[Iterator[Batch], tuple[str, ...]]:
    """Read the tables of an export; return its rows, a day at a time, and what was guessed or left out."""
    options = ExportOptions.from_table(stated, str(config.path))
    reader = ExportReader([config.path], options, keep_units=True)
    rejected: Counter[Rejection] = Counter()
    refusals = RefusalCounter()
    held: dict[int, list[_Held]] = {}
    steps: list[int] = []
    reporting: Counter[_Reports] = Counter()
    notes: list[Guess | Omission] = []
    total = 0
    for series in reader.series():
        route = _route(mapper, series)
        notes += [*_guesses(series, route, mapper), *series.omissions]
        if isinstance(route, Rejection):
            rejected[route] += len(series)
            refusals.add(series.name, route, series.stated_unit or "", len(series))
            continue
        if series.reporting.mode is Mode.SAMPLED and series.reporting.step_ms:
            steps.append(series.reporting.step_ms)
        reporting[_reports(series)] += 1
        own = _readings(series, route, mapper, plant, rejected, refusals)
        held.setdefault(route.column, []).append(own)
        total += len(own.values)
        if total > MOST_READINGS:
            raise DataError(
                f"{config.path}: holds more than {MOST_READINGS:,} readings; split it into shorter files, "
                "or write it as telemetry in Parquet"
            )
    step_ms = float(np.median(steps)) if steps else 0.0
    changing, sampled = reporting[_Reports.CHANGES], reporting[_Reports.SAMPLES]
    if changing > sampled and step_ms > COARSE_STEPS * plant.step_s * 1000:
        # their repetitions look like samples, and need no permission to be held
        reason = f"so do {changing} of {sum(reporting.values())} points; each reading is held until the next"
        notes.append(Guess(config.path.name, "reporting", "on change", reason))
    elif not config.is_held:
        refuse_coarse(step_ms, plant, str(config.path))
    points = {column: _joined(parts, mapper, str(config.path)) for column, parts in held.items()}
    for file in reader.reports:
        notes += [*file.guesses, *file.omissions]
    days = _days(points, site, len(mapper.points), round(plant.step_s * 1000), rejected, refusals)
    return days, tuple(note_lines(notes))


class _Reports(Enum):
    """What a point shows about the way its site reports."""

    CHANGES = auto()
    SAMPLES = auto()
    NOTHING = auto()


def _reports(series: Series) -> _Reports:
    """Return what a point shows; one that never changes, or has few readings, shows nothing."""
    mode, step_ms = series.reporting.mode, series.reporting.step_ms
    if mode is Mode.NONE or series.is_constant:
        return _Reports.NOTHING
    is_sampled = mode is Mode.SAMPLED and not (step_ms and repeats_unchanged(series.times_ms, series.values, step_ms))
    return _Reports.SAMPLES if is_sampled else _Reports.CHANGES


def refuse_coarse(step_ms: float, plant: Plant, where: str) -> None:
    """Raise a `DataError` with the cause `CoarseError` if readings come too seldom for a plant."""
    if step_ms > COARSE_STEPS * plant.step_s * 1000:
        raise DataError(
            f"{where}: its readings come every {span_text(step_ms)}, and the models of plant {plant.name!r} need one "
            f"every {span_text(plant.step_s * 1000)}; export shorter intervals, or hold each reading until "
            "the next, which costs accuracy (hold=yes in the address of a source, --hold of commands that read files)"
        ) from CoarseError()


def usual_step_ms(batch: Batch) -> float | None:
    """Return the usual interval of the points in a batch, or None if there are too few readings to decide."""
    columns, times, _ = batch.readings()
    medians = []
    for column in np.unique(columns).tolist():
        steps = np.diff(np.unique(times[columns == column]))
        if len(steps) >= FEWEST_INTERVALS:
            medians.append(float(np.median(steps)))
    if not medians:
        return None
    # rows of our own telemetry may report changes beside samples: its quickest points tell how often they are taken
    return float(np.quantile(medians, QUICKEST) if isinstance(batch, RowBatch) else np.median(medians))


def is_by_point(first: Batch) -> bool:
    """Return whether a table, whose first batch is given, is ordered by its points, each with its times.

    Rows are closed in the order of time, so that all points but the first would come too late.
    """
    if not isinstance(first, ReadingBatch) or not len(first):
        return False
    goes_back = bool((np.diff(first.times_ms) < -OUT_OF_ORDER_MS).any())
    return goes_back or (len(first) >= MANY_OF_ONE and len(np.unique(first.points)) == 1)


def _route(mapper: Mapper, series: Series) -> Route | Rejection:
    """Return where a point goes: by its own name, by that of its column, or by its name without that of the site."""
    unit = None if series.states else series.stated_unit
    header = split_header(series.column).name
    names = [series.name, header]
    if header.lower() == "value":  # a long table in our own form names the site before zone and point
        names.append(series.name.partition("/")[2])
    name = next(filter(mapper.knows, names), series.name)
    route = mapper.route(name, unit)
    if route is Rejection.UNMAPPED:
        mapper.unmapped[name[:200]] += max(0, len(series) - 1)
    return route


def _readings(
    series: Series,
    route: Route,
    mapper: Mapper,
    plant: Plant,
    rejected: Counter[Rejection],
    refusals: RefusalCounter,
) -> _Held:
    """Return the usable readings of a point in SI, and count the others."""
    raw = _codes(series, plant, mapper, route.column)
    values = (raw - route.shift) * route.scale
    columns = np.full(len(values), route.column, np.int32)
    impossible = mapper.points.impossible(columns, values)
    if mapper.statistics is not None:
        mapper.statistics.add_readings(columns, raw, impossible)
    bad_time = (series.times_ms < EARLIEST_MS) | (series.times_ms >= LATEST_MS)
    for omission in series.omissions:
        reason = Rejection.BAD_QUALITY if "quality" in omission.reason or "no sensor" in omission.reason else None
        rejected[reason or Rejection.MALFORMED] += omission.count
        refusals.add(route.column, reason or Rejection.MALFORMED, omission.reason, omission.count)
    rejected[Rejection.MALFORMED] += int(np.isnan(values).sum())
    rejected[Rejection.OUT_OF_LIMITS] += int(impossible.sum())
    rejected[Rejection.BAD_TIME] += int(bad_time.sum())
    refusals.add_columns(columns, raw, np.isnan(values), Rejection.MALFORMED)
    refusals.add_columns(columns, raw, impossible, Rejection.OUT_OF_LIMITS)
    refusals.add_columns(columns, raw, bad_time, Rejection.BAD_TIME)
    keep = np.isfinite(values) & ~impossible & ~bad_time
    step_ms = round(plant.step_s * 1000)
    own_ms = series.reporting.step_ms or step_ms
    hold_ms = step_ms if own_ms <= step_ms else round(HELD_STEPS * own_ms)
    return _Held(series.name, series.times_ms[keep], values[keep], None if series.holds else hold_ms)


def _guesses(series: Series, route: Route | Rejection, mapper: Mapper) -> list[Guess]:
    """Return what was guessed about a point; for a point with states, only which of its words are none of them."""
    states = () if isinstance(route, Rejection) else _states(mapper, route.column)
    if not (series.states and states):
        return list(series.guesses)
    assert isinstance(route, Route)
    signal = mapper.points.names[route.column].rpartition("/")[2]
    counts = np.bincount(series.values.astype(np.int64), minlength=len(series.states)).tolist()
    unknown = {word: count for word, count in zip(series.states, counts, strict=True) if count}
    unknown = {word: count for word, count in unknown.items() if mapper.state_of(word, route.column) not in states}
    guesses = [each for each in series.guesses if each.what != "states"]
    for word, count in unknown.items():
        reason = (
            f"no state of {signal} ({', '.join(states)}), so {counted(count, 'reading')} left out; say which it is "
            f"in the mapping file, below [states.{signal}]"
        )
        guesses.append(Guess(series.name, "word", repr(word), reason))
    return guesses


def _states(mapper: Mapper, column: int) -> tuple[str, ...]:
    return mapper.points.states.get(mapper.points.names[column].rpartition("/")[2], ())


def _codes(series: Series, plant: Plant, mapper: Mapper, column: int) -> NDArray[np.float64]:
    """Return the readings; states in words become the codes that the plant gives to these words."""
    states = _states(mapper, column)
    if not (series.states and states):
        return series.values
    low = plant.signal(mapper.points.names[column].rpartition("/")[2]).low
    code_of = {state: low + number for number, state in enumerate(states)}
    codes = np.array([code_of.get(mapper.state_of(word, column), np.nan) for word in series.states])
    own: NDArray[np.float64] = codes[series.values.astype(np.int64)]
    return own


def _joined(parts: list[_Held], mapper: Mapper, where: str) -> _Held:
    """Return the parts of a point in several files as one; two points for one are an error."""
    if len({part.name for part in parts}) > 1:
        names = " and ".join(repr(part.name) for part in parts[:2])
        raise SchemaError(f"{where}: {names} both feed one point; map one of them elsewhere")
    times = np.concatenate([part.times_ms for part in parts])
    order = np.argsort(times, kind="stable")
    values = np.concatenate([part.values for part in parts])[order]
    return _Held(parts[0].name, times[order], values, parts[0].hold_ms)


def _days(
    points: Mapping[int, _Held],
    site: str,
    width: int,
    step_ms: int,
    rejected: Counter[Rejection],
    refusals: RefusalCounter,
) -> Iterator[Batch]:
    """Yield the rows of one day after the other, from the first sampled reading to the last."""
    filled = {column: held for column, held in points.items() if len(held.times_ms)}
    leading = [held for held in filled.values() if held.hold_ms is not None] or list(filled.values())
    if not leading:
        yield replace(ReadingBatch.empty(site, 0, dict(+rejected)), refused=refusals.take())
        return
    start = -(-min(int(held.times_ms[0]) for held in leading) // step_ms) * step_ms
    last = max(int(held.times_ms[-1]) for held in leading)
    for day in range(start, last + step_ms, _DAY_MS):
        times = np.arange(day, min(day + _DAY_MS, last + step_ms), step_ms, dtype=np.int64)
        values = np.full((len(times), width), np.nan)
        for column, held in filled.items():
            newest = np.searchsorted(held.times_ms, times, side="right") - 1
            known = newest >= 0
            if held.hold_ms is not None:
                known &= times - held.times_ms[newest] < held.hold_ms
            values[known, column] = held.values[newest[known]]
        is_empty = np.isnan(values).all(axis=1)
        rows = times[~is_empty], values[~is_empty]
        yield RowBatch(site, int(times[-1]), *rows, rejected=dict(+rejected), refused=refusals.take())
        rejected = Counter()
