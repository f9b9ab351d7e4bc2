"""Signals and scores over time: smallest, mean and largest per bucket, with the expected band."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._util.times import iso, parse_time_ms
from graphghha.errors import ConfigError, GraphGHHAError, NotFoundError
from graphghha.models import load_model
from graphghha.monitor.journal import IncidentFilter
from graphghha.monitor.quantized import probabilities
from graphghha.web.contract import signals as contract
from graphghha.web.library import Library, SiteAbout
from graphghha.windows import RECENT_ROWS, open_forecast
from graphghha.windows.forecast import Forecast, NodeForecast

MOST_BUCKETS, MOST_POINTS = 2_000, 12
MOST_BAND_MS = 2 * 86_400_000
MOST_SPAN_MS = 400 * 86_400_000
UNSURE_SHARE, SPREADS = 0.6, 3.0
Floats = NDArray[np.float64]


class Buckets:
    """A span cut into equal parts, whole steps of the site long."""

    def __init__(self, start_ms: int, end_ms: int, width: int, step_ms: int) -> None:
        if not 0 < end_ms - start_ms <= MOST_SPAN_MS:
            raise ConfigError("history: `from` must lie before `to`, by at most 400 days")
        if not 1 <= width <= MOST_BUCKETS:
            raise ConfigError(f"history: width {width} must be 1 to {MOST_BUCKETS}")
        steps = -(-(end_ms - start_ms + step_ms) // (width * step_ms))
        self.size_ms = max(1, steps) * step_ms
        self.start_ms = start_ms // self.size_ms * self.size_ms if steps > 1 else start_ms // step_ms * step_ms
        self.count = min(MOST_BUCKETS, max(1, (end_ms - self.start_ms) // self.size_ms + 1))

    @property
    def times(self) -> list[int]:
        return [self.start_ms + at * self.size_ms for at in range(self.count)]

    def reduce(self, times: NDArray[np.int64], values: Floats, how: str) -> list[float | None]:
        """Return one number per bucket, None where there is none; `how` is least, mean or most."""
        whole = np.full(self.count, np.nan)
        at = (times - self.start_ms) // self.size_ms
        inside = (at >= 0) & (at < self.count) & np.isfinite(values)
        at, values = at[inside], values[inside]
        if len(at):
            if how == "mean":
                total = np.bincount(at, values, minlength=self.count)
                with np.errstate(invalid="ignore"):
                    whole = total / np.bincount(at, minlength=self.count)
            elif how == "least":
                np.fmin.at(whole, at, values)
            else:
                np.fmax.at(whole, at, values)
        return [None if not np.isfinite(each) else round(float(each), 6) for each in whole]


def history(
    library: Library,
    about: SiteAbout,
    points: list[str],
    span: tuple[int, int],
    width: int,
    model: Path | None,
    *,
    is_band: bool,
) -> contract.History:
    """Return signals over time; the band needs the site's model and a span of at most two days."""
    if not 1 <= len(points) <= MOST_POINTS:
        raise ConfigError(f"history: 1 to {MOST_POINTS} points, not {len(points)}")
    for point in points:
        if point not in about.points:
            raise NotFoundError(f"site {about.name!r} has no point {point!r}")
    buckets = Buckets(*span, width, about.step_ms)
    has_band = is_band and model is not None and span[1] - span[0] <= MOST_BAND_MS
    series = []
    zones = dict.fromkeys(point.rpartition("/")[0] for point in points)
    by_zone = {zone: _zone(library, about, zone, span, model if has_band else None) for zone in zones}
    for point in points:
        zone, _, role = point.rpartition("/")
        times, values, band, columns = by_zone[zone]
        series.append(_series(about, buckets, point, about.role(role), times, values[:, columns[point]], band, library))
    return contract.History(
        site=about.name,
        start=iso(buckets.start_ms),
        end=iso(buckets.start_ms + buckets.count * buckets.size_ms),
        bucket_ms=buckets.size_ms,
        times=buckets.times,
        series=series,
    )


Band = tuple[NDArray[np.int64], dict[str, tuple[Floats, Floats]]]


def _zone(
    library: Library, about: SiteAbout, zone: str, span: tuple[int, int], model: Path | None
) -> tuple[NDArray[np.int64], Floats, Band | None, dict[str, int]]:
    points = [point for point in about.points if point.rpartition("/")[0] == zone]
    times, values = library.reader.zone_rows(about.name, list(about.points), zone, *span)
    band = None if model is None else _band(library, about, zone, span, model)
    return times, values.astype(np.float64), band, {point: at for at, point in enumerate(points)}


def _series(
    about: SiteAbout,
    buckets: Buckets,
    point: str,
    node: Mapping[str, Any],
    times: NDArray[np.int64],
    values: Floats,
    band: Band | None,
    library: Library,
) -> contract.Series:
    more: dict[str, Any] = {}
    if band is not None and point in band[1]:
        moments, (mean, spread) = band[0], band[1][point]
        low, high = float(node["low"]), float(node["high"])
        expected = buckets.reduce(moments, mean, "mean")
        lower = buckets.reduce(moments, np.clip(mean - SPREADS * spread, low, high), "mean")
        upper = buckets.reduce(moments, np.clip(mean + SPREADS * spread, low, high), "mean")
        onsets = _onsets(library, about, point.rpartition("/")[0], buckets)
        kinds = [
            None
            if a is None or b is None
            else "unsure"
            if b - a > UNSURE_SHARE * (high - low)
            else "affected"
            if any(begin <= moment < end for begin, end in onsets)
            else "expected"
            for moment, a, b in zip(buckets.times, lower, upper, strict=True)
        ]
        more = {"expected": expected, "low": lower, "high": upper, "kind": kinds}
    return contract.Series(
        point=point,
        name=node["name"],
        unit=str(node.get("unit") or ""),
        decimals=int(node.get("decimals", 0)),
        states=list(node.get("states", [])),
        is_setting=bool(node.get("is_setting")),
        least=buckets.reduce(times, values, "least"),
        mean=buckets.reduce(times, values, "mean"),
        most=buckets.reduce(times, values, "most"),
        **more,
    )


