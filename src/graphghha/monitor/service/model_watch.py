"""Notices when the model in a site's model directory is replaced."""

from collections.abc import Mapping
from pathlib import Path

Fingerprint = tuple[object, ...]


def fingerprint(directory: Path) -> Fingerprint:
    """Return a value that changes when the directory, the link to it, or any file in it changes."""
    try:
        target = directory.resolve(strict=True)
        files = sorted(target.iterdir())
        return str(target), *((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    except OSError as exc:
        return (type(exc).__name__,)


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
            if now == self._seen[site] != self._used[site]:
                self._used[site] = now
                changed[site] = directory
            self._seen[site] = now
        return changed

    def all(self) -> dict[str, Path]:
        """Return every site, as if all models had changed."""
        self._used |= {site: fingerprint(directory) for site, directory in self._directories.items()}
        return dict(self._directories)
