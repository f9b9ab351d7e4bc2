"""kill -9 in every alarm state, with timers running: what comes back is what was there.

A scene with operators at work is played row by row by a process that is killed after some row. Its journal is opened
again, compared with a play that nobody interrupted, and played to the end. FOLDER ROW
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
from faults.figures import Figure, Say, all_of, none_of
from faults.rig import JOURNAL, Rig
from faults.toy_detector import SITE, START_MS, STEP_MS, plain_building, plain_detector
from graphghha.alarms import Command
from graphghha.alarms.lifecycle import Letter, Verb
from graphghha.errors import EngineError
from graphghha.monitor import Journal, Monitor, Site, SiteConfig
from graphghha.monitor.journal.codec import pack
from graphghha.monitor.row_clock import IntakeConfig

FAULT = "kill in each alarm state"
ZONES, ROWS = 2, 90
CONFIG = SiteConfig(intake=IntakeConfig(lateness_ms=0), warm_up_rows=0, latching=True)
ROOM, SUPPLY, MIXED, RETURN, VALVE = (
    "zone-01/RM_TEMP",
    "zone-01/FCU_DAT",
    "zone-01/FCU_MAT",
    "zone-01/FCU_RAT",
    "zone-02/FCU_CVLV",
)
ATTACKS = ((8, 33, ROOM), (10, 35, SUPPLY), (12, 37, MIXED), (14, 39, RETURN), (40, 65, VALVE))
# what operators do once a row is judged; an alarm is raised some eight rows after its attack began
ORDERS = {
    25: ((Verb.ACK, ROOM),),
    28: ((Verb.SHELVE, SUPPLY), (Verb.SUPPRESS, MIXED)),
    31: ((Verb.OUT_OF_SERVICE, RETURN),),
    80: ((Verb.RETURN, RETURN), (Verb.RESET, ROOM)),
}
SHELF_MS = 20 * STEP_MS


def try_states(folder: Path, rig: Rig, effort: Effort, say: Say) -> list[Figure]:
    with _theatre(folder / "whole") as monitor:
        seen = {row: deepcopy(_seen(site)) for row, site in _play(monitor, ROWS)}
        whole = _story(monitor)
    chosen, mismatches = _kill_rows(seen, effort.state_kills), 0
    for number, row in enumerate(chosen, start=1):
        _play_and_die(folder / str(row), row)
        with _theatre(folder / str(row)) as monitor:
            mismatches += _seen(monitor.sites[SITE]) != seen[row]
            for _ in _play(monitor, ROWS):
                pass
            mismatches += _story(monitor) != whole
        say(f"{FAULT}: {number} of {len(chosen)}")
    return [
        none_of(FAULT, "state mismatches after the restart, or in what follows", mismatches, f"{len(chosen)} kills"),
        all_of(FAULT, "states A to G killed in", len(_union(seen, chosen, "letters")), len(Letter)),
        all_of(
            FAULT, "timers killed while running: on-delay, off-delay, shelf", len(_union(seen, chosen, "timers")), 3
        ),
    ]


@contextmanager
def _theatre(folder: Path) -> Iterator[Monitor]:
    with Journal(folder / JOURNAL) as journal:
        monitor = Monitor(journal)
        monitor.add(SITE, plain_detector(ZONES), CONFIG)
        yield monitor


def _play(monitor: Monitor, end: int) -> Iterator[tuple[int, Site]]:
    """From where the journal stands."""
    telemetry, site = plain_building(ZONES, ROWS, ATTACKS), monitor.sites[SITE]
    for row in range((site.time_ms - START_MS) // STEP_MS + 1 if site.time_ms else 0, end):
        monitor.step(telemetry.batch(row, row + 1))
        for verb, node in ORDERS.get(row, ()):
            for_ms = SHELF_MS if verb is Verb.SHELVE else None
            monitor.command(SITE, Command(verb=verb, target=node, by="anna", reason="works", for_ms=for_ms))
        yield row, site


def _seen(site: Site) -> dict[str, Any]:
    """Everything about a site that a restart could get wrong, and what there was to get wrong."""
    state, desk = site.to_state(), site.desk
    alarms = state["pipeline"]["alarms"]
    timers = {
        "on-delay": bool((alarms["votes"].astype(bool) & ~alarms["active"]).any()),
        "off-delay": bool((alarms["quiet"] > 0).any()),
        "shelf": Letter.SHELVED in desk.letters.values(),
    }
    return {
        "state": pack(state),
        "desk": desk.to_dict(),
        "letters": {*desk.letters.values(), Letter.NORMAL},
        "timers": {name for name, is_running in timers.items() if is_running},
    }


def _story(monitor: Monitor) -> list[Any]:
    return monitor.journal.events_after(0, 100_000)


def _kill_rows(seen: dict[int, dict[str, Any]], count: int) -> list[int]:
    """Rows that show most of what has not been shown yet, then others at even distances."""
    chosen: list[int] = []
    met: set[str] = set()
    while news := max(seen, key=lambda row: len((seen[row]["letters"] | seen[row]["timers"]) - met), default=None):
        fresh = (seen[news]["letters"] | seen[news]["timers"]) - met
        if not fresh:
            break
        met |= fresh
        chosen.append(news)
    others = np.linspace(2, ROWS - 2, max(0, count - len(chosen))).astype(int).tolist()
    return sorted({*chosen, *others})


def _union(seen: dict[int, dict[str, Any]], rows: list[int], what: str) -> set[str]:
    return {each for row in rows for each in seen[row][what]}


def _play_and_die(folder: Path, row: int) -> None:
    command = [sys.executable, "-m", "faults.states", str(folder), str(row)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        process.kill()
    if not said:
        raise EngineError(f"{' '.join(command)} ended by itself")


def main(folder: Path, row: int) -> None:
    """Play to a row, say so, and wait for the end."""
    with _theatre(folder) as monitor:
        for _ in _play(monitor, row + 1):
            pass
        print(row, flush=True)
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
