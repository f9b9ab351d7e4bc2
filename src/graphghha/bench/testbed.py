"""How fast the fan-coil testbed simulates, in zone-years per second on one core."""

import platform
import statistics
import time
from datetime import datetime
from typing import Any

from graphghha.plants.fcu.building import Building

YEAR_DAYS = 365


def zone_years_per_second(*, zones: int = 12, days: int = 60, noise: bool = True, seed: int = 0) -> float:
    """Speed of a building after warm-up, telemetry of all signals included."""
    building = Building(zones=zones, seed=seed, start=datetime(2018, 1, 1), noise=noise)
    building.step()
    begin = time.perf_counter()
    for _ in building.days(days):
        pass
    return zones * days / YEAR_DAYS / (time.perf_counter() - begin)


def run(*, repeats: int = 3) -> dict[str, Any]:
    """The benchmark as the one JSON object a bench command prints."""
    rows = []
    for noise in (True, False):
        speeds = [zone_years_per_second(noise=noise) for _ in range(repeats)]
        rows.append({"noise": noise, "zone_years_per_second": round(statistics.median(speeds), 2)})
    return {
        "bench": "testbed",
        "machine": {"processor": platform.machine(), "python": platform.python_version()},
        "config": {"zones": 12, "days": 60, "threads": 1, "repeats": repeats},
        "rows": rows,
    }
