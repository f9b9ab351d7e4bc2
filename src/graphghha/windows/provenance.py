"""Provenance: which rows something was fitted on, for the leak check."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import SchemaError


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Rows start <= row < stop of one source.

    The name of a source is that of a file or building, not of a case: two cases simulated from one seed share weather
    and noise, and before the attack all bytes.
    """

    source: str
    start: int
    stop: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop:
            raise SchemaError(f"span of {self.source!r}: rows {self.start} to {self.stop} are not a range")

    def __str__(self) -> str:
        return f"{self.source!r} rows {self.start} to {self.stop}"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The spans that some data came from, and the SHA-256 of the data."""

    spans: tuple[Span, ...]
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fingerprint as plain JSON."""
        return {"spans": [[s.source, s.start, s.stop] for s in self.spans], "digest": self.digest}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` returns; SchemaError if a field is missing or does not fit."""
        try:
            return cls(tuple(Span(str(name), int(a), int(b)) for name, a, b in data["spans"]), str(data["digest"]))
        except (KeyError, TypeError, ValueError) as exc:
            raise SchemaError(f"fingerprint: expected spans and digest: {exc}") from exc


def fingerprint(spans: Iterable[Span], *arrays: NDArray[Any]) -> Fingerprint:
    """Return the fingerprint of arrays. The digest does not depend on memory layout or byte order."""
    digest = hashlib.sha256()
    for array in arrays:
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        digest.update(f"{little.dtype.str}{little.shape}".encode())
        digest.update(little.view(np.uint8).data if little.size else b"")
    return Fingerprint(tuple(sorted(spans)), digest.hexdigest())
