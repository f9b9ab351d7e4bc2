import numpy as np

from graphghha.plants.rules import HISTORY_MIN, highest, lowest, mean, travel


def test_windows_end_with_their_minute():
    readings = np.arange(HISTORY_MIN + 5.0)[:, None]
    assert mean(readings, 3)[:, 0].tolist() == [59, 60, 61, 62, 63]
    assert lowest(readings, 10)[0, 0] == 51 and highest(readings, 10)[-1, 0] == 64
    assert travel(readings, 60)[:, 0].tolist() == [60] * 5
