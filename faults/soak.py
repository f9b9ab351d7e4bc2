"""Many times real time for a while: no lag that grows, no memory that grows, and how long an alarm takes."""

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from faults.broker import Broker
from faults.effort import Effort
from faults.figures import Figure, Say, all_of, at_most, stated
from faults.processes import cpu_s, memory_mb
from faults.rig import PREFIX, Rig, Watcher, begin, publish, watched_ms
from faults.toy_detector import STEP_MS

MOST_LAG = 1.5  # the median of the last quarter against that of the first
MOST_MB = 20.0  # grown from the second quarter to the last: the first is warm-up
LOOK_EVERY_S = 0.004
LEAST_LAG_S = 0.05  # below this, lags are noise


def try_soak(folder: Path, rig: Rig, effort: Effort, say: Say) -> list[Figure]:
    interval_s = STEP_MS / 1000 / effort.soak_speed
    rows = max(40, round(effort.soak_minutes * 60 / interval_s))
    fault = f"{rows * interval_s / 60:.2g} min at {effort.soak_speed:g} times real time, {effort.zones} zones"
    telemetry = rig.building(effort.zones, rows + 2, True)
    first = max(1, rig.warm_up_rows)
    lags, memory = np.full(rows, np.nan), np.full(rows, np.nan)
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
            publish(device, telemetry, row + 1, row + 2)  # the readings that let row `row` close
            lags[at] = _judged_after(state, int(telemetry.times_ms[row]), sent, due + interval_s)
            memory[at] = memory_mb(watcher.pid)
            if at % 50 == 0:
                say(f"{fault}: {at} of {rows} rows, lag {lags[at]:.3f} s, {memory[at]:.0f} MB")
        load = 100 * (cpu_s(watcher.pid) - used) / (time.monotonic() - began)
        last = int(telemetry.times_ms[first + rows - 1])
        watcher.until(lambda: watched_ms(state) >= last, "the last row")
        watcher.end()
    return _judged(fault, interval_s, lags, memory, load)


def _judged_after(state: Path, time_ms: int, sent: float, until: float) -> float:
    """Seconds until a row is judged and on the disk; the time waited when it is not by the end of its interval."""
    while watched_ms(state) < time_ms and time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
    return time.monotonic() - sent


def _judged(
    fault: str, interval_s: float, lags: NDArray[np.float64], memory: NDArray[np.float64], load: float
) -> list[Figure]:
    quarters, sizes = np.array_split(lags, 4), np.array_split(memory, 4)
    early, late = float(np.median(quarters[0])), float(np.median(quarters[-1]))
    grown = float(np.median(sizes[-1]) - np.median(sizes[1]))
    p50, p99 = np.percentile(lags * 1e3, (50, 99))
    return [
        stated(fault, "from a reading sent to its row's alarms on the disk, p50 / p99", f"{p50:.0f} / {p99:.0f} ms"),
        at_most(fault, "lag at the end against the begin", max(late, LEAST_LAG_S) / max(early, LEAST_LAG_S), MOST_LAG),
        at_most(fault, "memory grown after the first quarter", grown, MOST_MB, " MB"),
        all_of(fault, "rows judged before the next was due", int((lags < interval_s).sum()), len(lags)),
        stated(fault, "processor time of the monitor", f"{load:.0f} % of one core, {memory[-1]:.0f} MB"),
    ]
