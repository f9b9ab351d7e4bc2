"""Checks an export: reads every file once, one point at a time, and collects what is odd with a trace to plot."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.exports.clock import Zone
from graphghha.exports.compare import Summary, compare_files
from graphghha.exports.findings import Finding, Topic, check_series
from graphghha.exports.notes import Guess
from graphghha.exports.options import ExportOptions
from graphghha.exports.reader import ExportReader, FileReport
from graphghha.exports.reporting import Mode
from graphghha.exports.series import Series

TRACE_COLUMNS = 360  # of the plot of a point


@dataclass(frozen=True, slots=True)
class Trace:
    """The lowest and highest reading of a point in equal parts of the time it covers; NaN in parts without one."""

    start_ms: int
    end_ms: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CheckedPoint:
    """A point without its readings."""

    facts: dict[str, Any]  # as `Series.to_dict` gives them
    trace: Trace | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class DataCheck:
    """What is in an export and what is odd about it."""

    files: tuple[FileReport, ...]
    points: tuple[CheckedPoint, ...]
    findings: tuple[Finding, ...]  # of files and of points, worst topic first
    guesses: tuple[Guess, ...]
    zone: Zone
    step_ms: int | None  # at which most points report

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the traces as JSON values."""
        return {
            "files": [_file_dict(file) for file in self.files],
            "zone": {"name": self.zone.clock.zone, "stated": self.zone.is_stated, "reason": self.zone.reason},
            "step_s": None if self.step_ms is None else self.step_ms / 1000,
            "points": [point.facts for point in self.points],
            "findings": [finding.to_dict() for finding in self.findings],
            "guesses": [guess.to_dict() for guess in self.guesses],
        }


def check_exports(
    paths: Sequence[Path], options: ExportOptions | None = None, on_file: Callable[[str], None] = lambda name: None
) -> DataCheck:
    """Check files and folders. Memory is bounded as for `ExportReader`."""
    reader = ExportReader(paths, options)
    points: list[CheckedPoint] = []
    summaries: list[Summary] = []
    guesses: list[Guess] = []
    for series in reader.series():
        on_file(series.file.name)
        found = tuple(check_series(series))
        points.append(CheckedPoint(series.to_dict(), trace_of(series) if len(series) else None, found))
        guesses += series.guesses
        if len(series):
            summaries.append(Summary.of(series))
    findings = [finding for point in points for finding in point.findings]
    findings += compare_files(summaries)
    for file in reader.reports:
        findings += [
            Finding(Topic.FILE, omission.about, f"left out: {omission.reason}")
            if omission.what == "file"
            else Finding(Topic.MALFORMED, omission.about, f"{omission.count:,} {omission.what}: {omission.reason}")
            for omission in file.omissions
        ]
        doubled = [guess for guess in file.guesses if guess.what == "doubled hour"]
        findings += [Finding(Topic.CLOCK, file.path.name, f"{guess.value}: {guess.reason}") for guess in doubled]
    own = [guess for file in reader.reports for guess in file.guesses]
    order = list(Topic)
    return DataCheck(
        files=tuple(reader.reports),
        points=tuple(points),
        findings=tuple(sorted(findings, key=lambda finding: order.index(finding.topic))),
        guesses=tuple(own + guesses),
        zone=reader.zone,
        step_ms=_usual_step(summaries),
    )


def _usual_step(summaries: Sequence[Summary]) -> int | None:
    steps = [each.step_ms for each in summaries if each.mode is Mode.SAMPLED and each.step_ms]
    return max(set(steps), key=steps.count) if steps else None


def trace_of(series: Series) -> Trace:
    """Return the trace of a point; one that reports on change keeps its value in between."""
    start, end = int(series.times_ms[0]), int(series.times_ms[-1])
    columns = TRACE_COLUMNS if series.holds else min(TRACE_COLUMNS, len(series))
    column = (series.times_ms - start) * (columns - 1) // max(1, end - start)
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    np.minimum.at(low, column, series.values)
    np.maximum.at(high, column, series.values)
    empty = ~np.isfinite(low)
    if series.holds:
        last = series.values[np.maximum(np.searchsorted(column, np.arange(columns), side="right") - 1, 0)]
        low, high = np.where(empty, last, low), np.where(empty, last, high)
    else:
        low, high = np.where(empty, np.nan, low), np.where(empty, np.nan, high)
    return Trace(start, end, low, high)


def _file_dict(file: FileReport) -> dict[str, Any]:
    return {
        "file": str(file.path),
        "read": file.is_read,
        "layout": file.layout or None,
        "rows": file.rows,
        "points": len(file.points),
        "left_out": [omission.to_dict() for omission in file.omissions],
    }