def _onsets(library: Library, about: SiteAbout, zone: str, buckets: Buckets) -> list[tuple[int, int]]:
    """Return from when to when incidents of a zone lasted."""
    end = buckets.start_ms + buckets.count * buckets.size_ms
    wanted = IncidentFilter(sites=[about.name], zone=zone or None, to_time=iso(end))
    found, _ = library.reader.list_incidents(wanted, limit=50)
    return [(parse_time_ms(b.get("since")) or 0, parse_time_ms(b.get("closed")) or 2**62) for b in found]


def expected_now(library: Library, about: SiteAbout, zone: str, model: Path | None) -> dict[str, tuple[float, float]]:
    """Return what the points of a zone should read now, mean and spread; empty if it cannot be said."""
    now_ms, _ = library.reader.last_commit(about.name)
    band = _band(library, about, zone, (now_ms, now_ms), model) if model is not None else None
    if band is None or not len(band[0]):
        return {}
    return {
        point: (float(mean[-1]), float(spread[-1]))
        for point, (mean, spread) in band[1].items()
        if np.isfinite(mean[-1]) and np.isfinite(spread[-1])
    }


def _band(library: Library, about: SiteAbout, zone: str, span: tuple[int, int], model: Path) -> Band | None:
    """Return what a zone's points should have read, [n] mean and spread by point; None if the model cannot say."""
    try:
        forecast, is_alone = _forecast(model, (model / "manifest.json").stat().st_mtime_ns, zone, tuple(about.zones))
    except (GraphGHHAError, OSError):
        return None
    from_ms = span[0] - RECENT_ROWS * about.step_ms
    own = [point for point in about.points if point.rpartition("/")[0] == zone]
    if is_alone:
        times, values = library.reader.zone_rows(about.name, list(about.points), zone, from_ms, span[1])
        names = own
    else:
        rows = library.reader.rows(about.name, from_ms=from_ms, to_ms=span[1])
        if rows is None:
            return None
        times, values, names = rows.times_ms, rows.values.astype(np.float32), list(about.points)
    if not len(times) or values.shape[1] != len(names):
        return None
    fresh = np.isfinite(values)
    try:
        mean, spread = forecast.series(np.where(fresh, values, 0.0), fresh)
    except (ValueError, IndexError):
        return None
    wanted = times >= span[0]
    columns = {point: names.index(point) for point in own}
    return times[wanted], {p: (mean[wanted, at], spread[wanted, at]) for p, at in columns.items()}


@lru_cache(maxsize=64)
def _forecast(directory: Path, _changed_ns: int, zone: str, zones: tuple[str, ...]) -> tuple[Forecast, bool]:
    """Return the forecast of a model for one zone, and whether it needs that zone's readings only."""
    model = load_model(directory)
    alone = open_forecast(model.preprocessing, model.template.replicate([zone or "zone"]), model.template)
    if isinstance(alone, NodeForecast):
        return alone, True
    return open_forecast(model.preprocessing, model.template.replicate(list(zones)), model.template), False


def score_history(
    library: Library, about: SiteAbout, nodes: list[str], zones: list[str], span: tuple[int, int], width: int
) -> contract.ScoreHistory:
    """Return the largest P per bucket of nodes or of zones, with incidents as bars."""
    buckets = Buckets(*span, width, about.step_ms)
    times, scores = library.reader.scores(about.name, *span)
    if scores.shape[1] != len(about.nodes):
        times, scores = np.empty(0, np.int64), np.empty((0, len(about.nodes)), np.uint8)
    p, size = probabilities(scores), len(about.template)
    wanted: dict[str, Floats] = {}
    for node in nodes[:64]:
        if node not in about.nodes:
            raise NotFoundError(f"site {about.name!r} has no node {node!r}")
        wanted[node] = p[:, about.nodes.index(node)]
    for zone in zones or ([] if nodes else about.zones):
        at = about.zone_number(zone)
        part = p[:, at * size : (at + 1) * size]
        wanted[zone] = np.where(np.isfinite(part).any(axis=1), np.nanmax(np.nan_to_num(part, nan=-1.0), axis=1), np.nan)
    found, _ = library.reader.list_incidents(IncidentFilter(sites=[about.name], to_time=iso(span[1])), limit=500)
    marks = [
        contract.Marks(
            id=body["id"],
            zone=body.get("zone"),
            since=body["since"],
            announced=body.get("annunciated"),
            closed=body.get("closed"),
            priority=str(body.get("priority")),
        )
        for body in found
        if not body.get("closed") or str(body["closed"]) >= iso(span[0])
    ]
    return contract.ScoreHistory(
        site=about.name,
        start=iso(buckets.start_ms),
        end=iso(buckets.start_ms + buckets.count * buckets.size_ms),
        bucket_ms=buckets.size_ms,
        times=buckets.times,
        series=[
            contract.ScoreSeries(name=name, p=buckets.reduce(times, values, "most")) for name, values in wanted.items()
        ],
        incidents=marks,
    )
