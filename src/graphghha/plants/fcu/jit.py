"""One decorator for the hot functions: compiled by numba when it is installed, plain Python otherwise."""

import logging
from collections.abc import Callable
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


def compiled(function: Function) -> Function:
    """Compile `function` once per machine (the result is cached on disk); leave it as it is without numba."""
    if not HAS_NUMBA:
        return function
    # NaN means "free" in the hooks, so the fast-math flags that assume there is none stay off
    return cast(Function, njit(cache=True, error_model="numpy", fastmath={"contract", "arcp", "nsz"})(function))
