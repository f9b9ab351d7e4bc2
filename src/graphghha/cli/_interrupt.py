"""Ctrl-C: one line, exit code 130, and what to do to go on."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

EXIT_CODE = 130  # 128 + SIGINT, as shells use it
_COMPILED = ("numpy", "pyarrow", "scipy", "torch")
_AGAIN = "nothing was written; start the same command again"
_HINTS = {
    "alarms": "what was recorded is in the journal",
    "bench": "`bench paper` goes on with the experiments it lacks; others start again",
    "commission": "no model was written; start the same command again",
    "demo": "with --state the same command goes on where it stopped; without it nothing is kept",
    "evaluate": "no report was written; start the same command again (--work keeps fitted baselines)",
    "serve": "the same command goes on where it stopped",
    "simulate": "no file was left half written; start the same command again",
    "train": "finished steps are in the work folder; the same command continues there",
    "watch": "the same command goes on where it stopped, if --state or a settings file names a folder for its journal",
}


def interrupted(command: str | None) -> str:
    """Return the line that a command ends with after Ctrl-C."""
    return f"interrupted; {_HINTS.get(command or '', _AGAIN)}"


@contextmanager
def safe_while_importing() -> Iterator[None]:
    """End the process at once if Ctrl-C comes while a large library is imported: C++ cannot pass an exception on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield
        return

    def handle(number: int, frame: object) -> None:
        specs = (getattr(sys.modules.get(name), "__spec__", None) for name in _COMPILED)
        if any(getattr(spec, "_initializing", False) for spec in specs):
            os.write(2, f"{interrupted(None)}\n".encode())
            os._exit(EXIT_CODE)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
