"""Times several methods in turns in one process, so that their ratios hold on a noisy machine."""

import ctypes
import gc
import os
import platform
import sys
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from graphghha.engine.machine import machine

Call = Callable[[], object]
Clock = Callable[[], float]  # seconds
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Timing:
    """Milliseconds per call."""

    ms: float  # median
    p99_ms: float
    best_ms: float
    calls: int

    def per(self, windows: int) -> "Timing":
        """Return the times per window of a call that scores several."""
        return Timing(self.ms / windows, self.p99_ms / windows, self.best_ms / windows, self.calls)


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """How long to measure: whole rounds over all methods until the budget is spent."""

    budget_s: float = 8.0
    min_rounds: int = 5
    slice_s: float = 0.02  # time in each round that a fast method fills with repeated calls


DEFAULT_EFFORT = Effort()
QUICK_EFFORT = Effort(budget_s=0.2, min_rounds=3)

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # of malloc.h


def interleaved(
    calls: Mapping[Key, Call], effort: Effort = DEFAULT_EFFORT, clock: Clock = time.perf_counter
) -> dict[Key, Timing]:
    """Call all methods in turns, round after round, so that a disturbance affects all of them alike."""
    repeats = {name: _repeats(call, effort.slice_s, clock) for name, call in calls.items()}
    samples: dict[Key, list[float]] = {name: [] for name in calls}
    started, rounds = time.perf_counter(), 0
    gc.collect()
    gc.disable()
    try:
        while rounds < effort.min_rounds or time.perf_counter() - started < effort.budget_s:
            for name, call in calls.items():
                # the first call does not count: the caches still hold data of the previous method
                took_s = [_timed_s(call, clock) for _ in range(repeats[name])]
                samples[name] += took_s[1:] if len(took_s) > 1 else took_s
            rounds += 1
    finally:
        gc.enable()
    return {name: _timing(took_s) for name, took_s in samples.items()}


def _repeats(call: Call, slice_s: float, clock: Clock) -> int:
    call()
    once_s = max(1e-9, min(_timed_s(call, clock) for _ in range(2)))
    return max(1, min(200, int(slice_s / once_s)))


def _timed_s(call: Call, clock: Clock) -> float:
    started = clock()
    call()
    return clock() - started


def _timing(took_s: list[float]) -> Timing:
    ms = np.array(took_s) * 1e3
    return Timing(float(np.median(ms)), float(np.percentile(ms, 99)), float(ms.min()), len(ms))


def peak_mb(build: Callable[[], Call]) -> tuple[Call, float | None]:
    """Build a method and call it once; return it and the growth of resident memory in MB (None except on Linux)."""
    before = _reset_peak_mb()
    call = build()
    call()
    return call, None if before is None else max(0.0, _status_mb("VmHWM") - before)


@contextmanager
def kept_memory() -> Iterator[bool]:
    """Let the C library keep freed memory in the block instead of returning it; yield whether it does (glibc only).

    By default glibc returns large tensors to the system and gets them again, page by page, with every call.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform.startswith("linux") else None
    if mallopt is None:
        yield False
        return
    try:
        yield all([mallopt(_M_MMAP_MAX, 0), mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)])
    finally:
        mallopt(_M_MMAP_MAX, 65_536)
        mallopt(_M_TRIM_THRESHOLD, 128 * 1024)


def _reset_peak_mb() -> float | None:
    if not sys.platform.startswith("linux"):
        return None
    gc.collect()
    try:
        # heap that is freed but not returned would hide the need of the next method
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except (OSError, AttributeError):
        return None
    return _status_mb("VmRSS")


def _status_mb(field: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(field + ":")) / 1024


def machine_info() -> dict[str, Any]:
    """Return what a reader needs to interpret the figures, without anything that identifies the machine."""
    here = machine()
    packages = ("graphghha", "torch", "torch_geometric", "onnxruntime", "numpy")
    return {
        "cpu": here["cpu"],
        "cores": here["cores"],
        "features": [name for name, present in here["features"].items() if present],
        "system": here["system"].partition("-")[0],
        "python": platform.python_version(),
        "compiler": Path(here["compiler"]).name if here["compiler"] else None,
        # other processes slow down long calls more than short ones
        "load_average": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "packages": {name: _version(name) for name in packages},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
