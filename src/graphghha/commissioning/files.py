"""Commission a site from a telemetry file."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graphghha.commissioning.commission import commission
from graphghha.commissioning.levels import SiteDays, join_days
from graphghha.engine import EngineConfig
from graphghha.errors import DataError
from graphghha.graph import CpsGraph
from graphghha.models import Model
from graphghha.plants.telemetry import TelemetryFile
from graphghha.windows import FileRows
from graphghha.windows.evidence import Compared, Comparer
from graphghha.windows.multiscale import DAY


def commission_file(
    model: Model,
    path: Path,
    *,
    days: int,
    begin: datetime | None = None,
    engine: EngineConfig = EngineConfig(),
    on_rows: Callable[[int], None] = lambda rows: None,
) -> Model:
    """Return a model of the site whose telemetry is in a file, from `days` days that begin at `begin` or the start."""
    rows = FileRows(TelemetryFile(path), model.template)
    graph = model.template.replicate(len(rows.zones))
    compared, first, last = _compare(model, graph, rows, days, begin, on_rows)
    found = (last - first) / timedelta(days=1)
    if found < days - 1 / 24:
        since = "" if begin is None else f" from {begin:%Y-%m-%d %H:%M} on"
        raise DataError(f"{path}: has {found:.1f} days{since}; give a longer recording, or --days {max(1, int(found))}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return commission(model, graph, compared, data=digest, first=first, last=last, engine=engine)


def _compare(
    model: Model,
    graph: CpsGraph,
    rows: FileRows,
    days: int,
    begin: datetime | None,
    on_rows: Callable[[int], None],
) -> tuple[SiteDays, datetime, datetime]:
    """Compare the chosen days with the expectation of the model; also return the times of the first and last row."""
    comparer = Comparer(graph, model.template, model.zone_preprocessing)
    parts: list[Compared] = []
    first_ms = None if begin is None else int(begin.replace(tzinfo=UTC).timestamp() * 1000)
    last_ms = 0
    for portion in rows:
        first_ms = int(portion.times_ms[0]) if first_ms is None else first_ms
        chosen = (portion.times_ms >= first_ms) & (portion.times_ms < first_ms + days * DAY * 1000)
        if chosen.any():
            parts.append(comparer.push(portion.values[chosen], portion.fresh[chosen]))
            last_ms = int(portion.times_ms[chosen][-1])
            on_rows(int(chosen.sum()))
        if portion.times_ms[-1] >= first_ms + days * DAY * 1000:
            break
    if not parts or first_ms is None:
        raise DataError(f"{rows.file.path}: has no rows in the chosen days")
    times = [datetime.fromtimestamp(ms / 1000, UTC) for ms in (first_ms, last_ms + rows.step_ms)]
    return join_days(parts, DAY * 1000 // rows.step_ms), times[0], times[1]


def is_commissioning_data(model: Model, path: Path) -> bool:
    """Return whether a model was commissioned on this very file."""
    return model.commissioning is not None and (
        model.commissioning.data == hashlib.sha256(path.read_bytes()).hexdigest()
    )


def describe(model: Model) -> list[str]:
    """Return what a commissioning found, in sentences."""
    record = model.commissioning
    assert record is not None
    low, high = record.expected_false_per_day
    lines = [
        f"commissioned {len(record.zones)} zones on {record.days} days, {record.first} to {record.last}",
        f"expect {low:.1f} to {high:.1f} false alarms a day",
    ]
    if record.own_threshold > record.threshold:
        lines.append(
            "the days are less quiet than usual, as if something was wrong in them: the threshold was kept at its "
            "upper limit"
        )
    if record.missing_points:
        names = ", ".join(record.missing_points[:5])
        more = f" and {len(record.missing_points) - 5} more" if len(record.missing_points) > 5 else ""
        lines.append(f"never heard: {names}{more}")
    for fault in record.standing:
        lines.append(
            f"standing fault? {fault.zone or 'the plant'}: {fault.node} looked abnormal for "
            f"{fault.share_of_time:.0%} of the time; have it checked, since the model now takes it for usual"
        )
    if not record.standing:
        lines.append("no standing fault was seen")
    return lines
