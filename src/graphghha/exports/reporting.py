"""How a point reports: at a fixed interval, or on a change of value."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from graphghha.exports.notes import span_text

MOST_LOOKED_AT = 200_000  # readings; the beginning and the end of a long record suffice
LONGEST_TREND_MS = 3_600_000  # a schedule changes a set-point regularly too, but twice a day
FEWEST_SHORT = 3  # intervals shorter than the usual one, before they say anything
USUAL_STEPS_S = (0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 360, 600, 900, 1200, 1800, 3600)


class Mode(StrEnum):
    """When a point writes a record."""

    SAMPLED = "sampled"  # at a fixed interval
    COV = "cov"  # when its value has changed: silence means unchanged
    NONE = "none"  # there are too few records to decide


@dataclass(frozen=True, slots=True)
class Reporting:
    """The mode of a point, its usual interval, and the reason."""

    mode: Mode
    step_ms: int | None
    reason: str

    def __str__(self) -> str:
        return (
            f"sampled every {span_text(self.step_ms)}" if self.mode is Mode.SAMPLED and self.step_ms else str(self.mode)
        )


def recognize_reporting(
    times_ms: NDArray[np.int64], values: NDArray[np.float64], *, resolution_ms: int = 1, is_set: bool = False
) -> Reporting:
    """Recognize the mode of a point from its readings in the order of time.

    `resolution_ms` is that of the written times: whole minutes hide how regular an interval is. `is_set` says that
    the point is set, not measured (a set-point, command or state): uneven intervals then mean changes.
    """
    if len(times_ms) < 3:
        return Reporting(Mode.NONE, None, f"{len(times_ms)} readings")
    times, values = times_ms[:MOST_LOOKED_AT], values[:MOST_LOOKED_AT]
    steps = np.diff(np.unique(times)).astype(np.float64)  # two records in one second say nothing about the interval
    if not len(steps):
        return Reporting(Mode.NONE, None, "all readings have the same time")
    changes = float((np.diff(values) != 0).mean())
    typical = float(np.median(steps))
    step_ms = usual_step_ms(typical)
    slack = max(0.02 * typical, min(1500.0, 0.25 * typical), resolution_ms if resolution_ms < typical else 0)
    regular = float((np.abs(steps - typical) <= slack).mean())
    multiples = np.abs(steps - np.round(steps / max(typical, 1)) * typical) <= slack
    if is_set and typical > LONGEST_TREND_MS and changes == 1.0:
        return Reporting(Mode.COV, None, f"every record shows another value, about {span_text(step_ms)} apart")
    if typical > 0 and regular >= 0.8:
        return Reporting(Mode.SAMPLED, step_ms, f"{regular:.0%} of the readings are {span_text(step_ms)} apart")
    if typical > 0 and multiples.mean() >= 0.9 and regular >= 0.3 and changes < 0.8:
        reason = f"readings are multiples of {span_text(step_ms)} apart, with holes"
        return Reporting(Mode.SAMPLED, step_ms, reason)
    low, high, highest = np.quantile(steps, [0.1, 0.9, 0.99])
    if not is_set and typical > 0 and 0.5 * typical <= low and high <= 1.7 * typical and highest <= 4 * typical:
        return Reporting(Mode.SAMPLED, step_ms, f"readings are about {span_text(step_ms)} apart, unevenly")
    irregular = f"intervals from {span_text(float(steps.min()))} to {span_text(float(steps.max()))}"
    return Reporting(Mode.COV, None, f"{irregular}; {changes:.0%} of the records show another value")


def repeats_unchanged(times_ms: NDArray[np.int64], values: NDArray[np.float64], step_ms: int) -> bool:
    """Return whether a point with a usual interval reports on change, and only repeats its value after a silence.

    Every record that comes early then shows a greater change than those that come after the whole interval. A sampled
    point whose logger was started again has early records too, but they are like all others.
    """
    order = np.argsort(times_ms[:MOST_LOOKED_AT], kind="stable")
    steps, changes = np.diff(times_ms[order]), np.abs(np.diff(values[order]))
    early, whole = changes[(steps > 0) & (steps < 0.9 * step_ms)], changes[steps >= 0.9 * step_ms]
    if len(early) < FEWEST_SHORT or not len(whole):
        return False
    return bool(np.quantile(early, 0.1) > np.quantile(whole, 0.9))


def usual_step_ms(typical_ms: float) -> int:
    """Return the round interval next to a measured one: 299 s is 5 min."""
    near = min(USUAL_STEPS_S, key=lambda step_s: abs(step_s * 1000 - typical_ms))
    return round(near * 1000 if abs(near * 1000 - typical_ms) <= 0.02 * near * 1000 else typical_ms)


def time_resolution_ms(times_ms: NDArray[np.int64]) -> int:
    """Return the coarsest of minute, second and millisecond in which all these times are whole."""
    return next((unit for unit in (60_000, 1000) if not (times_ms % unit).any()), 1)
