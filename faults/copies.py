"""Copies of a journal that is being written, a salvage that is killed, and model folders with odd files in them.

Usage: python -m faults.copies JOURNAL opens a journal, as a start of the monitor does.
"""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, expect_none
from faults.rig import JOURNAL, Rig, child_environment, memory_mb
from faults.toy_detector import SITE, STEP_MS, toy_building, toy_monitor
from graphghha.cli import main as command_line
from graphghha.errors import CheckpointError
from graphghha.models import load_model, shipped_model
from graphghha.monitor import Journal
from graphghha.monitor.journal.schema import checksum

COPIED, KILLED, MODEL, DEEP = (
    "journal and its log copied while running; log whole, overwritten or zeroed at its end",
    "salvage of a damaged journal, killed",
    "model folder with a file of 6 GB, a FIFO or half a file",
    "event nested 200,000 deep in the journal",
)
ROWS = 60
ATTACK = ((8, ROWS, "zone-01/RM_TEMP"),)
TAIL = 2_000  # bytes at the end of a log
MAX_CPU_S, MAX_GROWTH_MB = 5.0, 50.0
HUGE_BYTES = 6_000_000_000


def try_copies(folder: Path, rig: Rig, effort: Effort, progress: Progress, seed: int = 0) -> list[Figure]:
    figures: list[Figure] = []
    for number, (name, trial) in enumerate(((COPIED, _copied), (KILLED, _killed), (MODEL, _models), (DEEP, _deep))):
        progress(name)
        own = folder / str(number)
        own.mkdir(parents=True)
        figures += trial(own, effort, random.Random(seed))
    return figures


def _copied(folder: Path, effort: Effort, chance: random.Random) -> list[Figure]:
    telemetry = toy_building(1, ROWS, ATTACK)
    path, changes = folder / JOURNAL, ("whole", "overwritten", "whole", "zeroed", "overwritten")
    moments = dict(zip(sorted(chance.sample(range(12, ROWS), len(changes))), changes, strict=True))
    started = right = sound = 0
    with Journal(path) as journal:
        monitor = toy_monitor(journal, 1)
        for row in range(ROWS):
            monitor.step(telemetry.batch(row, row + 1))
            if row not in moments:
                continue
            copy = folder / str(row) / JOURNAL
            copy.parent.mkdir()
            for suffix in ("", "-wal"):
                shutil.copy(path.with_name(path.name + suffix), copy.with_name(copy.name + suffix))
            _change(copy.with_name(copy.name + "-wal"), moments[row], chance)
            events = journal.events_after(0, 10**6)
            with Journal(copy) as other:
                started += 1
                rows, kept = other.reader.rows(SITE), other.events_after(0, 10**6)
                count = 0 if rows is None else len(rows)
                is_right = rows is not None and np.array_equal(rows.values, telemetry.values[:count].astype(np.float32))
                right += is_right and kept == events[: len(kept)] and row - 1 <= count <= row + 1
            with closing(sqlite3.connect(copy)) as stranger:
                sound += stranger.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return [
        expect_all(COPIED, "copies with which a monitor starts", started, len(changes)),
        expect_all(COPIED, "copies whose rows and events are right, but for the last commit", right, len(changes)),
        expect_all(COPIED, "copies that are sound", sound, len(changes)),
    ]


def _change(log: Path, how: str, chance: random.Random) -> None:
    data = bytearray(log.read_bytes())
    if how != "whole":
        data[-TAIL:] = chance.randbytes(TAIL) if how == "overwritten" else bytes(TAIL)
    log.write_bytes(data)


