"""The figures a trial returns: fault, measured quantity, aim, measured value and whether the aim is met."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the results page."""

    fault: str
    figure: str
    aim: str
    measured: str
    holds: bool

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def expect_none(fault: str, figure: str, count: int, among: str = "") -> Figure:
    """Return a figure that holds if `count` is zero."""
    return Figure(fault, figure, "0", f"{count} of {among}" if among else str(count), count == 0)


def expect_at_most(fault: str, figure: str, value: float, limit: float, unit: str = "") -> Figure:
    """Return a figure that holds if `value` does not exceed `limit`."""
    return Figure(fault, figure, f"at most {limit:g}{unit}", f"{value:.3g}{unit}", value <= limit)


def expect_all(fault: str, figure: str, count: int, total: int) -> Figure:
    """Return a figure that holds if `count` equals a positive `total`."""
    return Figure(fault, figure, "all", f"{count:,} of {total:,}", count == total > 0)


def report(fault: str, figure: str, measured: str) -> Figure:
    """Return a figure without an aim."""
    return Figure(fault, figure, "", measured, True)
