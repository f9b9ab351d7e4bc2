"""Readings as an operator would say them."""

import pytest

from graphghha.plants import load_plant
from graphghha.plants.formatting import spoken


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("FCU_CVLV", 0.9998, "100%"),
        ("FCU_HVLV_DM", -0.0001, "0%"),
        ("RM_TEMP", 22.4641, "22.5 °C"),
        ("RMCLGSPT", 22.2222, "22.2 °C"),
        ("FCU_OA_CFM", 100.44, "100 L/s"),
        ("FCU_CLG_GPM", 0.36001, "0.36 L/s"),
        ("FCU_CTRL", 1.9998, "setback"),
        ("FAN_CTRL", 1.0, "auto"),
        ("FAN_CTRL", 7.0, "off"),
    ],
)
def test_no_digit_is_finer_than_the_instrument_and_modes_have_names(name, value, said):
    assert spoken(load_plant("fcu").signal(name), value) == said
