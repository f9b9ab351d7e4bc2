import numpy as np
import pytest

from graphghha.plants.fcu.signals import INDEX, NAMES, to_si


def test_the_units_of_the_data_set_are_converted_to_si():
    assert to_si(np.full(len(NAMES), 72.0))[INDEX["RM_TEMP"]] == pytest.approx(22.2222, abs=1e-4)
    assert to_si(np.full(len(NAMES), 397.9))[INDEX["FCU_DA_CFM"]] == pytest.approx(187.8, abs=0.1)
