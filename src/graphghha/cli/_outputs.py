"""Outputs are tried before the work starts, so that no result is lost for want of a folder."""

import os
import tempfile
from pathlib import Path
from typing import Any

import click

from graphghha.errors import ConfigError


def check_writable(path: Path) -> None:
    """Raise a `ConfigError` if a file cannot be written at `path`."""
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: there is no folder {path.parent}; make it first")
    if path.exists() and not os.access(path, os.W_OK):
        raise ConfigError(f"{path}: cannot be written; choose another place")
    _try_folder(path.parent, path)


def check_writable_folder(path: Path) -> None:
    """Raise a `ConfigError` if a folder cannot be made, or files cannot be written into it, at `path`."""
    nearest = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not nearest.is_dir():
        raise ConfigError(f"{path}: {nearest} is a file, not a folder; choose another place")
    _try_folder(nearest, path)


def _try_folder(folder: Path, path: Path) -> None:
    """Write a temporary file: permissions alone are not enough, for example on a read-only file system."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as exc:
        raise ConfigError(f"{path}: cannot be written: {exc.strerror}; choose another place") from exc


class OutputFile(click.ParamType[Path]):
    """A file to write. Its folder is made if it is missing."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        try:
            check_writable_folder(path.parent)
            path.parent.mkdir(parents=True, exist_ok=True)
            check_writable(path)
        except (ConfigError, OSError) as exc:
            self.fail(str(exc), param, ctx)
        return path


class OutputFolder(click.ParamType[Path]):
    """A folder to write into, which the command makes."""

    name = "folder"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        try:
            check_writable_folder(path)
        except (ConfigError, OSError) as exc:
            self.fail(str(exc), param, ctx)
        return path


OUTPUT_FILE, OUTPUT_FOLDER = OutputFile(), OutputFolder()
