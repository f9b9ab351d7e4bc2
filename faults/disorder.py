"""Duplicate readings, and readings reordered within the allowed lateness, must leave the journal unchanged."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faults.effort import Effort
from faults.figures import Figure, Progress, expect_none
from faults.rig import JOURNAL, Rig
from faults.toy_detector import SITE, STEP_MS, Telemetry
from graphghha.monitor import Journal, Monitor, RowClockConfig, SiteConfig
from graphghha.sources import ReadingBatch

FAULT = "duplicates and reordering within the allowed lateness"
ROWS, ZONES = 120, 2
LATENESS_MS = 5 * STEP_MS
MAX_COPIES = 10


def try_disorder(folder: Path, rig: Rig, effort: Effort, progress: Progress, seed: int = 0) -> list[Figure]:
    telemetry = rig.building(ZONES, ROWS, True)
    readings = np.arange(telemetry.values.size)
    ordered = _journal(folder / "ordered", telemetry, rig, readings)
    rng, differences = np.random.default_rng(seed), 0
    for number in range(1, effort.disorders + 1):
        differences += _journal(folder / str(number), telemetry, rig, _disordered(telemetry, rng)) != ordered
        progress(f"{FAULT}: {number} of {effort.disorders}")
    return [expect_none(FAULT, "journals that differ from the ordered run", differences, f"{effort.disorders} runs")]


def _disordered(telemetry: Telemetry, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return reading numbers in order of arrival: each one to ten times, none later than its row is held open."""
    count, points = telemetry.values.size, len(telemetry.names)
    copies = np.where(rng.random(count) < 0.2, rng.integers(2, MAX_COPIES + 1, count), 1)
    copies[:points] = 1  # the grid starts at the first row
    readings = np.repeat(np.arange(count), copies)
    delay = rng.uniform(0.0, LATENESS_MS - STEP_MS, len(readings))
    delay[readings < points] = 0.0
    arrival: NDArray[np.int64] = readings[np.argsort(telemetry.times_ms[readings // points] + delay, kind="stable")]
    return arrival


def _journal(folder: Path, telemetry: Telemetry, rig: Rig, readings: NDArray[np.int64]) -> Any:
    """Return the events and rows that these readings leave in a journal, sent in batches of one row's size."""
    config = SiteConfig(clock=RowClockConfig(lateness_ms=LATENESS_MS), warm_up_rows=rig.warm_up_rows)
    points = len(telemetry.names)
    with Journal(folder / JOURNAL) as journal:
        monitor = Monitor(journal)
        monitor.add(SITE, rig.detector(ZONES), config)
        for some in np.array_split(readings, len(telemetry)):
            rows, columns = some // points, (some % points).astype(np.int32)
            times = telemetry.times_ms[rows]
            monitor.step(ReadingBatch(SITE, int(times.max()), times, telemetry.values[rows, columns], columns))
        monitor.finish(SITE)
        rows_kept = journal.reader.rows(SITE)
        assert rows_kept is not None
        return journal.events_after(0, 10**6), rows_kept.times_ms.tolist(), rows_kept.values.tobytes()
