"""A text file in which every byte that is not UTF-8 reads as a question mark.

Arrow decodes the text of a torn row before it asks what to do with it. A single byte of another encoding in such a row
would make a whole file unreadable.
"""

import codecs
import io
from pathlib import Path

_LONGEST_CHARACTER = 4  # bytes; so many may be left over from the read before


class Utf8File(io.RawIOBase):
    """A file for reading from its start to its end."""

    def __init__(self, path: Path) -> None:
        """Open a file."""
        super().__init__()
        self._file = path.open("rb")
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def readable(self) -> bool:
        """Return whether the file can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, or all that are left; none at the end of the file."""
        while True:
            raw = self._file.read(size if size < 0 else max(1, size - _LONGEST_CHARACTER))
            text = self._decoder.decode(raw, final=not raw)
            if text or not raw:
                return text.replace("\N{REPLACEMENT CHARACTER}", "?").encode()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()
