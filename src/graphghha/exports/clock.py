"""The times of a whole file in UTC: the order of its dates, the zone of its clock, what happened at changes of it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError
from graphghha.exports.notes import NO_ZONE, STATE_ZONE, Guess, Omission
from graphghha.exports.offsets import region_of_offsets, stated_offsets
from graphghha.exports.plan import FilePlan
from graphghha.exports.reporting import usual_step_ms
from graphghha.exports.table import open_table
from graphghha.exports.times import (
    NO_TIME,
    Family,
    Order,
    TimeFields,
    join_fields,
    possible_orders,
    take_apart,
)
from graphghha.exports.zones import (
    LocalClock,
    guess_summer_rule,
    offset_ms,
    region_of_city,
    zone_offset_ms,
    zone_region,
)
from graphghha.plants.arrow import pa, pc, pq

PARQUET_ROWS = 1 << 16
_DAY_MS = 86_400_000
_EXCEL_EPOCH_DAYS = 25_569  # from 1899-12-30 to 1970-01-01
_CITY = re.compile(r"[Z\d]\s+\[?([A-Z][A-Za-z_+/-]+)\]?\s*$")  # behind an offset: `-05:00 New_York`
_EPOCHS = ((1e17, 1e-6, "ns"), (1e14, 1e-3, "µs"), (1e11, 1.0, "ms"), (1e8, 1000.0, "s"))


@dataclass(frozen=True, slots=True)
class Zone:
    """The clock of times that name no zone, and why it is taken."""

    clock: LocalClock
    reason: str
    is_stated: bool = True  # by the user or by the files; otherwise the distance from UTC is a guess


UNKNOWN_ZONE = Zone(LocalClock("UTC"), NO_ZONE, False)


@dataclass(frozen=True, slots=True)
class FileTimes:
    """The times of the rows of a file [n] in UTC, `NO_TIME` where a row has none."""

    utc_ms: NDArray[np.int64]
    local_ms: NDArray[np.int64]  # what the clock showed
    guesses: tuple[Guess, ...] = ()
    omissions: tuple[Omission, ...] = ()


def blocks_of(plan: FilePlan, columns: Sequence[int], torn: list[str] | None = None) -> Iterator[Any]:
    """Yield record batches with these columns of a file, named by their number; torn rows are added to `torn`."""
    if plan.table is not None:
        yield from open_table(plan.path, plan.table, columns, torn)
        return
    try:
        names = [plan.names[number] for number in columns]
        for batch in pq.ParquetFile(plan.path).iter_batches(batch_size=PARQUET_ROWS, columns=names):
            order = [batch.schema.get_field_index(name) for name in names]
            yield pa.RecordBatch.from_arrays([batch.column(n) for n in order], names=[str(n) for n in columns])
    except (OSError, pa.ArrowInvalid) as exc:
        raise DataError(f"{plan.path}: cannot be read further: {exc}") from exc


def read_times(
    plan: FilePlan, zone: Zone, order: Order | None = None, points: NDArray[np.int32] | None = None
) -> FileTimes:
    """Read the times of a file. `order` is that of other files of the export, for dates that fit more than one.

    `points` [n] are the points of the rows of a long table.
    """
    columns = [plan.time.date] + ([] if plan.time.clock is None else [plan.time.clock])
    torn: list[str] = []
    blocks = list(blocks_of(plan, columns, torn))
    if not blocks:
        return FileTimes(np.empty(0, np.int64), np.empty(0, np.int64))
    found = _times_of(plan, blocks, zone, order, points)
    if rows := [text for text in torn if any(mark.isalnum() for mark in text)]:
        reason = f"more or fewer fields than there are columns, such as {rows[0][:40]!r}"
        return replace(found, omissions=(*found.omissions, Omission(plan.about, "row", len(rows), reason)))
    return found


def _times_of(
    plan: FilePlan, blocks: list[Any], zone: Zone, order: Order | None, points: NDArray[np.int32] | None
) -> FileTimes:
    kind = blocks[0].column(0).type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _from_timestamps(plan, [block.column(0) for block in blocks], zone, points)
    if plan.time.family is None:
        return _from_numbers(plan, [block.column(0) for block in blocks], zone, points)
    fields = join_fields([take_apart(_one_column(block), plan.time.family) for block in blocks])
    return _from_fields(plan, fields, zone, order, _one_column(blocks[0]), points)


def _one_column(block: Any) -> Any:
    """Return the texts of the times; a time of day that stands apart is put behind its date."""
    date = block.column(0).cast(pa.string())
    if block.num_columns == 1:
        return date
    return pc.binary_join_element_wise(date, block.column(1).cast(pa.string()), " ")


def _from_fields(
    plan: FilePlan,
    fields: TimeFields,
    zone: Zone,
    order: Order | None,
    first: Any,
    points: NDArray[np.int32] | None,
) -> FileTimes:
    about, guesses = plan.about, []
    chosen, guess = choose_order(fields, about, order)
    if guess:
        guesses.append(guess)
    local = fields.local_ms(chosen)
    stated = [zone_offset_ms(text) for text in fields.zones]
    has_offset = np.array([offset is not None for offset in stated])[fields.zone]
    offsets = np.array([offset or 0 for offset in stated], np.int64)[fields.zone]
    for number, text in enumerate(fields.zones):
        if text and stated[number] is None and (region := zone_region(text)):
            chosen_rows = fields.zone == number
            utc, _ = LocalClock(region).to_utc(np.where(chosen_rows, local, NO_TIME))
            offsets = np.where(chosen_rows & (local != NO_TIME), local - utc, offsets)
            has_offset |= chosen_rows
    known = local != NO_TIME
    utc = np.where(known, local - offsets, NO_TIME)
    if not (has_offset | ~known).all():
        naive, more, left = _by_clock(plan, np.where(has_offset, NO_TIME, local), zone, points)
        utc = np.where(has_offset, utc, naive)
        guesses += more
    else:
        left = ()
    words = [text for text in fields.zones if text and zone_offset_ms(text) is None and not zone_region(text)]
    if words:
        guesses.append(Guess(about, "zone of its times", "as below", f"{words[0]!r} behind a time is unknown"))
    bad = int((~known).sum())
    omissions = list(left)
    if bad:
        row = int(np.flatnonzero(~known)[0])
        example = f"such as {first[row].as_py()!r}" if row < len(first) else "further down"
        omissions.append(Omission(about, "row", bad, f"its time cannot be read, {example}"))
    return FileTimes(utc, local, tuple(guesses), tuple(omissions))


def choose_order(fields: TimeFields, about: str, other_files: Order | None) -> tuple[Order, Guess | None]:
    """Return the order of day, month and year, and the guess it is if the year does not come first."""
    possible = possible_orders(fields)
    if not possible:
        raise DataError(f"{about}: its dates fit neither day first nor month first; state the order with dates")
    if len(possible) == 1:
        order, reason = possible[0]
        is_plain = fields.family is not Family.NUMBERS or order is Order.YEAR_FIRST
        return order, None if is_plain else Guess(about, "dates", str(order), reason)
    if other_files in (Order.DAY_FIRST, Order.MONTH_FIRST):
        return other_files, Guess(about, "dates", str(other_files), "stated, or as in other files of this export")
    spread = {}
    for order, _ in possible:
        times = fields.local_ms(order)
        steps = np.diff(times[times != NO_TIME])
        spread[order] = float(np.abs(steps).sum()) if len(steps) else 0.0
    best, other = sorted(spread, key=lambda order: spread[order])
    if spread[best] < 0.5 * spread[other]:
        return best, Guess(about, "dates", str(best), f"read {other} its times would jump back and forth")
    if fields.has_points:
        return Order.DAY_FIRST, Guess(about, "dates", str(Order.DAY_FIRST), "dates with points have the day first")
    reason = "no date of this file shows the order; state it with dates"
    return Order.MONTH_FIRST, Guess(about, "dates", str(Order.MONTH_FIRST), reason)


def _by_clock(
    plan: FilePlan, local: NDArray[np.int64], zone: Zone, points: NDArray[np.int32] | None
) -> tuple[NDArray[np.int64], list[Guess], tuple[Omission, ...]]:
    """Return UTC times of local times, and what was guessed about their clock."""
    clock, about = zone.clock, plan.about
    utc, report = clock.to_utc(local, points)
    guesses = [Guess(about, "time zone", clock.zone, zone.reason)]
    known = int((local != NO_TIME).sum())
    if report.missing and report.missing > 3:
        winter = LocalClock(clock.zone, clock.shift_ms)
        first = int(local[local != NO_TIME].min())
        offset = min(offset_ms(clock.zone, first + month * 30 * _DAY_MS) for month in range(12))
        reason = f"{report.missing} readings lie in an hour that is skipped in spring: this clock is not put forward"
        guesses[-1] = Guess(about, "time zone", f"{winter.zone}, always winter time", reason)
        return np.where(local != NO_TIME, local - offset + clock.shift_ms, NO_TIME), guesses, ()
    if report.doubled:
        day = ", ".join(_day(change.utc_ms) for change in report.changes if change.is_back)
        reason = f"the clock was put back on {day}; the order of the rows separates the first hour from the second"
        guesses.append(Guess(about, "doubled hour", f"{report.doubled} of {known} readings", reason))
    return utc, guesses, ()


def _day(utc_ms: int) -> str:
    return str(np.datetime64(utc_ms, "ms").astype("datetime64[D]"))


def _from_timestamps(plan: FilePlan, columns: list[Any], zone: Zone, points: NDArray[np.int32] | None) -> FileTimes:
    kind = columns[0].type
    has_zone = pa.types.is_timestamp(kind) and kind.tz is not None
    wanted = pa.timestamp("ms", tz=kind.tz if has_zone else None)
    whole = [column.cast(wanted, safe=False).cast(pa.int64()).fill_null(NO_TIME) for column in columns]
    local = np.concatenate([column.to_numpy(zero_copy_only=False) for column in whole]).astype(np.int64)
    if has_zone:
        return FileTimes(local, local)
    utc, guesses, omissions = _by_clock(plan, local, zone, points)
    return FileTimes(utc, local, tuple(guesses), omissions)


def _from_numbers(plan: FilePlan, columns: list[Any], zone: Zone, points: NDArray[np.int32] | None) -> FileTimes:
    """Read numbers since 1970, which are in UTC, or days since 1900 as spreadsheets write them, which are local."""
    decimal = plan.table.decimal if plan.table else "."
    texts = [column.cast(pa.string()) for column in columns]
    numbers = np.concatenate([_floats(text, decimal) for text in texts])
    usual = float(np.nanmedian(numbers)) if np.isfinite(numbers).any() else 0.0
    about, omissions = plan.about, []
    scale, unit = next(((scale, unit) for above, scale, unit in _EPOCHS if usual >= above), (0.0, ""))
    known = np.isfinite(numbers) & (np.abs(numbers) < 9e18)
    if scale:
        exact = np.where(known, np.round(np.where(known, numbers, 0.0) * scale), 0).astype(np.int64)
        utc = np.where(known, exact, NO_TIME)
        guess = Guess(about, "times", f"{unit} since 1970", f"numbers near {usual:.0f}")
        found = FileTimes(utc, utc, (guess,))
    elif 10_000 < usual < 100_000:
        local = np.where(known, np.round((np.where(known, numbers, 0.0) - _EXCEL_EPOCH_DAYS) * 86_400) * 1000, NO_TIME)
        utc, guesses, _ = _by_clock(plan, local.astype(np.int64), zone, points)
        guess = Guess(about, "times", "days since 1900", f"numbers near {usual:.0f}, as spreadsheets store times")
        found = FileTimes(utc, local.astype(np.int64), (guess, *guesses))
    else:
        raise DataError(f"{plan.path}: its times are numbers near {usual:g}, which is not a time since 1970 or 1900")
    if not known.all():
        omissions = [Omission(about, "row", int((~known).sum()), "its time is not a number")]
    return FileTimes(found.utc_ms, found.local_ms, found.guesses, tuple(omissions))


def _floats(column: Any, decimal: str) -> NDArray[np.float64]:
    text = pc.replace_substring(pc.utf8_trim_whitespace(column), decimal, ".") if decimal != "." else column
    is_number = pc.match_substring_regex(text, r"^\s*[-+]?\d+(\.\d+)?([eE][-+]?\d+)?\s*$")
    cleaned = pc.utf8_trim_whitespace(pc.if_else(is_number, text, None))
    values = cleaned.cast(pa.float64()).fill_null(float("nan")).to_numpy(zero_copy_only=False)
    return np.array(values, np.float64)


def regular_step_ms(local_ms: NDArray[np.int64]) -> int:
    """Return the usual distance between two rows."""
    steps = np.abs(np.diff(local_ms[local_ms != NO_TIME]))
    return usual_step_ms(float(np.median(steps[steps > 0]))) if (steps > 0).any() else 0


def find_zone(plans: Sequence[FilePlan], stated: str | None) -> Zone:
    """Return the clock of times that name no zone: as stated, as in other files, or by its changes."""
    if stated is not None:
        return Zone(LocalClock(stated), "stated")
    regions: dict[str, set[str]] = {}
    for plan in plans:
        for text in _zone_texts(plan):
            if (region := zone_region(text)) and region != "UTC":
                regions.setdefault(region, set()).add(text)
    if len(regions) == 1:
        region, texts = next(iter(regions.items()))
        return Zone(LocalClock(region), f"other files of this export state {' and '.join(sorted(texts))}")
    offsets = [pair for plan in plans if plan.time.family for pair in stated_offsets(_sampled(plan, plan.time.family))]
    if not regions and (known := region_of_offsets(offsets)):
        return Zone(LocalClock(known[0]), known[1])
    for plan in plans:
        if plan.time.family is None or any(_zone_texts(plan)):
            continue
        try:
            local = read_times(plan, UNKNOWN_ZONE).local_ms
        except DataError:
            continue  # the file is left out with this reason when it is read
        if found := guess_summer_rule(local, regular_step_ms(local)):
            clock, reason = found
            unknown = f"its distance from UTC is unknown and taken as 0; {STATE_ZONE}"
            return Zone(clock, f"{plan.about}: {reason}; {unknown}", False)
    return UNKNOWN_ZONE


def _zone_texts(plan: FilePlan) -> list[str]:
    settings = plan.table.settings if plan.table else {}
    named = [value for key, value in settings.items() if key in ("time zone", "timezone", "tz", "zone", "zeitzone")]
    if plan.time.family is None:
        return named
    fields = _sampled(plan, plan.time.family)
    cities = {match[1] for text in plan.times_sample if (match := _CITY.search(text))}
    return (
        named
        + [region for city in cities if (region := region_of_city(city))]
        + [text for text in fields.zones if text]
    )


def _sampled(plan: FilePlan, family: Family) -> TimeFields:
    return take_apart(pa.array(list(plan.times_sample), pa.string()), family)


def find_orders(plans: Sequence[FilePlan], stated: Order | None) -> Order | None:
    """Return the order of dates that some file of the export shows beyond doubt, or the stated one."""
    if stated is not None:
        return stated
    found: set[Order] = set()
    for plan in plans:
        if plan.time.family is Family.NUMBERS and plan.time.clock is None:
            possible = possible_orders(_sampled(plan, plan.time.family))
            if len(possible) == 1 and possible[0][0] is not Order.YEAR_FIRST:
                found.add(possible[0][0])
    return found.pop() if len(found) == 1 else None
