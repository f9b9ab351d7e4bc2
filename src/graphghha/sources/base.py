"""What every source hands over: readings of one site in batches, each acknowledged as a whole."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray


class CoarseError(Exception):
    """The cause of a `DataError` about readings that come too seldom for a plant."""


class Quality(StrEnum):
    """How far a device vouches for a reading. Bad and stale readings are not used."""

    GOOD = "good"
    UNCERTAIN = "uncertain"
    BAD = "bad"
    STALE = "stale"


class Rejection(StrEnum):
    """Why something that arrived did not become a reading. Every rejection is counted."""

    MALFORMED = "malformed"  # not JSON, a missing field, a text where a number is expected
    TOO_LARGE = "too_large"
    UNMAPPED = "unmapped"  # a topic, column or name that belongs to no point
    WRONG_UNIT = "wrong_unit"
    OUT_OF_LIMITS = "out_of_limits"  # outside what the instrument can measure
    BAD_QUALITY = "bad_quality"
    BAD_TIME = "bad_time"
    RETAINED = "retained"  # the last message a broker stored, of unknown age
    FLOOD = "flood"  # of a sender that sends more than can be read, and far more than the others


@dataclass(frozen=True, slots=True)
class Refused:
    """How many readings were not used, and the last of them as it arrived."""

    count: int
    example: str = ""


@dataclass(frozen=True, slots=True)
class Batch(ABC):
    """Readings of one site, in SI, that are acknowledged together: a `ReadingBatch` or a `RowBatch`.

    A batch without readings states that time has passed without any.
    """

    site: str
    received_ms: int
    times_ms: NDArray[np.int64]  # when the readings were measured
    values: NDArray[np.float64]
    rejected: Mapping[Rejection, int] = field(default_factory=dict, kw_only=True)
    # the same readings by column, or by the sender's name where it leads to none, as far as that is known
    refused: Mapping[tuple[int | str, Rejection], Refused] = field(default_factory=dict, kw_only=True)
    # points and times of readings that were rejected because of their time: they show which clock is wrong
    strays: tuple[NDArray[np.int32], NDArray[np.int64]] | tuple[()] = field(default=(), kw_only=True)
    # points and times of readings that say the point has no usable value: marked bad, or impossible
    withdrawn: tuple[NDArray[np.int32], NDArray[np.int64]] | tuple[()] = field(default=(), kw_only=True)
    receipt: Any = field(default=None, kw_only=True)  # belongs to the source: what to acknowledge

    def __len__(self) -> int:
        return int(self.values.size)

    @property
    @abstractmethod
    def columns(self) -> NDArray[np.int32]:
        """The points that occur in the batch, as columns of the site."""

    @abstractmethod
    def select(self, which: slice | NDArray[np.bool_]) -> Self:
        """Return the batch with a part of its times only."""

    @abstractmethod
    def readings(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]:
        """Return column, time and value of every reading [n]."""


@dataclass(frozen=True, slots=True)
class ReadingBatch(Batch):
    """Single readings: times, values and points are [n]."""

    points: NDArray[np.int32]  # columns of the site

    @classmethod
    def empty(
        cls, site: str, received_ms: int, rejected: Mapping[Rejection, int] = MappingProxyType({}), receipt: Any = None
    ) -> Self:
        """Return a batch without readings."""
        times, values, points = np.empty(0, np.int64), np.empty(0), np.empty(0, np.int32)
        return cls(site, received_ms, times, values, points, rejected=rejected, receipt=receipt)

    @property
    def columns(self) -> NDArray[np.int32]:
        return self.points

    def select(self, which: slice | NDArray[np.bool_]) -> Self:
        return replace(self, times_ms=self.times_ms[which], values=self.values[which], points=self.points[which])

    def readings(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]:
        return self.points, self.times_ms, self.values


@dataclass(frozen=True, slots=True)
class RowBatch(Batch):
    """Whole rows: times are [r], values are [r p] over all points of the site, NaN where there is no value."""

    @property
    def columns(self) -> NDArray[np.int32]:
        return np.arange(self.values.shape[1], dtype=np.int32)

    def select(self, which: slice | NDArray[np.bool_]) -> Self:
        return replace(self, times_ms=self.times_ms[which], values=self.values[which])

    def readings(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]:
        rows, columns = np.nonzero(np.isfinite(self.values))
        return columns.astype(np.int32), self.times_ms[rows], self.values[rows, columns]


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """The state of a source, for people and health checks."""

    is_connected: bool
    detail: str = ""
    is_finished: bool = False  # the file or stream was read to its end
    since_ms: int | None = None  # when the connection was made or lost


class Source(Protocol):
    """A stream of batches. `poll` and `acknowledge` are called from one thread."""

    def poll(self, timeout_s: float) -> Batch | None:
        """Return the next batch, or None if nothing came in time."""

    def acknowledge(self, batch: Batch) -> None:
        """Note that the journal holds the batch, so that the sender may forget it. Called once per batch, in order."""

    @property
    def status(self) -> SourceStatus: ...

    def close(self) -> None: ...
