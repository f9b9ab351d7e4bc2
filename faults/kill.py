"""kill -9 at random moments while a broker feeds the monitor must neither lose nor repeat anything."""

import random
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from faults.broker import Broker, Publisher
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_none
from faults.rig import JOURNAL, PREFIX, Rig, Watcher, begin, publish, watched_ms
from faults.toy_detector import SITE, STEP_MS, Telemetry
from graphghha.monitor import Reader
from graphghha.windows import Rows

FAULT = "kill -9 while readings arrive over MQTT"
ROWS_PER_KILL = 24
START_KILLS = 0.25  # share of kills that hit the process while it starts
BACKLOG_KILLS = 5, 2  # of five kills, two hit the process while it takes what the broker has kept
START_S = 2.0


@dataclass(frozen=True, slots=True)
class JournalContents:
    """The rows, events and checkpoint that a run has left in its journal."""

    rows: Rows
    events: list[tuple[int, str, str]]  # time, kind, body
    state: Any

    @classmethod
    def read(cls, state: Path) -> "JournalContents":
        with Reader(state / JOURNAL) as reader:
            rows, checkpoint = reader.rows(SITE), reader.checkpoint(SITE)
            events = [(event.time_ms, event.kind, repr(event.body)) for event in reader.events_after(0, 10**9)]
        assert rows is not None and checkpoint is not None
        site, board = checkpoint
        # the open row and the counts of readings, which include those that came again, may differ
        kept = {name: value for name, value in site.items() if name not in ("intake", "points")}
        return cls(rows, events, repr((kept, board)))


def try_kills(folder: Path, rig: Rig, effort: Effort, progress: Progress, seed: int = 0) -> list[Figure]:
    telemetry = rig.building(effort.zones, max(240, effort.kills * ROWS_PER_KILL), True)
    progress(f"{FAULT}: the uninterrupted run")
    whole = _run(folder / "uninterrupted", telemetry, rig, effort.zones, 0, progress, seed)
    killed = _run(folder / "killed", telemetry, rig, effort.zones, effort.kills, progress, seed)
    stored = sum(is_in_backlog(number) for number in range(1, effort.kills + 1))
    what = f"{effort.kills} kills, {stored} of them while a backlog is taken, {effort.zones} zones"
    return compare(FAULT, telemetry, whole, killed, what)


def is_in_backlog(number: int) -> bool:
    """Return whether the kill of this number, counted from 1, hits the process while it takes a backlog."""
    return number % BACKLOG_KILLS[0] < BACKLOG_KILLS[1]


def compare(
    fault: str, telemetry: Telemetry, whole: JournalContents, killed: JournalContents, what: str
) -> list[Figure]:
    sent = telemetry.values[: len(whole.rows)].astype(np.float32)
    samples, kept = sent.size, killed.rows.values
    same = int((kept == sent).sum()) if kept.shape == sent.shape else 0
    expected, actual = Counter(whole.events), Counter(killed.events)
    alarms = len(whole.events)
    return [
        expect_all(fault, f"acknowledged samples kept ({what})", same, samples),
        expect_none(fault, "alarm events lost", (expected - actual).total(), f"{alarms:,}"),
        expect_none(fault, "alarm events written twice", (actual - expected).total(), f"{alarms:,}"),
        expect_none(
            fault,
            "differences from the uninterrupted run in event order and alarm state",
            int(whole.events != killed.events) + int(whole.state != killed.state),
        ),
    ]


def _run(
    folder: Path, telemetry: Telemetry, rig: Rig, zones: int, kills: int, progress: Progress, seed: int
) -> JournalContents:
    state, chance = folder / "state", random.Random(seed)
    state.mkdir(parents=True)
    with Broker(folder) as broker, broker.publisher() as device:
        command = rig.command(state, f"{broker.address}/{PREFIX}", zones)
        with Watcher(command, state) as watcher:  # from now on the broker keeps messages for its session
            begin(watcher, device, telemetry)
            if rig.warm_up_rows:
                publish(device, telemetry, 1, rig.warm_up_rows)
                watcher.until(lambda: watched_ms(state) >= telemetry.times_ms[rig.warm_up_rows - 2], "warm windows")
            watcher.kill() if kills else watcher.end()
        edges = np.linspace(max(1, rig.warm_up_rows), len(telemetry), kills + 1).astype(int).tolist()
        for number, (first, end) in enumerate(zip(edges, edges[1:], strict=False), start=1):
            if is_in_backlog(number):
                send(device, telemetry, first, end)  # nobody runs: the broker keeps it
                _kill_in_backlog(Watcher(command, state), chance)
            else:
                _feed_and_kill(Watcher(command, state), device, telemetry, first, end, chance)
            progress(f"{FAULT}: {number} of {kills}")
        with Watcher(command, state) as watcher:
            if not kills:
                send(device, telemetry, edges[0], len(telemetry))
            last = int(telemetry.times_ms[-1]) - STEP_MS
            watcher.until(lambda: watched_ms(state) >= last, "the last row")
            watcher.end()
    return JournalContents.read(state)


def _feed_and_kill(
    watcher: Watcher, device: Publisher, telemetry: Telemetry, first: int, end: int, chance: random.Random
) -> None:
    """Send some rows, kill the process at a random one of them, and send the rest while no monitor runs."""
    with watcher:
        if chance.random() < START_KILLS:
            time.sleep(chance.uniform(0.0, START_S))
            watcher.kill()
            send(device, telemetry, first, end)
            return
        reached = int(telemetry.times_ms[first - 1]) - STEP_MS
        watcher.until(lambda: watched_ms(watcher.state) >= reached, "the rows sent so far")
        at = chance.randint(first, end - 1)
        send(device, telemetry, first, at)
        time.sleep(chance.uniform(0.0, 0.05))
        watcher.kill()
    send(device, telemetry, at, end)


def _kill_in_backlog(watcher: Watcher, chance: random.Random) -> None:
    """Kill the process shortly before or after the first commit of what the broker has kept."""
    with watcher:
        before = watched_ms(watcher.state)
        if chance.random() < START_KILLS:
            time.sleep(chance.uniform(0.0, START_S))
        else:
            watcher.until(lambda: watched_ms(watcher.state) > before, "a commit of what the broker has kept")
            time.sleep(chance.uniform(0.0, 0.05))
        watcher.kill()


def send(device: Publisher, telemetry: Telemetry, first: int, end: int) -> None:
    for row in range(first, end):
        publish(device, telemetry, row, row + 1)
        time.sleep(0.005)
