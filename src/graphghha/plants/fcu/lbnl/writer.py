"""Write telemetry in the format of the public LBNL files, so that simulated files can replace the originals."""

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha._util.files import atomic_path, atomic_write
from graphghha.errors import ConfigError
from graphghha.plants.arrow import pa, pacsv, pc
from graphghha.plants.fcu.lbnl.files import MANIFEST, read_manifest
from graphghha.plants.fcu.signals import NAMES, TIME_COLUMN, TIME_FORMAT, from_si
from graphghha.plants.telemetry import make_folder, writing

DECIMALS = 2


class LbnlWriter:
    """One unit's file: a header, then one row per minute in degF, CFM and GPM with two decimals.

    It appears under its name only when it is complete, and is open only while rows are appended: a building may have
    more zones than a process may have open files.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        make_folder(path.parent)
        with writing(path), ExitStack() as stack:
            self._partial = stack.enter_context(atomic_path(path))
            self._partial.write_bytes(",".join((TIME_COLUMN, *NAMES)).encode() + b"\n")
            self._file = stack.pop_all()

    def write(self, times: NDArray[np.datetime64], values: NDArray[np.floating[Any]]) -> None:
        """Append rows of values [minutes, signals] in SI."""
        # adding zero turns a rounded -0.0 into 0.0
        rounded = np.round(from_si(values), DECIMALS) + 0.0
        stamps = pc.strftime(pa.array(times.astype("datetime64[s]")), format=TIME_FORMAT)
        table = pa.table([stamps, *(pa.array(column) for column in rounded.T.copy())], names=[TIME_COLUMN, *NAMES])
        options = pacsv.WriteOptions(include_header=False, quoting_style="none")
        with writing(self.path), self._partial.open("ab") as stream:
            pacsv.write_csv(table, stream, options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with writing(self.path):
            self._file.__exit__(kind, error, at)


def check_free(path: Path, labels: Path) -> None:
    """Refuse to overwrite a file, or labels beside it, that no simulation wrote: it may be an original."""
    known = read_manifest(path.parent)
    if path.name in known:
        return
    of_our_building = known and labels.parent != path.parent  # one labels file for the folders of all zones
    for taken in (path,) if of_our_building else (path, labels):
        if os.path.lexists(taken):
            raise ConfigError(f"simulate: {taken} exists and {MANIFEST} does not list it; choose another --out folder")


def note_simulated(path: Path, *, rows: int, about: Mapping[str, Any]) -> None:
    """Record in the manifest beside a file that it is simulated, so that it is not taken for an altered original."""
    manifest = path.parent / MANIFEST
    entries = read_manifest(path.parent)
    entries[path.name] = {"rows": rows} | dict(about)
    with writing(manifest):
        atomic_write(manifest, json.dumps(entries, indent=1, sort_keys=True) + "\n")
