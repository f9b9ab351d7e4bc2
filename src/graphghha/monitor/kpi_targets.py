"""The targets of ISA-18.2 for the figures of an alarm system, and whether a site keeps them. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

LEAST_DAYS = 1.0  # a rate of less than a day says little
LEAST_FOR_PRIORITIES, LEAST_FOR_TOP_10 = 50, 200  # announcements; with fewer, ten nodes always have a large share
WITHIN = "within"


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure should be: `outside` returns why it is not, or an empty text."""

    figure: str
    words: str
    outside: Callable[[Any], str]
    least_days: float = 0.0
    least_announced: int = 0


def _above(limit: float, shown: str) -> Callable[[Any], str]:
    return lambda value: f"more than {shown}" if value > limit else ""


def _rate(value: float) -> str:
    if value > 2:
        return "more than 2, which an operator cannot manage"
    return "more than 1; up to 2 are manageable" if value > 1 else ""


def _priorities(shares: Mapping[str, float]) -> str:
    """ISA-18.2 wants about 80 % low, 15 % medium and 5 % high; critical ones count as high."""
    high = shares.get("high", 0.0) + shares.get("critical", 0.0)
    if high > 0.1:
        return f"{high:.0%} are high: operators learn to ignore what is always urgent"
    low = shares.get("low", 0.0)
    return f"only {low:.0%} are low" if low < 0.6 else ""


TARGETS = (
    Target("per_10_min", "about 1, manageable up to 2", _rate, least_days=LEAST_DAYS),
    Target("most_in_10_min", "at most 10", _above(10, "10 at once: nobody can read them")),
    Target("share_of_periods_above_10", "below 1 %", _above(0.01, "1 % of ten-minute periods"), least_days=LEAST_DAYS),
    Target("share_of_time_in_flood", "below 1 %", _above(0.01, "1 % of the time"), least_days=LEAST_DAYS),
    Target(
        "top_10_share", "at most 5 %", _above(0.05, "5 %: a few nodes cause most"), least_announced=LEAST_FOR_TOP_10
    ),
    Target("chattering", "none", _above(0, "none: raised three times within a minute")),
    Target("stale", "fewer than 5", _above(4, "4: standing for more than 24 h")),
    Target("priorities", "about 80 % low, 15 % medium, 5 % high", _priorities, least_announced=LEAST_FOR_PRIORITIES),
)


def verdicts(figures: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return target and verdict by figure: `within`, `outside: why`, or why it cannot be said yet."""
    return {
        target.figure: {"target": target.words, "verdict": _verdict(target, figures)}
        for target in TARGETS
        if target.figure in figures
    }


def _verdict(target: Target, figures: Mapping[str, Any]) -> str:
    if figures["days"] < target.least_days:
        return f"cannot be said yet: less than {target.least_days:g} day of data"
    if figures["annunciated"] < target.least_announced:
        return f"cannot be said yet: fewer than {target.least_announced} announcements"
    why = target.outside(figures[target.figure])
    return f"outside: {why}" if why else WITHIN
