"""What a process can run out of: descriptors, threads, memory."""

import _thread
import os

DESCRIPTORS, THREADS, MEMORY = "file descriptors", "threads", "memory"
SPARE_DESCRIPTORS = 4  # a connection, a file, and what a library opens beside them
SPARE_BYTES = 16_000_000


def exhausted_resources() -> dict[str, str]:
    """Return what there is not enough of, with the error that shows it."""
    found = {}
    for name, attempt in ((DESCRIPTORS, _open_files), (THREADS, _start_thread), (MEMORY, _allocate)):
        try:
            attempt()
        except (OSError, RuntimeError, MemoryError) as exc:
            found[name] = str(exc) or type(exc).__name__
    return found


def _open_files() -> None:
    opened: list[int] = []
    try:
        for _ in range(SPARE_DESCRIPTORS):
            opened.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    finally:
        for each in opened:
            os.close(each)


def _start_thread() -> None:
    # `Thread.start` waits for a sign of the new thread, which does not come if that finds no memory
    _thread.start_new_thread(_do_nothing, ())


def _do_nothing() -> None:
    pass


def _allocate() -> None:
    bytearray(SPARE_BYTES)
