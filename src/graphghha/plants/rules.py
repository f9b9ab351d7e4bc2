"""Rules that an engineer of the plant would write: a limit on what readings show, and the node it concerns.

h + w minutes of which the first h are history, Z zones.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Readings = Mapping[str, Floats]  # signal -> [h + w Z] in SI, NaN where unknown

HISTORY_MIN = 60  # h: how far a rule may look back


@dataclass(frozen=True, slots=True)
class Rule:
    """`ratio` maps readings to a figure divided by the rule's limit, [w Z]: 1 is at the limit, more is worse.

    It is 0 where the rule does not apply (a rule about shut valves, while the valve is open), and NaN where a reading
    that it needs is unknown.
    """

    name: str
    node: str
    meaning: str
    ratio: Callable[[Readings], Floats]


def now(readings: Floats) -> Floats:
    """Return the readings [w Z] without their history."""
    return readings[HISTORY_MIN:]


def mean(readings: Floats, minutes: int) -> Floats:
    """Return the mean [w Z] of the last minutes; one unknown reading makes it unknown."""
    result: Floats = _windows(readings, minutes).mean(axis=-1)
    return result


def lowest(readings: Floats, minutes: int) -> Floats:
    """Return the lowest reading [w Z] of the last minutes."""
    result: Floats = _windows(readings, minutes).min(axis=-1)
    return result


def highest(readings: Floats, minutes: int) -> Floats:
    """Return the highest reading [w Z] of the last minutes."""
    result: Floats = _windows(readings, minutes).max(axis=-1)
    return result


def travel(readings: Floats, minutes: int) -> Floats:
    """Return the sum [w Z] of all movements up and down in the last minutes."""
    steps = np.abs(np.diff(readings, axis=0, prepend=readings[:1]))
    return mean(steps, minutes) * minutes


def _windows(readings: Floats, minutes: int) -> Floats:
    return np.lib.stride_tricks.sliding_window_view(readings[HISTORY_MIN + 1 - minutes :], minutes, axis=0)
