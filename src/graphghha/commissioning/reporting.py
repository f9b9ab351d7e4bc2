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
LEAST_CHANGES = 20  # of a signal, before anything is said about it


def reporting_of(compared: Compared, preprocessing: EvidencePreprocessing, template: CpsGraph) -> dict[str, str]:
    """Return for every signal that changes now and then how it is reported, in words; steps are in SI units."""
    names = [template.names[node] for node in template.signal_nodes]
    scale = preprocessing.scaler.columns(template.point_signals).scale
    words = {}
    for signal, name in enumerate(names):
        moved = (compared.steps[..., signal] > 0) & compared.has_steps[..., signal]  # [n Z]
        if moved.sum() < LEAST_CHANGES:
            continue
        rhythm = _rhythm(moved)
        step = _resolution(compared.steps[..., signal][moved]) * float(scale[signal])
        words[name] = f"{rhythm}, in steps of {step:.2g}" if step else rhythm
    return words


def _rhythm(moved: NDArray[np.bool_]) -> str:
    apart = np.concatenate([np.diff(np.flatnonzero(zone)) for zone in moved.T])
    if not len(apart):
        return "by change"
    usual = int(np.median(apart))
    if (apart == usual).mean() < STEADY:
        return "by change"
    minutes = usual * STEP_S // MINUTE
    return "every minute" if minutes == 1 else f"every {minutes} minutes"


def _resolution(steps: NDArray[np.float32]) -> float:
    """Return the least change if all changes are multiples of it, else 0."""
    least = float(np.quantile(steps, 0.01))
    multiples = steps / least
    return least if (np.abs(multiples - np.round(multiples)) < 0.02).mean() >= ROUNDED else 0.0
