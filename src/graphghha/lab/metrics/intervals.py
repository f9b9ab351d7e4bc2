"""How far a figure of a report card can be trusted: 95 % intervals of shares and of rates.

Events of one building are not independent, so the true intervals are somewhat wider than these.
"""

import math
from collections.abc import Callable
from statistics import NormalDist

LEVEL = 0.95


def wilson_interval(successes: int, total: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the Wilson score interval of a share; NaN twice where nothing was counted."""
    if not total:
        return math.nan, math.nan
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share, weight = successes / total, z * z / total
    centre = (share + weight / 2) / (1 + weight)
    reach = z / (1 + weight) * math.sqrt(share * (1 - share) / total + weight / (4 * total))
    return max(0.0, centre - reach), min(1.0, centre + reach)


def poisson_interval(count: int, exposure: float, level: float = LEVEL) -> tuple[float, float]:
    """Return the exact interval of a rate from a count over an exposure, for example of false alarms a day."""
    if exposure <= 0:
        return math.nan, math.nan
    tail = (1 - level) / 2
    low = 0.0 if count == 0 else _mean_where(lambda mean: 1 - _at_most(count - 1, mean) >= tail, count)
    high = _mean_where(lambda mean: _at_most(count, mean) <= tail, count)
    return low / exposure, high / exposure


def _mean_where(holds: Callable[[float], bool], count: int) -> float:
    """Return the least mean for which a condition holds that becomes true as the mean grows."""
    low, high = 0.0, count + 10.0 * math.sqrt(count + 1.0) + 10.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _at_most(count: int, mean: float) -> float:
    """Return the probability of at most `count` events where `mean` are expected."""
    if mean == 0.0:
        return 1.0
    return math.fsum(math.exp(n * math.log(mean) - mean - math.lgamma(n + 1)) for n in range(count + 1))
