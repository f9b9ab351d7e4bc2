"""Switching the run-time shape checks off."""

from collections.abc import Iterator
from contextlib import contextmanager

import jaxtyping


@contextmanager
def unchecked_shapes() -> Iterator[None]:
    """For bad input on purpose, and for exports, whose symbolic sizes are no plain integers."""
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)
