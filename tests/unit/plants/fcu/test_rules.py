"""The engineer's rules keep quiet in health and name the node in the cases they were written for."""

from datetime import datetime

import numpy as np
import pytest

from graphghha.plants import CaseSpec, load_plant, load_rules, load_testbed

SIGNALS = load_plant("fcu").template.point_signals


def worst(case=None, month=7):
    """Rule name -> its largest ratio in the afternoon of a day, attacked from nine."""
    start = datetime(2018, month, 2)
    cases = [CaseSpec.parse(f"{case}@1,start={start:%Y-%m-%d}T09:00,for=9h")] if case else []
    (day,) = load_testbed("fcu").run(zones=3, days=1, start=start, seed=11, cases=cases)
    readings = {name: day.values[10 * 60 : 18 * 60, :, number] for number, name in enumerate(SIGNALS)}
    return {rule.name: (rule.node, np.nanmax(rule.ratio(readings)[:, 0])) for rule in load_rules("fcu")}


@pytest.mark.parametrize("month", [1, 4, 7, 10])
def test_no_rule_speaks_in_health(month):
    loud = {name: ratio for name, (_, ratio) in worst(month=month).items() if ratio > 1.2}
    assert not loud


@pytest.mark.parametrize(
    ("case", "rule"),
    [
        ("FCU_VLVLeak_Heating_50", "leaking heating valve"),
        ("FCU_VLVStuck_Cooling_100", "stuck cooling valve"),
        ("FCU_OADMPRStuck_100", "stuck damper"),
        ("FCU_Control_Unstable", "hunting cooling loop"),
        ("FCU_SensorBias_RMTemp_+2C", "room sensors disagree"),
        ("FCU_OABlockage", "blocked inlet"),
        ("SensorSaturated_FCU_MAT_Low", "flat line FCU_MAT"),
    ],
)
def test_a_rule_speaks_in_its_case_about_the_attacked_node(case, rule):
    node, ratio = worst(case)[rule]
    assert ratio > 1.2 and node in load_plant("fcu").cases[case].targets
