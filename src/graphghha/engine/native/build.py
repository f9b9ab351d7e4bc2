"""Builds the native kernel once with the system's C compiler, keeps it in a user cache, verifies and loads it."""

import ctypes
import hashlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

from graphghha._util.ownership import distrust
from graphghha.engine.machine import compiler, machine
from graphghha.errors import EngineError

log = logging.getLogger(__name__)

SOURCES = Path(__file__).parent / "kernels"
# without -ffast-math: NaN must stay NaN, and the rounding in exp must not be optimized away
FLAGS = ("-O3", "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-math-errno", "-fno-trapping-math")
NATIVE = ("-march=native",)
_DEFINES = {"fp32": (), "fp16": ("-DGHHA_FP16",), "bf16": ("-DGHHA_BF16",)}
_TYPES = {"p": ctypes.c_void_p, "i": ctypes.c_int64}
_lock = threading.Lock()
_loaded: dict[Path, "Kernel"] = {}


@dataclass(frozen=True)
class Kernel:
    """A loaded library with its properties."""

    library: ctypes.CDLL
    path: Path
    compiled_in_s: float  # 0 if it came from the cache

    def function(self, name: str, arguments: str) -> Callable[..., int]:
        """Return an exported function whose result is an int64; `p` is a pointer argument, `i` an int64."""
        # ctypes shares one object per name, and with it the argument types; this makes a new one
        function = ctypes.CFUNCTYPE(ctypes.c_int64, *[_TYPES[a] for a in arguments])((name, self.library))
        return cast(Callable[..., int], function)

    def _number(self, name: str) -> int:
        return self.function(name, "")()

    @cached_property
    def lanes(self) -> int:
        """The number of floats in a vector register."""
        return self._number("ghha_vector_lanes")

    @cached_property
    def panel(self) -> int:
        """The number of columns of a panel of weights."""
        return self._number("ghha_panel_columns")

    @cached_property
    def weight_format(self) -> str:
        """The number format of packed weights."""
        return ("fp32", "fp16", "bf16", "bf16 pairs")[self._number("ghha_weight_format")]

    @cached_property
    def uses_amx(self) -> bool:
        """Whether matrix products run on AMX tiles."""
        return bool(self._number("ghha_uses_amx"))

    @cached_property
    def tile(self) -> int:
        """The number of rows of a tile."""
        return self._number("ghha_tile_rows")


def cache_directory() -> Path:
    """Return the folder of compiled kernels, in $XDG_CACHE_HOME or the platform's usual place."""
    if os.environ.get("XDG_CACHE_HOME"):
        base = Path(os.environ["XDG_CACHE_HOME"])
    else:
        base = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return base / "graphghha" / "kernels"


def kernel_path(dtype: str, target: tuple[str, ...] = NATIVE) -> Path:
    """Return the path of the kernel for a dtype on this machine, whether or not it exists."""
    return cache_directory() / f"graphghha-{dtype}-{_key(dtype, target)}.so"


def load_kernel(dtype: str = "fp32", target: tuple[str, ...] = NATIVE) -> Kernel:
    """Return the kernel for a dtype, from the cache or newly compiled; EngineError if neither is possible."""
    with _lock:
        path = kernel_path(dtype, target)
        if path not in _loaded:
            _loaded[path] = _from_cache(path) or _compile(path, dtype, target)
        return _loaded[path]


def _key(dtype: str, target: tuple[str, ...]) -> str:
    """Return a hash of the sources, the flags, the compiler and the CPU."""
    host = machine()
    parts = [host["cpu"], host["features"], host["compiler"], FLAGS, _DEFINES[dtype], target]
    digest = hashlib.sha256(json.dumps(parts).encode())
    for source in sorted(SOURCES.iterdir()):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _from_cache(path: Path) -> Kernel | None:
    """Return the cached kernel, or None if it is missing, damaged or not ours.

    A truncated library would crash the process, and one that somebody else wrote would run his code as us.
    """
    checksum = path.with_suffix(".sha256")
    try:
        if path.exists() and (reason := distrust(path) or distrust(checksum)):
            log.warning("engine: the kernel cache is not used: %s", reason)
            return None
        if hashlib.sha256(path.read_bytes()).hexdigest() == checksum.read_text(encoding="ascii").strip():
            return Kernel(ctypes.CDLL(str(path)), path, 0.0)
        log.warning("engine: %s is damaged and will be compiled again", path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as exc:
        log.warning("engine: %s cannot be loaded (%s) and will be compiled again", path, exc)
    return None


def _compile(path: Path, dtype: str, target: tuple[str, ...]) -> Kernel:
    cc = compiler()
    if cc is None:
        raise EngineError("no C compiler found ($CC, cc, gcc, clang); install one, e.g. apt install gcc")
    started = time.perf_counter()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_ours = distrust(path.parent) is None
        # a library in a folder that others may write could be replaced: the kernel is compiled for this process alone
        scratch = Path(tempfile.mkdtemp(prefix=".build-", dir=path.parent if is_ours else None))
    except OSError as exc:
        raise EngineError(f"{path.parent}: the kernel cache cannot be written: {exc}; set XDG_CACHE_HOME") from exc
    try:
        built = scratch / path.name
        _run_compiler(cc, [*FLAGS, *_DEFINES[dtype], *target], built)
        if not is_ours:
            log.warning("engine: %s; the kernel is compiled at every start", distrust(path.parent))
            return Kernel(_load(built), path, time.perf_counter() - started)
        checksum = scratch / "checksum"
        checksum.write_text(hashlib.sha256(built.read_bytes()).hexdigest(), encoding="ascii")
        for file in (built, checksum):
            file.chmod(0o700 if file is built else 0o600)
        # each rename is atomic; a reader between them sees a wrong checksum and compiles its own
        built.replace(path)
        checksum.replace(path.with_suffix(".sha256"))
    finally:
        for left in scratch.iterdir():
            left.unlink()
        scratch.rmdir()
    took_s = time.perf_counter() - started
    log.info("engine: compiled the native %s kernel with %s in %.1f s into %s", dtype, cc, took_s, path)
    return Kernel(_load(path), path, took_s)


def _load(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as exc:
        raise EngineError(f"{path}: the compiled kernel cannot be loaded: {exc}") from exc


def _run_compiler(cc: str, flags: list[str], output: Path) -> None:
    command = [cc, *flags, str(SOURCES / "graphghha.c"), "-o", str(output), "-lm", "-pthread"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise EngineError(f"{cc} could not be run: {exc}") from exc
    if done.returncode != 0:
        raise EngineError(f"{cc} could not compile the native kernel: {done.stderr.strip()[:500]}")
