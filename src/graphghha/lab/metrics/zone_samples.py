"""Whether the zones of a recording are attacked, beside the probability that the detector gives it.

The probability of a zone is the highest one of its nodes. t minutes, m nodes of a zone, k samples.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.lab.runs.recording import Recording


def zone_samples(recording: Recording, *, every: int = 1) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return truth and probability [k] of all zones at every so many minutes.

    Zones whose attack shows in no reading or has just ended are left out, and so are unknown ones.
    """
    attacked, probability = [], []
    for zone in recording.near.graph.zone_names or (None,):
        nodes = recording.near.zone_rows(zone)
        truth, visible, recovering = (
            each[::every][:, nodes] for each in (recording.truth > 0, recording.observable, recording.recovering)
        )
        is_attacked = np.asarray(truth.any(axis=1))
        shown = np.asarray((truth & visible).any(axis=1))
        highest = _highest(recording.attack[::every][:, nodes])
        certain = (shown | ~is_attacked) & ~np.asarray(recovering.any(axis=1)) & np.isfinite(highest)
        attacked.append(shown[certain])
        probability.append(highest[certain])
    return np.concatenate(attacked), np.concatenate(probability)


def _highest(p: NDArray[Any]) -> NDArray[np.float64]:
    """Return the highest known value of every row [t m]; NaN if none is known."""
    highest = np.nan_to_num(p, nan=-1.0).max(axis=1).astype(np.float64)
    return np.where(highest >= 0, highest, np.nan)
