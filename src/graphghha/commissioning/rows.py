"""Commission a site from rows of its telemetry: a file, or what a monitor has kept."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graphghha.commissioning.commission import commission
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
) -> Model:
    """Return a model of the site whose telemetry is in a file, from `days` days that begin at `begin` or the start.

    `where` names the data in error messages, if it was converted.
    """
    rows = FileRows(TelemetryFile(path), model.template, any_reporting=True)
    return commission_rows(
        model,
        rows,
        len(rows.zones),
        days=days,
        begin=begin,
        step_ms=rows.step_ms,
        data=hashlib.sha256(path.read_bytes()).hexdigest(),
        where=where or str(path),
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
    engine: EngineConfig = EngineConfig(),
    on_rows: Callable[[int], None] = lambda rows: None,
) -> Model:
    """Return a model of the site whose rows are given in time order; `data` and `where` name them."""
    graph = model.template.replicate(zones)
    collector = DayCollector(graph, model.template, model.zone_preprocessing)
    first_ms = None if begin is None else round(begin.replace(tzinfo=begin.tzinfo or UTC).timestamp() * 1000)
    last_ms, length_ms = 0, days * DAY * 1000
    for portion in rows:
        first_ms = int(portion.times_ms[0]) if first_ms is None else first_ms
        chosen = (portion.times_ms >= first_ms) & (portion.times_ms < first_ms + length_ms)
        if chosen.any():
            collector.push(portion.values[chosen], portion.fresh[chosen])
            last_ms = int(portion.times_ms[chosen][-1])
            on_rows(int(chosen.sum()))
        if portion.times_ms[-1] >= first_ms + length_ms:
            break
    if not collector or first_ms is None:
        raise DataError(f"{where}: has no rows in the chosen days")
    first, last = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (first_ms, last_ms + step_ms))
    if last - first < timedelta(days=days) - GAP:
        found = (last - first) / timedelta(days=1)
        since = "" if begin is None else f" from {first:%Y-%m-%d %H:%M} on"
        raise DataError(f"{where}: has {found:.1f} days of telemetry{since}, and {days} are asked for")
    chosen_days = collector.days(DAY * 1000 // step_ms)
    return commission(model, graph, chosen_days, data=data, first=first, last=last, engine=engine)


def describe(record: CommissioningRecord) -> list[str]:
    """Return what a commissioning found, in sentences."""
    first, last = (datetime.fromisoformat(each) for each in (record.first, record.last))
    zones = f"{len(record.zones)} zone{'s' if len(record.zones) > 1 else ''}"
    lines = [
        f"commissioned {zones} on {record.days} days, {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC",
        _expectation(*record.expected_false_per_day),
    ]
    if record.own_threshold > record.threshold:
        lines.append(
            "these days are less quiet than those of other buildings, as if something was wrong in them; the threshold "
            "was kept at its upper limit; look for a fault in the building, then commission again on other days"
        )
    lines += _never_heard(record)
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
    """Return how many false alarms to expect; in small buildings they are days apart."""
    if 0 < high < RARE_PER_DAY:
        return f"expect at most one false alarm in {1 / high:.0f} days"
    return f"expect {low:.1f} to {high:.1f} false alarms a day"


def _never_heard(record: CommissioningRecord) -> list[str]:
    """Return the points that the site lacks in every zone, and those that only some zones lack."""
    zones_without = Counter(point.rpartition("/")[2] for point in record.missing_points)
    lacking = [name for name, count in zones_without.items() if count == len(record.zones)]
    some = [point for point in record.missing_points if point.rpartition("/")[2] not in lacking]
    lines = [f"points that the site does not have: {', '.join(lacking)}"] if lacking else []
    if some:
        more = f" and {len(some) - 5} more" if len(some) > 5 else ""
        lines.append(f"points that were never heard: {', '.join(some[:5])}{more}")
    return lines
