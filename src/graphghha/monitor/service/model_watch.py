"""Notices when the model in a site's model directory is replaced."""

from collections.abc import Mapping
from pathlib import Path

Fingerprint = tuple[object, ...]
_GONE = (FileNotFoundError, NotADirectoryError, PermissionError)


def fingerprint(directory: Path) -> Fingerprint | None:
    """Return a value that changes when the directory, the link to it, or any file in it changes.

    None if nobody can say, because there are no descriptors left or the disk fails.
    """
    try:
        target = directory.resolve(strict=True)
        files = sorted(target.iterdir())
        return str(target), *((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    except _GONE as exc:
        return (type(exc).__name__,)
    except OSError:
        return None


class ModelWatch:
    """Reports a change once it is the same in two successive checks, because copying a model takes a while."""

    def __init__(self, directories: Mapping[str, Path]) -> None:
        self._directories = dict(directories)
        self._used = {site: fingerprint(directory) for site, directory in directories.items()}
        self._seen = dict(self._used)

    def changed(self) -> dict[str, Path]:
        """Return the sites whose model has changed since the last report."""
        changed = {}
        for site, directory in self._directories.items():
            now = fingerprint(directory)
            if now is None:
                continue
            if now == self._seen[site] != self._used[site]:
                self._used[site] = now
                changed[site] = directory
            self._seen[site] = now
        return changed

    def all(self) -> dict[str, Path]:
        """Return every site, as if all models had changed."""
        self._used |= {site: fingerprint(directory) for site, directory in self._directories.items()}
        return dict(self._directories)
