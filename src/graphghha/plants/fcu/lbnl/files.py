"""The public LBNL fan-coil data: the zip or folder of 49 one-minute files, any subset, streamed day by day, in SI.

Quirks of the originals that are handled here: names contain a literal % or + (some download tools escape them); two
files are byte-identical; a fault lasts the whole file, so the file name is the label; every file has 525,600 rows.
"""

import hashlib
import io
import json
import lzma
import os
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from graphghha._util.suggest import did_you_mean
from graphghha.errors import DataError, NotFoundError
from graphghha.plants.arrow import pa, pacsv
from graphghha.plants.base import CaseInfo
from graphghha.plants.fcu.attacks.catalog import CASES
from graphghha.plants.fcu.lbnl.cases import FAULT_FREE
from graphghha.plants.fcu.lbnl.checksums import MD5, ORIGINAL_ROWS
from graphghha.plants.fcu.lbnl.rows import Repairs, Row, find_columns, scan
from graphghha.plants.fcu.signals import NAMES, TIME_COLUMN, TIME_FORMAT, to_si
from graphghha.plants.telemetry import GOOD, Chunk

MANIFEST = "simulated.json"  # beside files that this package wrote, so that they are not taken for altered originals
CHUNK_ROWS = 1440
_BLOCK_BYTES = 1 << 20


class AlteredFileWarning(UserWarning):
    """A file has the name of an original but not its content."""


@dataclass(frozen=True, slots=True)
class LbnlFile:
    """One file of the data set. Its name is its label; the manifest describes a simulated one."""

    case_name: str
    where: str  # for messages
    open: Callable[[], IO[bytes]]
    expected_rows: int | None = None
    about: dict[str, Any] = field(default_factory=dict)  # the manifest's entry of a simulated file

    @property
    def simulated(self) -> bool:
        return bool(self.about)

    @property
    def case(self) -> CaseInfo | None:
        """The catalogue's case of this file's fault, or None for the fault-free year and for an unknown name."""
        return CASES.get(self.case_name)

    @property
    def is_normal(self) -> bool:
        return self.case_name == FAULT_FREE

    def alteration(self) -> str | None:
        """Return how the content differs from the published file of this name, or None if it does not."""
        if self.simulated or self.case_name not in MD5:
            return None
        digest = hashlib.md5(usedforsecurity=False)
        with self._opened() as stream:
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
        md5, known = digest.hexdigest(), MD5[self.case_name]
        if md5 == known:
            return None
        others = [name for name, original in MD5.items() if original == md5]
        what = f"it is a copy of {others[0]}" if others else f"its MD5 is {md5}, that of the original is {known}"
        return f"{self.where}: not the published {self.case_name}: {what}"

    def chunks(self, *, repair: bool = False, verify: bool = True) -> Iterator[Chunk]:
        """Read the file day by day, one zone, in SI. With `repair`, a warning at the end counts what was repaired."""
        if verify and (alteration := self.alteration()):
            warnings.warn(alteration, AlteredFileWarning, stacklevel=2)
        repairs = Repairs(self.where)
        yield from self.read(repairs if repair else None)
        if repairs:
            warnings.warn(str(repairs), RepairWarning, stacklevel=2)

    def read(self, repairs: Repairs | None = None) -> Iterator[Chunk]:
        """Read the file as `chunks` does, without the MD5 check; with `repairs`, repair faults and count them."""
        done = 0
        try:
            for chunk in _regroup(self._fast()):
                done += len(chunk.times)
                yield chunk
        except _TroubleError:
            with self._opened() as stream:
                text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
                rows = scan(text, self.where, expected_rows=self.expected_rows, repairs=repairs)
                yield from _regroup(_blocks(islice(rows, done, None)))

    def _fast(self) -> Iterator[Chunk]:
        """Read blocks with pyarrow; raise `_TroubleError` at the first thing that does not fit."""
        with self._opened() as stream:
            header = stream.readline().decode("utf-8", "replace")
        find_columns(header, self.where)
        rows, last = 0, None
        try:
            with self._opened() as stream:
                for batch in pacsv.open_csv(
                    stream,
                    read_options=pacsv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False),
                    convert_options=pacsv.ConvertOptions(
                        include_columns=[TIME_COLUMN, *NAMES],
                        column_types={TIME_COLUMN: pa.timestamp("s")} | dict.fromkeys(NAMES, pa.float64()),
                        timestamp_parsers=[TIME_FORMAT],
                    ),
                ):
                    if any(column.null_count for column in batch.columns):
                        raise _TroubleError
                    times = batch.column(0).to_numpy(zero_copy_only=False).astype("datetime64[m]")
                    values = np.stack([column.to_numpy() for column in batch.columns[1:]], axis=1)
                    steps = np.diff(times if last is None else np.concatenate([[last], times]))
                    if not np.isfinite(values).all() or (steps != np.timedelta64(1, "m")).any():
                        raise _TroubleError
                    rows, last = rows + len(times), times[-1]
                    yield _chunk(times, values, np.full(values.shape, GOOD, np.uint8))
        except (pa.ArrowInvalid, pa.ArrowKeyError) as exc:
            raise _TroubleError from exc
        if self.expected_rows is not None and rows < self.expected_rows:
            raise _TroubleError

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        with reading(self.where), self.open() as stream:
            yield stream


class RepairWarning(UserWarning):
    """Something in a file was repaired; the message says what and how often."""


class _TroubleError(Exception):
    """The fast path met something that does not fit; the slow path explains or repairs it."""


@contextmanager
def reading(where: str) -> Iterator[None]:
    """Turn an error from a damaged disk, file or zip into a DataError that names the file."""
    try:
        yield
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError) as exc:
        raise DataError(f"{where}: cannot be read: {exc}") from exc


