"""What stands throughout the normal data is listed by a rule."""

import numpy as np

from graphghha.lab.training.own_standing import standing_faults
from graphghha.plants import parse_plant

PLANT = """
[plant]
name = "boxes"
step_s = 300

[[template]]
name = "box"
copies = ["A", "B"]

[[template.signal]]
name = "SUPFLOW"
kind = "sensor"
unit = "CFM"

[[template.signal]]
name = "SUPFLO-SP"
kind = "controller"
unit = "CFM"

[[template.signal]]
name = "LEAK"
kind = "sensor"
unit = "CFM"
"""


def test_a_flow_that_never_comes_near_its_set_point_is_listed():
    plant = parse_plant(PLANT)
    asked = np.tile([50.0, 550.0], 50)
    columns = {"A/SUPFLOW": asked * 0.95, "B/SUPFLOW": np.full(100, 17.0), "A/SUPFLO-SP": asked, "B/SUPFLO-SP": asked}
    leak = np.full(100, 2.0)  # small, with the same unit, and no set-point of its own
    values = np.stack([columns.get(name, leak) for name in plant.template.points], axis=1)
    (fault,) = standing_faults(plant, values)
    assert fault == "B/SUPFLOW never read more than 17 CFM, while B/SUPFLO-SP asked for up to 550 CFM"
