"""What a trial of reliability states: a fault, a figure, the aim, what was measured."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

Say = Callable[[str], None]


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


def none_of(fault: str, figure: str, count: int, among: str = "") -> Figure:
    """Something that must not happen at all."""
    return Figure(fault, figure, "0", f"{count} of {among}" if among else str(count), count == 0)


def at_most(fault: str, figure: str, value: float, most: float, unit: str = "") -> Figure:
    return Figure(fault, figure, f"at most {most:g}{unit}", f"{value:.3g}{unit}", value <= most)


def all_of(fault: str, figure: str, count: int, total: int) -> Figure:
    """Everything, and something at all."""
    return Figure(fault, figure, "all", f"{count:,} of {total:,}", count == total > 0)


def stated(fault: str, figure: str, measured: str) -> Figure:
    """A figure without an aim."""
    return Figure(fault, figure, "", measured, True)