def open_lbnl(path: Path, cases: Iterable[str] | None = None) -> dict[str, LbnlFile]:
    """Return the files of a zip or folder by case name, fault-free first; all of them, or the named ones."""
    if path.is_dir():
        files = _in_folder(path)
    elif path.is_file() and zipfile.is_zipfile(path):
        files = _in_zip(path)
    else:
        raise DataError(f"{path}: not a folder or a zip of LBNL fan-coil files")
    if not files:
        raise DataError(f"{path}: no FCU_*.csv inside; expected files like {FAULT_FREE}.csv")
    ordered = dict(sorted(files.items(), key=lambda item: (item[0] != FAULT_FREE, item[0])))
    if cases is None:
        return ordered
    chosen = list(cases)
    for name in chosen:
        if name not in ordered:
            hint = did_you_mean(name, ordered) or f" ({len(ordered)} files there)"
            raise NotFoundError(f"{path}: no file of case {name!r}{hint}")
    return {name: ordered[name] for name in chosen}


def case_from_file_name(file_name: str) -> str:
    """Return the case that a file is named after, also if a download tool has escaped its % or +."""
    stem = file_name.removesuffix(".csv")
    return unquote(stem) if stem not in MD5 and unquote(stem) in MD5 else stem


def read_manifest(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the entries of a folder's manifest by file name; empty without a manifest."""
    manifest = folder / MANIFEST
    with reading(str(manifest)):
        return parse_manifest(manifest.read_bytes(), str(manifest)) if os.path.lexists(manifest) else {}


def parse_manifest(raw: bytes, where: str) -> dict[str, dict[str, Any]]:
    """Return the entries of a manifest by file name; every entry has `rows`."""
    try:
        return {str(name): entry | {"rows": int(entry["rows"])} for name, entry in json.loads(raw).items()}
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise DataError(f"{where}: expected a JSON object of file names, each with its number of rows") from exc


def _in_folder(folder: Path) -> dict[str, LbnlFile]:
    simulated = read_manifest(folder)
    paths = sorted(folder.glob("FCU_*.csv"))
    return _by_case([_file(path.name, str(path), partial(_open, path), simulated) for path in paths])


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def _in_zip(path: Path) -> dict[str, LbnlFile]:
    with reading(str(path)):
        archive = zipfile.ZipFile(path)
    members = sorted(member for member in archive.namelist() if not member.startswith("__MACOSX"))
    simulated: dict[str, dict[str, Any]] = {}  # by member
    for manifest in (member for member in members if Path(member).name == MANIFEST):
        with reading(f"{path}/{manifest}"):
            entries = parse_manifest(_open_member(archive, manifest).read(), f"{path}/{manifest}")
        simulated |= {str(PurePosixPath(manifest).parent / name): entry for name, entry in entries.items()}
    chosen = [member for member in members if Path(member).match("FCU_*.csv")]
    return _by_case([_file(each, f"{path}/{each}", partial(_open_member, archive, each), simulated) for each in chosen])


def _open_member(archive: zipfile.ZipFile, member: str) -> IO[bytes]:
    try:
        return archive.open(member)
    except RuntimeError as exc:  # zipfile raises this when a password is needed
        raise DataError(f"{archive.filename}/{member}: cannot be read: {exc}") from exc


def _by_case(files: list[LbnlFile]) -> dict[str, LbnlFile]:
    by_case: dict[str, LbnlFile] = {}
    for file in files:
        if file.case_name in by_case:
            raise DataError(f"{by_case[file.case_name].where} and {file.where} are both {file.case_name}; keep one")
        by_case[file.case_name] = file
    return by_case


def _file(name: str, where: str, opener: Callable[[], IO[bytes]], simulated: dict[str, dict[str, Any]]) -> LbnlFile:
    case = case_from_file_name(PurePosixPath(name).name)
    if about := simulated.get(name) or simulated.get(unquote(name)):
        return LbnlFile(case, where, opener, expected_rows=about["rows"], about=about)
    return LbnlFile(case, where, opener, expected_rows=ORIGINAL_ROWS if case in MD5 else None)


def _chunk(times: NDArray[Any], values: NDArray[np.float64], quality: NDArray[np.uint8]) -> Chunk:
    return Chunk(times.astype("datetime64[ms]"), to_si(values)[None], quality[None])


def _blocks(rows: Iterator[Row]) -> Iterator[Chunk]:
    while block := list(islice(rows, CHUNK_ROWS)):
        minutes, values, quality = zip(*block, strict=True)
        times = np.array(minutes, np.int64).astype("datetime64[m]")
        yield _chunk(times, np.stack(values), np.stack(quality))


def _regroup(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Regroup blocks of any length into chunks of CHUNK_ROWS rows; the last may be shorter."""
    held: list[Chunk] = []
    for chunk in chunks:
        held.append(chunk)
        whole = _join(held)
        for begin in range(0, len(whole.times) - CHUNK_ROWS + 1, CHUNK_ROWS):
            yield _part(whole, begin, begin + CHUNK_ROWS)
        rest = len(whole.times) % CHUNK_ROWS
        held = [_part(whole, len(whole.times) - rest, len(whole.times))] if rest else []
    if held:
        yield _join(held)


def _join(chunks: list[Chunk]) -> Chunk:
    return Chunk(
        np.concatenate([c.times for c in chunks]),
        np.concatenate([c.values for c in chunks], axis=1),
        np.concatenate([c.quality for c in chunks], axis=1),
    )


def _part(chunk: Chunk, begin: int, end: int) -> Chunk:
    return Chunk(chunk.times[begin:end], chunk.values[:, begin:end], chunk.quality[:, begin:end])
