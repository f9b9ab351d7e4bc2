"""How fast the fan-coil testbed simulates, in zone-years per second on one core."""

import platform
import time
from datetime import datetime
from typing import Any

from graphghha.plants.fcu.physics.building import Building

YEAR_DAYS = 365


def measure(
    *, zones: int = 12, days: int = 30, noise: bool = True, repeats: int = 5, seed: int = 0
) -> tuple[float, float]:
    """Return the best of several runs after warm-up, all signals stored: per second on the clock and of processor time.

    On a busy machine, the second figure is the reliable one.
    """
    building = Building(zones=zones, seed=seed, start=datetime(2018, 1, 1), noise=noise)
    building.step()
    work = zones * days / YEAR_DAYS
    wall, processor = [], []
    for _ in range(repeats):
        begin = time.perf_counter(), time.process_time()
        for _ in building.days(days):
            pass
        wall.append(time.perf_counter() - begin[0])
        processor.append(time.process_time() - begin[1])
    return work / min(wall), work / min(processor)


def zone_years_per_second() -> float:
    """Return the figure of a twelve-zone building with sensor noise, on the clock."""
    return measure()[0]


def run(*, repeats: int = 5) -> dict[str, Any]:
    """Return the benchmark as the one JSON object a bench command prints."""
    rows = []
    for noise in (True, False):
        wall, processor = measure(noise=noise, repeats=repeats)
        rows.append(
            {"noise": noise, "zone_years_per_second": round(wall, 2), "per_processor_second": round(processor, 2)}
        )
    return {
        "bench": "testbed",
        "machine": {"processor": platform.machine(), "python": platform.python_version()},
        "config": {"zones": 12, "days": 30, "threads": 1, "repeats": repeats},
        "rows": rows,
    }
