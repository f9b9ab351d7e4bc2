"""How long a minute takes: one row of readings to calibrated probabilities, as a live monitor pays for it."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine.scorer import Scorer

ROWS, WARM_UP = 200, 20


def live_latency(scorer: Scorer, values: NDArray[Any]) -> dict[str, Any]:
    """Push readings [r p] one row at a time and time each; rows are used again when there are too few."""
    one, took_ms = np.ones(1, np.bool_), []
    for number in range(WARM_UP + ROWS):
        row = values[number % len(values)][None]
        fresh = np.isfinite(row)
        started = time.perf_counter()
        scorer.push(row, fresh, one)
        took_ms.append((time.perf_counter() - started) * 1e3)
    p50, p99 = np.quantile(took_ms[WARM_UP:], [0.5, 0.99]).tolist()
    return {
        "nodes": scorer.num_nodes,
        "rows": ROWS,
        "p50_ms": p50,
        "p99_ms": p99,
        "backend": scorer.engine.backend,
    }
