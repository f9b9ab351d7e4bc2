"""Rules an engineer of the plant would write: a limit on something that readings tell, and the node it speaks about.

h + w minutes of which the first h are history, Z zones.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Readings = Mapping[str, Floats]  # signal -> [h + w Z] in SI, NaN where unknown

HISTORY_MIN = 60  # h: what a rule may look back on


@dataclass(frozen=True, slots=True)
class Rule:
    """`ratio` maps readings to how much of the rule's limit is used up, [w Z]: 1 is at the limit, more is worse.

    Where it has nothing to say, a valve that should be shut being open say, it gives 0; where it cannot know, NaN.
    """

    name: str
    node: str
    meaning: str
    ratio: Callable[[Readings], Floats]


def now(readings: Floats) -> Floats:
    return readings[HISTORY_MIN:]


def mean(readings: Floats, minutes: int) -> Floats:
    """[w Z] mean of the last minutes; one unknown reading makes it unknown."""
    found: Floats = _windows(readings, minutes).mean(axis=-1)
    return found


def lowest(readings: Floats, minutes: int) -> Floats:
    found: Floats = _windows(readings, minutes).min(axis=-1)
    return found


def highest(readings: Floats, minutes: int) -> Floats:
    found: Floats = _windows(readings, minutes).max(axis=-1)
    return found


def travel(readings: Floats, minutes: int) -> Floats:
    """How far it moved up and down."""
    steps = np.abs(np.diff(readings, axis=0, prepend=readings[:1]))
    return mean(steps, minutes) * minutes


def _windows(readings: Floats, minutes: int) -> Floats:
    return np.lib.stride_tricks.sliding_window_view(readings[HISTORY_MIN + 1 - minutes :], minutes, axis=0)
