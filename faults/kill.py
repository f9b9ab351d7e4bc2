"""kill -9 at random moments while a real broker feeds the monitor: nothing is lost, nothing is told twice."""

import random
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from faults.broker import Broker, Publisher
from faults.effort import Effort
from faults.figures import Figure, Say, all_of, none_of
from faults.rig import JOURNAL, PREFIX, Rig, Watcher, begin, publish, watched_ms
from faults.toy_detector import SITE, STEP_MS, Telemetry
from graphghha.monitor import Reader
from graphghha.windows import Rows

FAULT = "kill -9 while MQTT feeds"
ROWS_PER_KILL = 24
START_KILLS = 0.25  # share of kills that hit a process which is just starting
SOON_S = 2.0


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run has left in its journal."""

    rows: Rows
    events: list[tuple[int, str, str]]  # time, kind, body
    state: Any

    @classmethod
    def of(cls, state: Path) -> "Kept":
        with Reader(state / JOURNAL) as reader:
            rows, checkpoint = reader.rows(SITE), reader.checkpoint(SITE)
            events = [(event.time_ms, event.kind, repr(event.body)) for event in reader.events_after(0, 10**9)]
        assert rows is not None and checkpoint is not None
        site, desk = checkpoint
        # how far the open row has come, and what came twice, may differ
        kept = {name: value for name, value in site.items() if name != "intake"}
        return cls(rows, events, repr((kept, desk)))


def try_kills(folder: Path, rig: Rig, effort: Effort, say: Say, seed: int = 0) -> list[Figure]:
    telemetry = rig.building(effort.zones, max(240, effort.kills * ROWS_PER_KILL), True)
    say(f"{FAULT}: the run without kills")
    whole = _run(folder / "whole", telemetry, rig, effort.zones, 0, say, seed)
    killed = _run(folder / "killed", telemetry, rig, effort.zones, effort.kills, say, seed)
    return compare(FAULT, telemetry, whole, killed, f"{effort.kills} kills, {effort.zones} zones")


def compare(fault: str, telemetry: Telemetry, whole: Kept, killed: Kept, what: str) -> list[Figure]:
    sent = telemetry.values[: len(whole.rows)].astype(np.float32)
    samples, kept = sent.size, killed.rows.values
    same = int((kept == sent).sum()) if kept.shape == sent.shape else 0
    expected, found = Counter(whole.events), Counter(killed.events)
    alarms = len(whole.events)
    return [
        all_of(fault, f"acknowledged samples kept ({what})", same, samples),
        none_of(fault, "alarm events lost", (expected - found).total(), f"{alarms:,}"),
        none_of(fault, "alarm events doubled", (found - expected).total(), f"{alarms:,}"),
        none_of(
            fault,
            "differences from the uninterrupted run: order of events, state of alarms",
            int(whole.events != killed.events) + int(whole.state != killed.state),
        ),
    ]


def _run(folder: Path, telemetry: Telemetry, rig: Rig, zones: int, kills: int, say: Say, seed: int) -> Kept:
    state, chance = folder / "state", random.Random(seed)
    state.mkdir(parents=True)
    with Broker(folder) as broker, broker.publisher() as device:
        command = rig.command(state, f"{broker.address}/{PREFIX}", zones)
        with Watcher(command, state) as watcher:  # its session keeps what is sent from now on
            begin(watcher, device, telemetry)
            if rig.warm_up_rows:
                publish(device, telemetry, 1, rig.warm_up_rows)
                watcher.until(lambda: watched_ms(state) >= telemetry.times_ms[rig.warm_up_rows - 2], "warm windows")
            watcher.kill() if kills else watcher.end()
        edges = np.linspace(max(1, rig.warm_up_rows), len(telemetry), kills + 1).astype(int).tolist()
        for number, (first, end) in enumerate(zip(edges, edges[1:], strict=False), start=1):
            _one_life(Watcher(command, state), device, telemetry, first, end, chance)
            say(f"{FAULT}: {number} of {kills}")
        with Watcher(command, state) as watcher:
            if not kills:
                _send(device, telemetry, edges[0], len(telemetry))
            last = int(telemetry.times_ms[-1]) - STEP_MS
            watcher.until(lambda: watched_ms(state) >= last, "the last row")
            watcher.end()
    return Kept.of(state)


def _one_life(
    watcher: Watcher, device: Publisher, telemetry: Telemetry, first: int, end: int, chance: random.Random
) -> None:
    """Feed some rows, kill at a random one of them, and go on sending to nobody."""
    with watcher:
        if chance.random() < START_KILLS:
            time.sleep(chance.uniform(0.0, SOON_S))
            watcher.kill()
            return _send(device, telemetry, first, end)
        reached = int(telemetry.times_ms[first - 1]) - STEP_MS
        watcher.until(lambda: watched_ms(watcher.state) >= reached, "the rows sent so far")
        at = chance.randint(first, end - 1)
        _send(device, telemetry, first, at)
        time.sleep(chance.uniform(0.0, 0.05))
        watcher.kill()
    _send(device, telemetry, at, end)
    return None


def _send(device: Publisher, telemetry: Telemetry, first: int, end: int) -> None:
    for row in range(first, end):
        publish(device, telemetry, row, row + 1)
        time.sleep(0.005)
