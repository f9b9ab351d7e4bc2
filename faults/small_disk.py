"""A disk that fills up or takes no more writes, at will."""

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

SIZE_MB = 16


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A tmpfs of a few megabytes at `folder`, where mounting is allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", str(folder)]
    is_mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextlib.contextmanager
def full(folder: Path) -> Iterator[None]:
    """No space is left; without a small disk of its own, no file of this process may grow."""
    if not os.path.ismount(folder):
        with _no_file_beyond(max(file.stat().st_size for file in folder.iterdir())):
            yield
        return
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    yield
    ballast.unlink()


def read_only(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Every write fails; a limit does what a remount cannot do under open files."""
    return _no_file_beyond(0)


@contextlib.contextmanager
def _no_file_beyond(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
