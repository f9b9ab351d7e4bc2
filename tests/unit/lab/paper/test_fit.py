"""Training samples under the paper's protocol."""

import numpy as np

from graphghha.classes import CLASSES
from graphghha.lab.paper.fit import PaperFit, TrainingSamples
from graphghha.lab.paper.protocol import NORMAL, Year
from graphghha.plants import load_plant

CASES = ("FCU_OADMPRStuck_100", "FCU_SensorBias_RMTemp_+4C", NORMAL)


def drawn_labels(**settings) -> set[str]:
    windows = np.zeros((8, len(CASES), 32, 2), np.float16)
    year = Year(CASES, windows, np.ones((8, len(CASES)), np.bool_))
    draw = TrainingSamples(load_plant("fcu"), [year], PaperFit(batch_zones=32), **settings)
    return {CLASSES[int(label)] for step in range(40) for label in draw(np.random.default_rng(step))[1].unique()}


def test_every_case_is_drawn_unless_it_is_left_out():
    assert drawn_labels() == {"normal", "actuator", "sensor"}
    assert drawn_labels(left_out=["FCU_SensorBias_RMTemp_+4C"]) == {"normal", "actuator"}
