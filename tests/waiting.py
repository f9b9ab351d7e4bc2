"""Waiting for another thread or process."""

import time
from collections.abc import Callable


def until(
    is_true: Callable[[], object],
    what: str = "what the test waits for",
    seconds: float = 20.0,
    *,
    failure: Callable[[], str | None] = lambda: None,
) -> None:
    """Wait until something is true; fail after some seconds, or as soon as `failure` returns a reason."""
    end = time.monotonic() + seconds
    while not is_true():
        assert not (reason := failure()), f"{reason} before: {what}"
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.01)
