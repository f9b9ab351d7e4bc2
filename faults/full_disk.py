"""The monitor is killed or asked to end while the disk is full, and started again on it: nothing is lost.

The broker keeps what was not acknowledged. When there is room again, the journal must be that of a clean run.
"""

import contextlib
import os
import resource
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from faults.broker import Broker, Publisher
from faults.disk import file_size_limit, full, small_disk
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, expect_none
from faults.kill import JournalContents, compare, send
from faults.rig import PREFIX, Rig, Watcher, begin, watched_ms
from faults.toy_detector import STEP_MS, Telemetry

KILLED, ENDED = "kill -9 while the disk is full", "SIGTERM while the disk is full"
ROWS, LEAD, MORE = 320, 20, 10
FELT_S = 3.0  # a row that is not in the journal by then cannot be written
MAX_END_S = 20.0


@dataclass(slots=True)
class Ending:
    """What was seen of an end on a full disk."""

    is_felt: bool = False
    took_s: float = 0.0
    code: int | None = None
    goes_on: bool = False  # when it was started again on the full disk


def try_full_disk(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    zones = effort.outage_zones
    telemetry = rig.building(zones, ROWS, True)
    progress("full disk: the undisturbed run")
    whole, _ = _run(folder / "undisturbed", telemetry, rig, zones, None)
    figures: list[Figure] = []
    for fault, number in ((KILLED, signal.SIGKILL), (ENDED, signal.SIGTERM)):
        progress(fault)
        contents, seen = _run(folder / number.name, telemetry, rig, zones, number)
        reported = sum(kind == "journal.failing" for _, kind, _ in contents.events)
        figures += [
            expect_all(fault, "runs in which the journal could not be written", int(seen.is_felt), 1),
            expect_at_most(fault, "time until it has ended", seen.took_s, MAX_END_S, " s"),
            expect_all(fault, "starts on the full disk that go on", int(seen.goes_on), 1),
            *compare(fault, telemetry, whole, _without_journal(contents), f"{zones} zones"),
            Figure(fault, "reports of the full disk", "at least 1", str(reported), reported >= 1),
        ]
        if number == signal.SIGTERM:
            figures.append(expect_none(fault, "exit codes other than 0", int(seen.code != 0)))
    return figures


def _without_journal(contents: JournalContents) -> JournalContents:
    """Leave out the events about the journal itself."""
    return replace(contents, events=[event for event in contents.events if not event[1].startswith("journal.")])


def _run(
    folder: Path, telemetry: Telemetry, rig: Rig, zones: int, number: signal.Signals | None
) -> tuple[JournalContents, Ending]:
    """Feed a monitor; if there is a signal, fill the disk, send the signal, and start again before there is room."""
    state, log, seen = folder / "state", folder / "log", Ending()
    first = max(1, rig.warm_up_rows)
    with small_disk(state), Broker(folder) as broker, broker.publisher() as device:
        command = rig.command(state, f"{broker.address}/{PREFIX}", zones)
        with contextlib.ExitStack() as stack:
            watcher = stack.enter_context(Watcher(command, state, log))
            begin(watcher, device, telemetry)
            send(device, telemetry, 1, first + LEAD)
            _wait_for(watcher, telemetry, first + LEAD)
            sent = first + LEAD
            if number is not None:
                with _full(state, watcher):
                    sent, seen.is_felt = _send_until_felt(watcher, device, telemetry, sent)
                    send(device, telemetry, sent, sent + MORE)
                    time.sleep(1)  # until they are judged
                    seen.took_s, seen.code = watcher.stop(number)
                    send(device, telemetry, sent + MORE, sent + 2 * MORE)
                    watcher = stack.enter_context(Watcher(command, state, log))
                    watcher.until_started()
                    send(device, telemetry, sent + 2 * MORE, sent + 3 * MORE)
                    time.sleep(FELT_S)
                    seen.goes_on = watcher.is_running
                    sent += 3 * MORE
                _lift_limit(watcher)
            send(device, telemetry, sent, len(telemetry))
            _wait_for(watcher, telemetry, len(telemetry))
            watcher.end()
        return JournalContents.read(state), seen


def _wait_for(watcher: Watcher, telemetry: Telemetry, end: int) -> None:
    """Wait until the journal has all rows before `end` but the last, which is still open."""
    last = int(telemetry.times_ms[end - 1]) - STEP_MS
    watcher.until(lambda: watched_ms(watcher.state) >= last, f"row {end - 2}")


def _send_until_felt(watcher: Watcher, device: Publisher, telemetry: Telemetry, first: int) -> tuple[int, bool]:
    """Send rows until one does not come into the journal: its log may have room of its own. Return what was sent."""
    for row in range(first, len(telemetry) - 6 * MORE):
        send(device, telemetry, row, row + 1)
        until_s = time.monotonic() + FELT_S
        while watched_ms(watcher.state) < telemetry.times_ms[row - 1]:
            if time.monotonic() > until_s:
                return row + 1, True
            time.sleep(0.01)
    return row + 1, False


@contextlib.contextmanager
def _full(state: Path, watcher: Watcher) -> Iterator[None]:
    """Fill the disk. Where no small disk could be mounted, keep the files of the monitor from growing instead."""
    if os.path.ismount(state):
        with full(state):
            yield
        return
    largest = max(file.stat().st_size for file in state.iterdir())
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    with file_size_limit(largest):  # a monitor that is started meanwhile inherits it
        resource.prlimit(watcher.pid, resource.RLIMIT_FSIZE, (largest, hard))
        yield


def _lift_limit(watcher: Watcher) -> None:
    resource.prlimit(watcher.pid, resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE))
