"""Commission a site from rows of its telemetry: a file, or what a monitor has kept."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graphghha.commissioning.commission import LEAST_DAYS, commission
from graphghha.commissioning.coverage import NAMED, Coverage
from graphghha.commissioning.levels import DayCollector
from graphghha.engine import EngineConfig
from graphghha.errors import DataError
from graphghha.models import CommissioningRecord, Model
from graphghha.plants.telemetry import TelemetryFile
from graphghha.windows import FileRows, Rows
from graphghha.windows.multiscale import DAY

GAP = timedelta(hours=1)  # the chosen days may lack this much at their end
RARE_PER_DAY = 0.1  # false alarms, below which the days between two say more


def commission_file(
    model: Model,
    path: Path,
    *,
    days: int,
    begin: datetime | None = None,
    engine: EngineConfig = EngineConfig(),
    on_rows: Callable[[int], None] = lambda rows: None,
    where: str = "",
    out_of_limits: Mapping[str, int] | None = None,
) -> Model:
    """Return a model of the site whose telemetry is in a file, from `days` days that begin at `begin` or the start.

    If the data was converted, `where` names it in error messages, and `out_of_limits` are the readings of each point
    that were rejected then.
    """
    rows = FileRows(TelemetryFile(path), model.template, any_reporting=True)
    points = model.template.replicate(len(rows.zones)).points

    def rejected() -> Counter[str]:
        counts = zip(points, rows.impossible.tolist(), strict=True)
        return Counter(out_of_limits or {}) + Counter({point: count for point, count in counts if count})

    return commission_rows(
        model,
        rows,
        len(rows.zones),
        days=days,
        begin=begin,
        step_ms=rows.step_ms,
        data=hashlib.sha256(path.read_bytes()).hexdigest(),
        where=where or str(path),
        rejected=rejected,
        engine=engine,
        on_rows=on_rows,
    )


def commission_rows(
    model: Model,
    rows: Iterable[Rows],
    zones: int,
    *,
    days: int,
    step_ms: int,
    data: str,
    where: str,
    begin: datetime | None = None,
    hide: Callable[[Rows], Rows] = lambda rows: rows,
    rejected: Callable[[], Mapping[str, int]] = dict,
    engine: EngineConfig = EngineConfig(),
    on_rows: Callable[[int], None] = lambda rows: None,
) -> Model:
    """Return a model of the site whose rows are given in time order; `data` and `where` name them.

    `hide` takes out what must not be learned; such rows do not count as a gap. `rejected` says in the end how many
    readings of each point were out of limits.
    """
    graph = model.template.replicate(zones)
    collector = DayCollector(graph, model.template, model.zone_preprocessing)
    first_ms = None if begin is None else round(begin.replace(tzinfo=begin.tzinfo or UTC).timestamp() * 1000)
    last_ms, length_ms = 0, days * DAY * 1000
    coverage: Coverage | None = None
    for portion in rows:
        first_ms = int(portion.times_ms[0]) if first_ms is None else first_ms
        coverage = coverage or Coverage(graph, model.template, first_ms=first_ms, days=days, step_ms=step_ms)
        chosen = (portion.times_ms >= first_ms) & (portion.times_ms < first_ms + length_ms)
        if chosen.any():
            coverage.push(portion.times_ms[chosen], portion.fresh[chosen])
            shown = hide(portion)
            collector.push(shown.values[chosen], shown.fresh[chosen])
            last_ms = int(portion.times_ms[chosen][-1])
            on_rows(int(chosen.sum()))
        if portion.times_ms[-1] >= first_ms + length_ms:
            break
    if not collector or first_ms is None or coverage is None:
        raise DataError(f"{where}: has no rows in the chosen days")
    first, last = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (first_ms, last_ms + step_ms))
    if last - first < timedelta(days=days) - GAP:
        found = (last - first) / timedelta(days=1)
        since = "" if begin is None else f" from {first:%Y-%m-%d %H:%M} on"
        raise DataError(f"{where}: has {found:.1f} days of telemetry{since}, and {days} are asked for")
    out_of_limits = dict(rejected())
    coverage.require_enough(where, out_of_limits)
    chosen_days = collector.days(DAY * 1000 // step_ms)
    derived = commission(
        model, graph, chosen_days, data=data, first=first, last=last, held_days=coverage.days, engine=engine
    )
    assert derived.commissioning is not None
    record = replace(derived.commissioning, out_of_limits=out_of_limits, short_zones=coverage.short_zones)
    return replace(derived, commissioning=record)


def describe(record: CommissioningRecord) -> list[str]:
    """Return what a commissioning found, in sentences."""
    first, last = (datetime.fromisoformat(each) for each in (record.first, record.last))
    chosen = round((last - first) / timedelta(days=1))
    gaps = f" (of {chosen}; the others hold too few usable readings)" if record.days < chosen else ""
    zones = f"{len(record.zones)} zone{'s' if len(record.zones) > 1 else ''}"
    lines = [
        f"commissioned {zones} on {record.days} days, {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC{gaps}",
        _expectation(*record.expected_false_per_day),
    ]
    if record.own_threshold > record.threshold:
        lines.append(
            "these days are less quiet than those of other buildings, as if something was wrong in them; the threshold "
            "was kept at its upper limit; look for a fault in the building, then commission again on other days"
        )
    lines += _never_usable(record)
    lines += [
        f"{zone} was heard on {days} {'day' if days == 1 else 'days'} only; commission again once it has {LEAST_DAYS}"
        for zone, days in record.short_zones.items()
    ]
    if record.reporting:
        kinds = Counter(words.partition(",")[0] for words in record.reporting.values())
        lines.append("points report " + ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common()))
    if record.left_out:
        parts = [
            f"{each.zone or 'the plant'} ({each.node}, {max(each.share_of_time, 0.001):.1%})"
            for each in record.left_out
        ]
        more = f" and {len(parts) - 5} more zones" if len(parts) > 5 else ""
        lines.append(f"looked abnormal for a time that was not learned from: {', '.join(parts[:5])}{more}")
    for fault in record.standing:
        lines.append(
            f"possible standing fault in {fault.zone or 'the plant'}: {fault.node} looked abnormal for "
            f"{fault.share_of_time:.0%} of the time; have it checked, since the model now takes it for usual"
        )
    if not record.standing:
        lines.append("no standing fault was seen")
    return lines


def _expectation(low: float, high: float) -> str:
    """Return how many false alarms others had, since this site has had none to count; in small ones they are rare."""
    others = "other buildings of this size had"
    if 0 < high < RARE_PER_DAY:
        return f"{others} at most one false alarm in {1 / high:.0f} days after commissioning"
    return f"{others} {low:.1f} to {high:.1f} false alarms a day after commissioning"


def _never_usable(record: CommissioningRecord) -> list[str]:
    """Return the points that the site lacks in every zone, those that only some zones lack, and rejected readings."""
    rejected = record.out_of_limits
    silent = [point for point in record.missing_points if point not in rejected]
    zones_without = Counter(point.rpartition("/")[2] for point in silent)
    lacking = [name for name, count in zones_without.items() if count == len(record.zones)]
    some = [point for point in silent if point.rpartition("/")[2] not in lacking]
    never = {point: rejected[point] for point in record.missing_points if point in rejected}
    now_and_then = {point: count for point, count in rejected.items() if point not in never}
    lines = [f"points that the site does not have: {', '.join(lacking)}"] if lacking else []
    if some:
        lines.append(f"points that were never heard: {_first(some)}")
    if never:
        lines.append(f"points that were never usable: {_with_counts(never)}; check their units")
    if now_and_then:
        lines.append(f"not used of points that are usable otherwise: {_with_counts(now_and_then)}")
    return lines


def _with_counts(rejected: Mapping[str, int]) -> str:
    return f"{sum(rejected.values()):,} readings out of limits ({_first(list(rejected))})"


def _first(points: list[str]) -> str:
    more = f" and {len(points) - NAMED} more" if len(points) > NAMED else ""
    return ", ".join(points[:NAMED]) + more
