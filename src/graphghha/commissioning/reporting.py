"""How a site reports its points, as its own days show it: every minute, every few minutes, or when a value changes.

n rows, Z zones, S signals.
"""

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph
from graphghha.windows.evidence import Compared, EvidencePreprocessing
from graphghha.windows.multiscale import MINUTE, STEP_S

STEADY = 0.6  # of the times between two changes are alike where a point is sampled
ROUNDED = 0.9  # of the changes are whole multiples of the least one where a point is rounded
LONGEST_MIN = 60  # between two samples; what changes every twelve hours is changed by a schedule
LEAST_CHANGES = 20  # of a signal, before its rhythm is told
LEAST_EARLY = 3  # changes before the usual time, before they say anything
LEAST_LEVELS = 4  # fewer are the settings of a schedule or the states of a switch, however far apart they are


def reporting_of(compared: Compared, preprocessing: EvidencePreprocessing, template: CpsGraph) -> dict[str, str]:
    """Return for every signal that was heard how it is reported, in words; steps are in SI units."""
    names = [template.names[node] for node in template.signal_nodes]
    scale = preprocessing.scaler.columns(template.point_signals).scale
    words = {}
    for signal, name in enumerate(names):
        known, sizes = compared.has_steps[..., signal], compared.steps[..., signal]  # [n Z]
        moved = (sizes > 0) & known
        count = int(moved.sum())
        if not known.any():
            continue  # the site lacks it
        if count < LEAST_CHANGES:
            words[name] = f"with few changes, {count} in all" if count else "without any change"
            continue
        rhythm = _rhythm(moved, sizes)
        step = _resolution(moved, sizes, compared.recent[..., signal]) * float(scale[signal])
        words[name] = f"{rhythm}, in steps of {step:.2g}" if step else rhythm
    return words


def _rhythm(moved: NDArray[np.bool_], sizes: NDArray[np.floating]) -> str:
    rows = [np.flatnonzero(zone) for zone in moved.T]
    apart = np.concatenate([np.diff(zone) for zone in rows])
    if not len(apart):
        return "by change"
    usual = int(np.median(apart))
    if (apart == usual).mean() < STEADY:
        return "by change"
    minutes = usual * STEP_S // MINUTE
    if minutes > LONGEST_MIN:
        return "by change"
    after = np.concatenate([sizes[zone[1:], number] for number, zone in enumerate(rows)])
    if _is_repeated(after[apart < usual], after[apart >= usual]):
        return f"by change, repeated after {minutes} minutes"
    return "every minute" if minutes == 1 else f"every {minutes} minutes"


def _is_repeated(early: NDArray[np.floating], others: NDArray[np.floating]) -> bool:
    """Return whether changes before the usual time are greater than the others.

    A point that reports on change and repeats itself after a silence sends small changes with the repetition only.
    """
    return len(early) >= LEAST_EARLY and bool(np.quantile(early, 0.1) > np.quantile(others, 0.9))


def _resolution(moved: NDArray[np.bool_], sizes: NDArray[np.floating], recent: NDArray[np.floating]) -> float:
    """Return the least change if all changes are multiples of it and lead to several levels, else 0."""
    steps = sizes[moved]
    least = float(np.quantile(steps, 0.01))
    multiples = steps / least
    if (np.abs(multiples - np.round(multiples)) < 0.02).mean() < ROUNDED:
        return 0.0
    before = [zone[:-1][change[1:]] for zone, change in zip(recent.T, moved.T, strict=True)]  # the levels that it left
    levels = max(len(np.unique(np.round((zone - zone.min()) / least))) for zone in before if len(zone))
    return least if levels >= LEAST_LEVELS else 0.0
