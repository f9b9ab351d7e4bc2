"""A kill in any alarm state, with timers running, must not change the state after the restart.

A process plays a scenario with operator commands row by row and is killed after some row. Its journal is then opened,
compared with an uninterrupted run, and played to the end. Usage: python -m faults.states FOLDER ROW
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_none
from faults.rig import JOURNAL, Rig, child_environment
from faults.toy_detector import SITE, START_MS, STEP_MS, toy_building, toy_monitor
from graphghha.alarms import Command, IsaState, Verb
from graphghha.errors import EngineError
from graphghha.monitor import Journal, Monitor, RowClockConfig, Site, SiteConfig
from graphghha.monitor.journal.codec import pack

FAULT = "kill in each alarm state"
ZONES, ROWS = 2, 90
CONFIG = SiteConfig(clock=RowClockConfig(lateness_ms=0), warm_up_rows=0, latching=True)
ROOM, SUPPLY, MIXED, RETURN, VALVE = (
    "zone-01/RM_TEMP",
    "zone-01/FCU_DAT",
    "zone-01/FCU_MAT",
    "zone-01/FCU_RAT",
    "zone-02/FCU_CVLV",
)
ATTACKS = ((8, 33, ROOM), (10, 35, SUPPLY), (12, 37, MIXED), (14, 39, RETURN), (40, 65, VALVE))
# operator commands after a row is scored; an alarm is raised about eight rows after its attack begins
COMMANDS = {
    25: ((Verb.ACK, ROOM),),
    28: ((Verb.SHELVE, SUPPLY), (Verb.SUPPRESS, MIXED)),
    31: ((Verb.OUT_OF_SERVICE, RETURN),),
    80: ((Verb.RETURN, RETURN), (Verb.RESET, ROOM)),
}
SHELF_MS = 20 * STEP_MS


def try_states(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    with _scenario(folder / "whole") as monitor:
        snapshots = {row: deepcopy(_snapshot(site)) for row, site in _play(monitor, ROWS)}
        whole = _events(monitor)
    chosen, mismatches = _kill_rows(snapshots, effort.state_kills), 0
    for number, row in enumerate(chosen, start=1):
        _play_and_kill(folder / str(row), row)
        with _scenario(folder / str(row)) as monitor:
            mismatches += _snapshot(monitor.sites[SITE]) != snapshots[row]
            for _ in _play(monitor, ROWS):
                pass
            mismatches += _events(monitor) != whole
        progress(f"{FAULT}: {number} of {len(chosen)}")
    return [
        expect_none(FAULT, "mismatches of state or later events after the restart", mismatches, f"{len(chosen)} kills"),
        expect_all(
            FAULT,
            "alarm states A to G in which the process was killed",
            len(_union(snapshots, chosen, "alarm_states")),
            len(IsaState),
        ),
        expect_all(
            FAULT,
            "timers running at a kill: on-delay, off-delay, shelving",
            len(_union(snapshots, chosen, "timers")),
            3,
        ),
    ]


@contextmanager
def _scenario(folder: Path) -> Iterator[Monitor]:
    """Open a monitor on the journal in `folder`."""
    with Journal(folder / JOURNAL) as journal:
        yield toy_monitor(journal, ZONES, CONFIG)


def _play(monitor: Monitor, end: int) -> Iterator[tuple[int, Site]]:
    """Play the scenario from the row after the journal's last one; yield every row when it is done."""
    telemetry, site = toy_building(ZONES, ROWS, ATTACKS), monitor.sites[SITE]
    for row in range((site.time_ms - START_MS) // STEP_MS + 1 if site.time_ms else 0, end):
        monitor.step(telemetry.batch(row, row + 1))
        for verb, node in COMMANDS.get(row, ()):
            for_ms = SHELF_MS if verb is Verb.SHELVE else None
            at_ms = START_MS  # the same in every run
            command = Command(verb=verb, target=node, by="anna", reason="works", for_ms=for_ms, at_ms=at_ms)
            monitor.command(SITE, command)
        yield row, site


def _snapshot(site: Site) -> dict[str, Any]:
    """Return the state that a restart must restore, and the alarm states and timers in it."""
    state, alarm_states = site.to_state(), site.alarm_states
    alarms = state["pipeline"]["alarms"]
    timers = {
        "on-delay": bool((alarms["votes"].astype(bool) & ~alarms["active"]).any()),
        "off-delay": bool((alarms["quiet"] > 0).any()),
        "shelving": IsaState.SHELVED in alarm_states.values(),
    }
    return {
        "state": pack(state),
        "board": site.board_state(),
        "alarm_states": {*alarm_states.values(), IsaState.NORMAL},
        "timers": {name for name, is_running in timers.items() if is_running},
    }


def _events(monitor: Monitor) -> list[Any]:
    return monitor.journal.events_after(0, 100_000)


def _kill_rows(snapshots: dict[int, dict[str, Any]], count: int) -> list[int]:
    """Return rows that together cover all alarm states and timers, then further rows at even distances."""
    chosen: list[int] = []
    covered: set[str] = set()
    covers = {row: snapshot["alarm_states"] | snapshot["timers"] for row, snapshot in snapshots.items()}
    while new := covers[best := max(covers, key=lambda row: len(covers[row] - covered))] - covered:
        covered |= new
        chosen.append(best)
    others = np.linspace(2, ROWS - 2, max(0, count - len(chosen))).astype(int).tolist()
    return sorted({*chosen, *others})


def _union(snapshots: dict[int, dict[str, Any]], rows: list[int], what: str) -> set[str]:
    return {each for row in rows for each in snapshots[row][what]}


def _play_and_kill(folder: Path, row: int) -> None:
    command = [sys.executable, "-m", "faults.states", str(folder), str(row)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=child_environment()) as process:
        assert process.stdout is not None
        reached = process.stdout.readline()
        process.kill()
    if not reached:
        raise EngineError(f"{' '.join(command)} ended before row {row}")


def main(folder: Path, row: int) -> None:
    """Play up to a row, print its number, and wait to be killed."""
    with _scenario(folder) as monitor:
        for _ in _play(monitor, row + 1):
            pass
        print(row, flush=True)
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
