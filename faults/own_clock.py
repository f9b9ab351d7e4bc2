"""The clock of our own machine is set (by hand, by NTP) while readings arrive: nothing may be lost.

The clock is set for the monitor's process only, by a library that is loaded before the C library.
"""

import os
import subprocess
import time
from pathlib import Path

from faults.broker import Broker
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_none, report
from faults.live import LEAD_ROWS, ZONES, command_of, figure_of, plant_of, wait_for
from faults.rig import JOURNAL, PREFIX, TOY_RIG, Rig, Watcher
from graphghha.engine.machine import compiler
from graphghha.monitor import Reader

FAULT = "our own clock an hour back, a year ahead, right again"
STEPS_S = (-3_600, 365 * 86_400, 0)
SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long offset(void) {
    static int file = -1;
    long long seconds = 0;
    if (file < 0) file = open(getenv("CLOCK_OFFSET"), O_RDONLY);
    if (file < 0 || pread(file, &seconds, sizeof seconds, 0) != sizeof seconds) return 0;
    return seconds;
}
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, at);
    if (result == 0 && id == CLOCK_REALTIME) at->tv_sec += offset();
    return result;
}
int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""


def try_own_clock(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    """Use the toy detector and fast rows whatever the rig, as this trial tests the rows."""
    cc = compiler()
    if cc is None:
        return [report(FAULT, "not tried", "there is no C compiler")]
    folder.mkdir(parents=True, exist_ok=True)
    progress(FAULT)
    library, offset, state = folder / "clock.so", folder / "offset", folder / "state"
    (folder / "clock.c").write_text(SOURCE, encoding="utf-8")
    subprocess.run([cc, "-shared", "-fPIC", "-O1", str(folder / "clock.c"), "-o", str(library), "-ldl"], check=True)
    preload = ["env", f"LD_PRELOAD={library}", f"CLOCK_OFFSET={offset}"]
    seen = 0
    with Broker(folder) as broker:
        _set(offset, 0)
        command = [*preload, *command_of(state, f"{broker.address}/{PREFIX}", TOY_RIG)]
        with Watcher(command, state) as watcher:
            watcher.until((state / JOURNAL).exists, "a journal")
            time.sleep(0.5)
            with plant_of(broker, TOY_RIG.live_step_ms) as plant:
                plant.pass_rows(LEAD_ROWS)
                wait_for(watcher, plant, 0)
                first = plant.measured
                for seconds in STEPS_S:
                    _set(offset, seconds)
                    seen += abs(_time_in_child(preload) - time.time() - seconds) < 60
                    plant.pass_rows(4 * LEAD_ROWS)
                last = plant.measured
                plant.pass_rows(LEAD_ROWS)
                wait_for(watcher, plant, last + 1)
                watcher.end()
        with Reader(state / JOURNAL) as reader:
            kinds = [event.kind for event in reader.events_after(0, 10**6)]
    alarms = sum(kind in ("source.lost", "device.clock", "incident.annunciated") for kind in kinds)
    return [
        expect_all(FAULT, "steps that a process sees", seen, len(STEPS_S)),
        figure_of(FAULT, state, plant.telemetry, first, last),
        expect_none(FAULT, f"false alarms of the source, a clock or an attack ({ZONES} zones)", alarms),
    ]


def _set(path: Path, seconds: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.pwrite(descriptor, seconds.to_bytes(8, "little", signed=True), 0)
    finally:
        os.close(descriptor)


def _time_in_child(preload: list[str]) -> float:
    done = subprocess.run([*preload, "date", "+%s"], capture_output=True, text=True, check=True)
    return float(done.stdout)
