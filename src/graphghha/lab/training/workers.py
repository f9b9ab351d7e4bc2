"""Worker processes that simulate and score in parallel."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Any, TypeVar

T = TypeVar("T")
OnPart = Callable[[int, int], None]  # called with the number of parts done and of all parts

# With a thread per core in every process, small matrix products spend most of their time waiting.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _leave_interrupts() -> None:
    """Leave Ctrl-C, which a terminal sends to every process, to the one that started this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def no_parts(done: int, total: int) -> None:
    """Do nothing with the progress of a stage."""


def counted(items: Iterable[T], total: int, on_part: OnPart) -> Iterator[T]:
    """Yield the items, and call `on_part` after each."""
    for done, item in enumerate(items, start=1):
        yield item
        on_part(done, total)


class CountingPool(ProcessPoolExecutor):
    """A pool that says how many results of a `map` are there."""

    def __init__(self, count: int, on_part: OnPart) -> None:
        super().__init__(count, mp_context=get_context("spawn"), initializer=_leave_interrupts)
        self._on_part = on_part

    def map(self, fn: Callable[..., T], *iterables: Iterable[Any], **settings: Any) -> Iterator[T]:
        """Return an iterator of the results, in order."""
        lists = [list(each) for each in iterables]
        return counted(super().map(fn, *lists, **settings), len(lists[0]), self._on_part)


@contextmanager
def worker_processes(count: int, on_part: OnPart = no_parts) -> Iterator[Executor]:
    """Open a pool of spawned processes with one thread each; forked ones would inherit a broken thread pool."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        with CountingPool(count, on_part) as pool:
            try:
                yield pool
            except KeyboardInterrupt:  # do not wait for what nobody wants any more
                pool.shutdown(wait=False, cancel_futures=True)
                for process in active_children():
                    process.terminate()
                raise
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
