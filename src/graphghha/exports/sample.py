"""The beginning of a text file and a few blocks from the rest of it, enough to recognize how it is written."""

import codecs
from dataclasses import dataclass
from pathlib import Path

from graphghha.errors import DataError

HEAD_BYTES = 1 << 18
BLOCK_BYTES = 1 << 14
BLOCKS = 16

# the first bytes of files that people mistake for tables
_FOREIGN = {
    b"PK\x03\x04": "is a workbook or a zip archive; let its name end with .xlsx or .zip",
    b"\x1f\x8b": "is compressed with gzip; let its name end with .gz",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook; save the sheet as CSV",
    b"7z\xbc\xaf": "is a 7z archive; unpack it",
    b"Rar!": "is a RAR archive; unpack it",
    b"BZh": "is compressed with bzip2; unpack it",
    b"%PDF": "is a PDF; export the data as CSV",
    b"SQLite format 3": "is an SQLite database; export its tables as CSV",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """Lines of a text file without their line ends."""

    encoding: str
    head: tuple[str, ...]  # from the first line on
    later: tuple[str, ...]  # from blocks spread over the rest of the file
    is_whole: bool  # the head is the whole file

    @property
    def lines(self) -> tuple[str, ...]:
        return self.head + self.later


def read_sample(path: Path) -> Sample:
    """Read a sample of at most half a megabyte; raise a `DataError` for a file that is not text."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            size = file.seek(0, 2)
            _refuse_foreign(path, head)
            encoding = _encoding(head, path)
            blocks = []
            if size > HEAD_BYTES and not encoding.startswith("utf-16"):
                for number in range(1, BLOCKS + 1):
                    file.seek(max(HEAD_BYTES, HEAD_BYTES + (size - HEAD_BYTES) * number // BLOCKS - BLOCK_BYTES))
                    blocks.append(file.read(BLOCK_BYTES))
    except OSError as exc:
        raise DataError(f"{path}: cannot be read: {exc.strerror}") from exc
    is_whole = size <= HEAD_BYTES
    lines = head.decode(encoding, "replace").splitlines()
    later = [line for block in blocks for line in block.decode(encoding, "replace").splitlines()[1:-1]]
    return Sample(encoding, tuple(lines if is_whole else lines[:-1]), tuple(later), is_whole)


def _refuse_foreign(path: Path, head: bytes) -> None:
    for magic, why in _FOREIGN.items():
        if head.startswith(magic):
            raise DataError(f"{path}: {why}")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return
    if b"\0" in head:
        raise DataError(f"{path}: is not a text file")


def _encoding(head: bytes, path: Path) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut in two
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