def _killed(folder: Path, effort: Effort, chance: random.Random) -> list[Figure]:
    path = folder / JOURNAL
    with Journal(path) as journal:
        toy_monitor(journal, 1).step(toy_building(1, ROWS, ATTACK).batch(0, ROWS))
        last = journal.reader.last_event_number()
    total = last + max(20_000, effort.journal_events // 10)
    with closing(sqlite3.connect(path)) as stranger, stranger:
        body = '{"node":"zone-01/RM_TEMP","state":"A","version":3}'
        rows = [(number, SITE, STEP_MS * number, "alarm.cleared", None, body) for number in range(last + 1, total + 1)]
        signed = ((*row, checksum(row[0], row[1], row[2], row[3], body)) for row in rows)
        stranger.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", signed)
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'events_by_kind'"
        (page,) = stranger.execute(query).fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)
    kills = sum(_kill_start(path, chance) for _ in range(effort.salvage_kills))
    with Journal(path) as journal:
        toy_monitor(journal, 1).step(toy_building(1, ROWS, ATTACK).batch(ROWS - 1, ROWS))
        kept = journal.events_after(0, total)
        later = [event.kind for event in journal.events_after(total, 10**6) if event.kind == "journal.damaged"]
        stored = journal.reader.rows(SITE)
    same = sum(event.number == at and event.kind != "journal.lost" for at, event in enumerate(kept, 1))
    return [
        expect_all(KILLED, f"events kept ({kills} kills)", same, total),
        expect_all(KILLED, "rows kept", 0 if stored is None else len(stored), ROWS),
        expect_all(KILLED, "reports (journal.damaged)", min(1, len(later)), 1),
    ]


def _kill_start(path: Path, chance: random.Random) -> bool:
    """Kill a start once its salvage has begun; return whether it was killed before it ended."""
    command = [sys.executable, "-m", "faults.copies", str(path)]
    process = subprocess.Popen(command, env=child_environment())
    fresh = path.with_name(path.name + ".salvaging")
    while process.poll() is None and not fresh.exists():
        time.sleep(0.001)
    time.sleep(chance.uniform(0.0, 0.3))
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def _models(folder: Path, effort: Effort, chance: random.Random) -> list[Figure]:
    def sparse(model: Path) -> None:
        with (model / "extra.bin").open("wb") as file:
            file.truncate(HUGE_BYTES)

    def weights(model: Path) -> None:
        with max(model.iterdir(), key=lambda each: each.stat().st_size).open("r+b") as file:
            file.truncate(HUGE_BYTES)

    def fifo(model: Path) -> None:
        path = model / "thresholds.json"
        path.unlink()
        os.mkfifo(path)

    def half(model: Path) -> None:
        path = max(model.iterdir(), key=lambda each: each.stat().st_size)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    harms: tuple[Callable[[Path], None], ...] = (sparse, weights, fifo, half)
    before, began, accepted = memory_mb(os.getpid()), time.process_time(), 0
    for harm in harms:
        model = Path(shutil.copytree(shipped_model("fcu"), folder / harm.__name__))
        harm(model)
        try:
            load_model(model)
            accepted += harm is not sparse  # a file that belongs to nobody is not read
        except CheckpointError:
            continue
        finally:
            shutil.rmtree(model)
    grown = max(0.0, memory_mb(os.getpid()) - before)
    return [
        expect_none(MODEL, "models that were accepted", accepted, str(len(harms))),
        expect_at_most(MODEL, "processor time, all of them", time.process_time() - began, MAX_CPU_S, " s"),
        expect_at_most(MODEL, "memory growth", grown, MAX_GROWTH_MB, " MB"),
    ]


def _deep(folder: Path, effort: Effort, chance: random.Random) -> list[Figure]:
    path = folder / JOURNAL
    with Journal(path) as journal:
        toy_monitor(journal, 1).step(toy_building(1, ROWS, ATTACK).batch(0, ROWS))
        last = journal.reader.last_event_number()
    body = '{"a":' + "[" * 200_000 + "]" * 200_000 + "}"
    with closing(sqlite3.connect(path)) as stranger, stranger:
        row = (last + 1, SITE, STEP_MS, "incident.annunciated", None, body)
        signed = (*row, checksum(last + 1, SITE, STEP_MS, "incident.annunciated", body))
        stranger.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", signed)
    commands = [["alarms", verb, "--journal", str(path)] for verb in ("list", "export", "kpi")]
    failed = sum(CliRunner().invoke(command_line, command).exit_code not in (0, 9) for command in commands)
    with Journal(path) as journal:
        toy_monitor(journal, 1).step(toy_building(1, ROWS, ATTACK).batch(ROWS - 1, ROWS))
        goes_on = journal.reader.last_event_number() >= last + 1
    return [
        expect_none(DEEP, "commands that end with a traceback", failed, str(len(commands))),
        expect_all(DEEP, "starts of the monitor", int(goes_on), 1),
    ]


def main(path: Path) -> None:
    with Journal(path) as journal:
        toy_monitor(journal, 1).step(toy_building(1, ROWS, ATTACK).batch(ROWS - 1, ROWS))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
