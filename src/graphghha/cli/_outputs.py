"""Outputs are tried before the work starts, so that no result is lost for want of a folder."""

import os
from pathlib import Path

from graphghha.errors import ConfigError


def check_writable(path: Path) -> None:
    """Raise a `ConfigError` if a file cannot be written at `path`."""
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: there is no folder {path.parent}; make it first")
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise ConfigError(f"{path}: cannot be written; choose another place")
