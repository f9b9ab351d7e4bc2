"""JSON lines from standard input or any other byte stream."""

import select
from typing import IO

from graphghha._util.times import steady_ms
from graphghha.errors import DataError
from graphghha.sources.base import Batch, Rejection, SourceStatus
from graphghha.sources.batch_builder import BatchBuilder
from graphghha.sources.json_messages import decode
from graphghha.sources.mapping import Mapper

BLOCK_BYTES = 1 << 18
MAX_LINE_BYTES = 1 << 20


class LineSource:
    """Reads one message per line. It holds one block and one unfinished line; a faster writer has to wait."""

    def __init__(self, stream: IO[bytes], builder: BatchBuilder, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._stream = stream
        self._builder = builder
        self._max_line_bytes = max_line_bytes
        self._unfinished = b""  # a line whose end has not come yet
        self._is_skipping = False  # inside a line that is too long to hold
        self._is_finished = False
        self._can_wait = _can_select(stream)

    @property
    def mapper(self) -> Mapper:
        return self._builder.mapper

    @property
    def status(self) -> SourceStatus:
        detail = "the stream has ended" if self._is_finished else "reading lines"
        return SourceStatus(not self._is_finished, detail, is_finished=self._is_finished)

    def poll(self, timeout_s: float) -> Batch | None:
        if self._is_finished or not self._is_ready(timeout_s):
            return None
        try:
            # read1 returns what there is; read would wait for a full block
            block = (
                self._stream.read1(BLOCK_BYTES) if hasattr(self._stream, "read1") else self._stream.read(BLOCK_BYTES)
            )
        except OSError as exc:
            raise DataError(f"standard input cannot be read: {exc}") from exc
        received_ms = steady_ms()
        for line in self._lines(block):
            if line and not line.isspace():
                decode(line, self._builder, received_ms)
        batch = self._builder.take(received_ms)
        return batch if len(batch) or batch.rejected else None

    def _lines(self, block: bytes) -> list[bytes]:
        """Return the lines that this block completes. The end of the stream completes the last line."""
        *lines, rest = block.split(b"\n")
        if not block:
            self._is_finished = True
            lines = [b""]
        if lines:
            lines[0] = b"" if self._is_skipping else self._unfinished + lines[0]
            self._unfinished, self._is_skipping = b"", False
        self._unfinished += b"" if self._is_skipping else rest
        if len(self._unfinished) > self._max_line_bytes:
            self._builder.reject(Rejection.TOO_LARGE)
            self._unfinished, self._is_skipping = b"", True
        short = [line for line in lines if len(line) <= self._max_line_bytes]
        if len(short) < len(lines):
            self._builder.reject(Rejection.TOO_LARGE, len(lines) - len(short))
        return short

    def _is_ready(self, timeout_s: float) -> bool:
        return not self._can_wait or bool(select.select([self._stream], [], [], timeout_s)[0])

    def acknowledge(self, batch: Batch) -> None:
        """Do nothing: a pipe has no way to send an acknowledgement back."""

    def close(self) -> None:
        self._is_finished = True


def _can_select(stream: IO[bytes]) -> bool:
    """Return whether the operating system can wait for this stream."""
    try:
        select.select([stream], [], [], 0)
    except (OSError, ValueError):  # it has no descriptor, or one that cannot be waited for
        return False
    return True
