import numpy as np

from graphghha.plants import load_testbed
from graphghha.plants.fcu.signals import NAMES
from graphghha.plants.fcu.topology import TEMPLATE


def test_power_is_the_heat_of_both_waters_and_the_fan():
    readings = dict.fromkeys(NAMES, 0.0) | {
        "FCU_CLG_GPM": 0.2,  # litres a second, warmed by 5 K: 4.186 kW
        "FCU_CLG_EWT": 7.0,
        "FCU_CLG_RWT": 12.0,
        "FCU_HTG_GPM": 0.05,  # cooled by 20 K: 4.186 kW
        "FCU_HTG_EWT": 50.0,
        "FCU_HTG_RWT": 30.0,
        "FCU_WAT": 28.0,
    }
    values = np.array([[[readings[name] for name in TEMPLATE.point_signals]]])
    testbed = load_testbed("fcu")
    np.testing.assert_allclose(testbed.power(values), [[4.186 + 4.186 + 0.028]])
    for name in testbed.power_signals:
        unknown = values.copy()
        unknown[..., TEMPLATE.point_signals.index(name)] = np.nan
        assert np.isnan(testbed.power(unknown)).all()
