"""What every source speaks: normalised readings in batches, each acknowledged as one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Quality(StrEnum):
    GOOD = "good"
    UNCERTAIN = "uncertain"
    BAD = "bad"
    STALE = "stale"


class Rejection(StrEnum):
    """Why something that arrived did not become a reading. Every rejection is counted."""

    MALFORMED = "malformed"  # not JSON, no such field, a string where a number belongs
    TOO_LARGE = "too_large"
    UNMAPPED = "unmapped"  # a topic, column or point that no node answers to
    WRONG_UNIT = "wrong_unit"
    OUT_OF_LIMITS = "out_of_limits"  # no sensor can read this
    BAD_QUALITY = "bad_quality"
    BAD_TIME = "bad_time"
    RETAINED = "retained"  # what a broker last knew, of unknown age: never a fresh sample


@dataclass(frozen=True, slots=True)
class Reading:
    """One timestamped value of one point, in SI."""

    site: str
    point: str
    time_ms: int  # when it was measured
    received_ms: int
    value: float | None
    unit: str | None = None
    quality: Quality = Quality.GOOD
    sequence: int | None = None
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Readings of one site, by column, in SI: what a source hands over and a monitor acknowledges as one.

    Values are [n] with one point each, or [r p] with all points of the site in a row of one time. An empty batch
    says that time has passed without news.
    """

    site: str
    received_ms: int
    times_ms: NDArray[np.int64]  # [n] or [r]
    values: NDArray[np.float64]  # [n] or [r p]; NaN where there is no value
    points: NDArray[np.int32] | None = None  # [n] columns of the site's points; None when values are [r p]
    rejected: Mapping[Rejection, int] = field(default_factory=dict)
    receipt: Any = None  # the source's own: what to acknowledge

    def __len__(self) -> int:
        return int(self.values.size)


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which nothing was received because the connection was down."""

    begin_ms: int
    end_ms: int
    is_kept: bool  # the far side kept what was sent meanwhile and hands it over now


@dataclass(frozen=True, slots=True)
class SourceStatus:
    is_connected: bool
    detail: str = ""
    is_finished: bool = False  # a file was read to its end
    since_ms: int | None = None  # when the connection was made or lost
    gaps: tuple[Gap, ...] = ()  # the latest, oldest first
    missing: int = 0  # messages that their sequence numbers say we never saw


class Source(Protocol):
    """A stream of batches. `poll` and `acknowledge` are called from one thread."""

    def poll(self, timeout_s: float) -> Batch | None:
        """The next batch, or None when nothing came in time."""

    def acknowledge(self, batch: Batch) -> None:
        """The batch is safe in the journal: the far side may forget it. Called once per batch, in order."""

    @property
    def status(self) -> SourceStatus: ...

    def close(self) -> None: ...
