"""Writing files so that a reader or a crash never sees half of one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; on success it is synced and takes the place of `path`.

    If the block raises, the partial file is removed and `path` stays as it was.
    """
    partial = path.with_name(path.name + ".partial")
    try:
        yield partial
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(partial, path)
        folder = os.open(path.parent, os.O_RDONLY)  # the new name must survive a power failure too
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        partial.unlink(missing_ok=True)


def atomic_write(path: Path, content: str | bytes) -> None:
    """Write `content` to `path` in one step."""
    with atomic_path(path) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
