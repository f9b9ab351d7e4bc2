"""One decorator for the hot functions: compiled by numba when it is installed, plain Python otherwise."""

import logging
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

try:
    from numba import njit
except ImportError:
    HAS_NUMBA = False
    logging.getLogger(__name__).warning(
        "numba is not installed: the fan-coil testbed runs as plain Python, about 100 times slower; "
        "install it with: pip install 'graphghha[data]'"
    )
else:
    HAS_NUMBA = True

# everything that ends up in machine code
_FCU = Path(__file__).parents[1]
_FILES = (
    *sorted(Path(__file__).parent.glob("*.py")),
    _FCU / "attacks/hooks.py",
    _FCU / "signals.py",
    _FCU.parent / "units.py",
)
SOURCES = zlib.crc32(b"".join(file.read_bytes() for file in _FILES))


def compiled(function: Function, *, inline: bool = False) -> Function:
    """Compile `function` once per machine (the result is cached on disk); leave it as it is without numba."""
    if not HAS_NUMBA:
        return function
    # numba renews a cached function when its own file changes, not when a function or a parameter layout it uses does:
    # a name that carries the sources' checksum keeps stale machine code out
    function.__qualname__ = f"{function.__qualname__}_{SOURCES:08x}"
    try:
        return _compile(function, inline=inline, cache=True)
    except RuntimeError:
        # a read-only installation without a writable cache folder: compile again in every process
        return _compile(function, inline=inline, cache=False)


def _compile(function: Function, *, inline: bool, cache: bool) -> Function:
    # NaN means "free" in the hooks, so the fast-math flags that assume there is none stay off
    compile_function = njit(
        cache=cache,
        error_model="numpy",
        fastmath={"contract", "arcp", "nsz"},
        inline="always" if inline else "never",
    )
    return cast(Function, compile_function(function))


def inlined(function: Function) -> Function:
    """Compile `function` into its caller: for parts of the minute loop that pass arrays and many values."""
    return compiled(function, inline=True)
