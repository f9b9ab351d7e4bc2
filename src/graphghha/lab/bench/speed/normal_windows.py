"""Normal operation as an engine meets it: consecutive windows of an undisturbed building.

t minutes, s nodes, f features per node.
"""

from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from graphghha.models import Model
from graphghha.plants import load_testbed
from graphghha.windows.features import HISTORY_ROWS, Featurizer

ROWS_PER_DAY = 1440
DAY = datetime(2018, 7, 5)  # a Thursday in summer: occupied, cooling, everything moves
FIRST_MINUTE = 8 * 60


def normal_windows(model: Model, zones: int, minutes: int, seed: int) -> NDArray[np.float32]:
    """[t s f] from eight in the morning on, after as many days as the longest window needs."""
    graph = model.template.replicate(zones)
    featurizer = Featurizer(graph, model.template, model.preprocessing)
    warm_days = -(-HISTORY_ROWS // ROWS_PER_DAY)
    first = warm_days * ROWS_PER_DAY + FIRST_MINUTE
    found, done = [], 0
    days = -(-(first + minutes) // ROWS_PER_DAY)
    start = DAY - timedelta(days=warm_days)
    for day in load_testbed(model.plant).run(zones=zones, days=days, start=start, seed=seed):
        values = day.values.reshape(len(day.times), -1)
        rows = np.arange(done, done + len(values))
        wanted = (rows >= first) & (rows < first + minutes)
        found.append(featurizer.push(values, np.ones(values.shape, np.bool_), wanted).features)
        done += len(values)
    return np.concatenate(found)
