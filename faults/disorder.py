"""Readings twice, and in another order within the watermark: the journal is the same."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faults.effort import Effort
from faults.figures import Figure, Say, none_of
from faults.rig import JOURNAL, Rig
from faults.toy_detector import SITE, STEP_MS, Telemetry
from graphghha.monitor import Journal, Monitor, SiteConfig
from graphghha.monitor.row_clock import IntakeConfig
from graphghha.sources import Batch

FAULT = "duplicates, reordering within the watermark"
ROWS, ZONES = 120, 2
LATENESS_MS = 5 * STEP_MS
MOST_COPIES = 10


def try_disorder(folder: Path, rig: Rig, effort: Effort, say: Say, seed: int = 0) -> list[Figure]:
    telemetry = rig.building(ZONES, ROWS, True)
    readings = np.arange(telemetry.values.size)
    clean = _journal(folder / "clean", telemetry, rig, readings)
    rng, differences = np.random.default_rng(seed), 0
    for number in range(1, effort.disorders + 1):
        differences += _journal(folder / str(number), telemetry, rig, _disordered(telemetry, rng)) != clean
        say(f"{FAULT}: {number} of {effort.disorders}")
    return [none_of(FAULT, "journals that differ from the clean run's", differences, f"{effort.disorders} runs")]


def _disordered(telemetry: Telemetry, rng: np.random.Generator) -> NDArray[np.int64]:
    """Every reading one to ten times, none later than its row waits."""
    count, points = telemetry.values.size, len(telemetry.names)
    copies = np.where(rng.random(count) < 0.2, rng.integers(2, MOST_COPIES + 1, count), 1)
    copies[:points] = 1  # the first row tells the grid where to begin
    readings = np.repeat(np.arange(count), copies)
    delay = rng.uniform(0.0, LATENESS_MS - STEP_MS, len(readings))
    delay[readings < points] = 0.0
    arrival: NDArray[np.int64] = readings[np.argsort(telemetry.times_ms[readings // points] + delay, kind="stable")]
    return arrival


def _journal(folder: Path, telemetry: Telemetry, rig: Rig, readings: NDArray[np.int64]) -> Any:
    """Events and rows after these readings, in batches of one row's size."""
    config = SiteConfig(intake=IntakeConfig(lateness_ms=LATENESS_MS), warm_up_rows=rig.warm_up_rows)
    points = len(telemetry.names)
    with Journal(folder / JOURNAL) as journal:
        monitor = Monitor(journal)
        monitor.add(SITE, rig.detector(ZONES), config)
        for some in np.array_split(readings, len(telemetry)):
            rows, columns = some // points, (some % points).astype(np.int32)
            times = telemetry.times_ms[rows]
            monitor.step(Batch(SITE, int(times.max()), times, telemetry.values[rows, columns], columns))
        monitor.finish(SITE)
        rows_kept = journal.reader.rows(SITE)
        assert rows_kept is not None
        return journal.events_after(0, 10**6), rows_kept.times_ms.tolist(), rows_kept.values.tobytes()
