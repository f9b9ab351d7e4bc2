"""Telemetry in the format of the public LBNL files, so that simulated and real data are swapped by changing a path."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError
from graphghha.plants.fcu.lbnl import MANIFEST, read_manifest
from graphghha.plants.fcu.lbnl_rows import TIME_COLUMN, TIME_FORMAT
from graphghha.plants.fcu.signals import NAMES, from_si

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pacsv
except ImportError as exc:
    from graphghha.errors import EngineError

    raise EngineError("LBNL files need pyarrow: pip install 'graphghha[data]'") from exc

DECIMALS = 2


class LbnlWriter:
    """One unit's file: a header, then one row per minute in degF, CFM and GPM with two decimals."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream: IO[bytes] = path.open("wb")
        except OSError as exc:
            raise DataError(f"{path}: cannot be written: {exc.strerror}") from exc
        self._stream.write(",".join((TIME_COLUMN, *NAMES)).encode() + b"\n")

    def write(self, times: NDArray[np.datetime64], values: NDArray[np.floating[Any]]) -> None:
        """Append minutes; values [minutes, signals] in SI."""
        # adding zero turns a rounded -0.0 into 0.0
        rounded = np.round(from_si(values), DECIMALS) + 0.0
        stamps = pc.strftime(pa.array(times.astype("datetime64[s]")), format=TIME_FORMAT)
        table = pa.table([stamps, *(pa.array(column) for column in rounded.T.copy())], names=[TIME_COLUMN, *NAMES])
        options = pacsv.WriteOptions(include_header=False, quoting_style="none")
        pacsv.write_csv(table, self._stream, options)
        self.rows += len(table)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stream.close()


def note_simulated(path: Path, *, rows: int, about: Mapping[str, Any]) -> None:
    """Mark a file as simulated beside it, so that a reader does not take it for an altered original."""
    manifest = path.parent / MANIFEST
    entries = read_manifest(manifest.read_bytes(), str(manifest)) if manifest.exists() else {}
    entries[path.name] = {"rows": rows} | dict(about)
    manifest.write_text(json.dumps(entries, indent=1, sort_keys=True) + "\n", encoding="utf-8")
