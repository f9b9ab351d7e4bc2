"""The first hundred bytes of a journal file: a bit flipped there would hide everything behind it.

Most of them are the same in every journal, so they can be put right. Offsets are those of SQLite's file format.
"""

from pathlib import Path

from graphghha.monitor.journal.schema import APPLICATION_ID, VERSION

SIZE, PAGE_BYTES = 100, 4096
MOST_WRONG = 4  # bytes; a file that differs more is no journal, and is left alone
_PAGES, _VERSION, _APPLICATION = slice(28, 32), slice(60, 64), slice(68, 72)
_CONSTANT = (
    (0, b"SQLite format 3\x00" + PAGE_BYTES.to_bytes(2, "big") + bytes((2, 2, 0, 64, 32, 32))),
    (44, (4).to_bytes(4, "big")),  # schema format
    (56, (1).to_bytes(4, "big")),  # UTF-8
    (64, (1).to_bytes(4, "big")),  # incremental vacuum
    (72, bytes(20)),
)


def is_right(path: Path) -> bool:
    """What is the same in every journal is so in this one. Not asked while a log waits to be written over it."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        return True
    with path.open("rb") as file:
        found = file.read(SIZE)
    return all(found[offset : offset + len(content)] == content for offset, content in _CONSTANT)


def repair_header(path: Path) -> int:
    """Put right what can be known beforehand; returns how many bytes that were, none if it is past repair."""
    with path.open("r+b") as file:
        found = file.read(SIZE)
        if len(found) < SIZE:
            return 0
        right = bytearray(found)
        for offset, content in _CONSTANT:
            right[offset : offset + len(content)] = content
        right[_PAGES] = (path.stat().st_size // PAGE_BYTES).to_bytes(4, "big")
        _agree(right)
        wrong = sum(a != b for a, b in zip(found, right, strict=True))
        if not 0 < wrong <= MOST_WRONG:
            return 0
        file.seek(0)
        file.write(right)
    return wrong


def _agree(header: bytearray) -> None:
    """Of two witnesses of the version, the one that says something possible is right."""
    said = int.from_bytes(header[_VERSION], "big"), int.from_bytes(header[_APPLICATION], "big") - APPLICATION_ID
    version = next((each for each in said if 0 < each <= VERSION), None)
    if version is not None:
        header[_VERSION] = version.to_bytes(4, "big")
        header[_APPLICATION] = (APPLICATION_ID + version).to_bytes(4, "big")
