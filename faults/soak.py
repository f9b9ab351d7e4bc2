"""At many times real time for a while, neither delay nor memory may grow; reports how long an alarm takes."""

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from faults.broker import Broker
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, report
from faults.rig import PREFIX, Rig, Watcher, begin, cpu_s, memory_mb, publish, watched_ms
from faults.toy_detector import STEP_MS

MAX_DELAY_RATIO = 1.5  # median of the last quarter to that of the first
MAX_GROWTH_MB = 20.0  # from the second quarter to the last; the first is warm-up
POLL_S = 0.004
MIN_DELAY_S = 0.05  # shorter delays are noise


def try_soak(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    interval_s = STEP_MS / 1000 / effort.soak_speed
    rows = max(40, round(effort.soak_minutes * 60 / interval_s))
    fault = f"{rows * interval_s / 60:.2g} min at {effort.soak_speed:g} times real time, {effort.zones} zones"
    telemetry = rig.building(effort.zones, rows + 2, True)
    first = max(1, rig.warm_up_rows)
    delays, memory = np.full(rows, np.nan), np.full(rows, np.nan)
    state = folder / "state"
    state.mkdir(parents=True)
    with (
        Broker(folder) as broker,
        broker.publisher() as device,
        Watcher(rig.command(state, f"{broker.address}/{PREFIX}", effort.zones), state) as watcher,
    ):
        begin(watcher, device, telemetry)
        publish(device, telemetry, 1, first + 1)
        watcher.until(lambda: watched_ms(state) >= telemetry.times_ms[first - 1], "warm windows")
        used, began = cpu_s(watcher.pid), time.monotonic()
        for at in range(rows):
            due = began + at * interval_s
            time.sleep(max(0.0, due - time.monotonic()))
            row = first + at
            sent = time.monotonic()
            publish(device, telemetry, row + 1, row + 2)  # the readings that complete row `row`
            delays[at] = _seconds_until_scored(state, int(telemetry.times_ms[row]), sent, due + interval_s)
            memory[at] = memory_mb(watcher.pid)
            if at % 50 == 0:
                progress(f"{fault}: {at} of {rows} rows, delay {delays[at]:.3f} s, {memory[at]:.0f} MB")
        load = 100 * (cpu_s(watcher.pid) - used) / (time.monotonic() - began)
        last = int(telemetry.times_ms[first + rows - 1])
        watcher.until(lambda: watched_ms(state) >= last, "the last row")
        watcher.end()
    return _figures(fault, interval_s, delays, memory, load)


def _seconds_until_scored(state: Path, time_ms: int, sent: float, until: float) -> float:
    """Return the seconds until a row is scored and stored, at most until the end of its interval."""
    while watched_ms(state) < time_ms and time.monotonic() < until:
        time.sleep(POLL_S)
    return time.monotonic() - sent


def _figures(
    fault: str, interval_s: float, delays: NDArray[np.float64], memory: NDArray[np.float64], load: float
) -> list[Figure]:
    quarters, sizes = np.array_split(delays, 4), np.array_split(memory, 4)
    early, late = float(np.median(quarters[0])), float(np.median(quarters[-1]))
    growth = float(np.median(sizes[-1]) - np.median(sizes[1]))
    p50, p99 = np.percentile(delays * 1e3, (50, 99))
    return [
        report(fault, "delay from sending a reading to its row in the journal, p50 / p99", f"{p50:.0f} / {p99:.0f} ms"),
        expect_at_most(
            fault,
            "delay in the last quarter / delay in the first",
            max(late, MIN_DELAY_S) / max(early, MIN_DELAY_S),
            MAX_DELAY_RATIO,
        ),
        expect_at_most(fault, "memory growth after the first quarter", growth, MAX_GROWTH_MB, " MB"),
        expect_all(fault, "rows scored before the next was due", int((delays < interval_s).sum()), len(delays)),
        report(fault, "processor time of the monitor", f"{load:.0f} % of one core, {memory[-1]:.0f} MB"),
    ]
