"""Tables inside of other files: compressed ones, archives of them, and the sheets of a workbook.

They are unpacked into a temporary folder, which goes with the `Unpacked` that made it.
"""

import gzip
import shutil
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from graphghha.errors import DataError
from graphghha.exports.workbook import write_sheets

SUFFIXES = (".gz", ".zip", ".xlsx")
MOST_BYTES = 1 << 34  # of everything that is unpacked
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file with a table: where it is read, and how it is named."""

    path: Path
    file: Path  # differs from `path` if it was unpacked


class _Packed(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Unpacked:
    """Unpacks files on demand."""

    def __init__(self, table_suffixes: tuple[str, ...], most_bytes: int = MOST_BYTES) -> None:
        """Of an archive, take the files that end with one of these."""
        self._suffixes = table_suffixes
        self._left = most_bytes
        self._folder: Path | None = None
        self._count = 0

    def tables(self, path: Path) -> Iterator[TableFile]:
        """Yield the tables of a file, which is itself one if it is not packed."""
        suffix = path.suffix.lower()
        if suffix not in SUFFIXES:
            yield TableFile(path, path)
            return
        try:
            if suffix == ".gz":
                yield self._gzip(path)
            elif suffix == ".zip":
                yield from self._zip(path)
            else:
                for sheet in write_sheets(path, self._new_folder()):
                    yield TableFile(sheet, path if sheet.stem == path.stem else path / sheet.name)
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError) as exc:
            raise DataError(f"{path}: cannot be unpacked: {exc}") from exc

    def _gzip(self, path: Path) -> TableFile:
        name = path.name[: -len(path.suffix)]
        if not Path(name).suffix:
            name += ".csv"
        target = self._new_folder() / name
        with gzip.open(path, "rb") as packed:
            self._copy(packed, target, path)
        return TableFile(target, path.with_name(name))

    def _zip(self, path: Path) -> Iterator[TableFile]:
        with zipfile.ZipFile(path) as archive:
            members = [each for each in archive.infolist() if self._is_table(each)]
            if not members:
                raise DataError(f"{path}: none of the files inside ends with {' | '.join(self._suffixes)}")
            for member in members:
                target = self._new_folder() / PurePosixPath(member.filename).name
                with archive.open(member) as packed:
                    self._copy(packed, target, path)
                yield TableFile(target, path / member.filename)

    def _is_table(self, member: zipfile.ZipInfo) -> bool:
        name = PurePosixPath(member.filename)
        is_hidden = any(part.startswith((".", "__MACOSX")) for part in name.parts)
        return not member.is_dir() and not is_hidden and name.suffix.lower() in self._suffixes

    def _copy(self, packed: _Packed, target: Path, path: Path) -> None:
        with target.open("wb") as file:
            while block := packed.read(_BLOCK_BYTES):
                self._left -= len(block)
                if self._left < 0:
                    raise DataError(f"{path}: holds more than {MOST_BYTES >> 30} GB; unpack it and give fewer files")
                file.write(block)

    def _new_folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="graphghha-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        if shutil.disk_usage(folder).free < _BLOCK_BYTES:
            raise OSError(f"no space is left in {folder.parent}")
        return folder
