"""Attacks that cannot be told apart get one label; all others keep theirs."""

from datetime import datetime

import numpy as np

from graphghha.lab.runs import Run, canonical_cases
from graphghha.lab.runs.equivalent_cases import relabel
from graphghha.plants import CaseSpec, LabelledDay, load_plant

PLANT = load_plant("fcu")
RUN = Run(
    seed=0,
    start=datetime(2018, 1, 1),
    days=1,
    zones=2,
    cases=(
        CaseSpec.parse("FCU_Control_CoolingReverse@1,start=2018-01-01T00:00"),
        CaseSpec.parse("FCU_OADMPRStuck_0@2,start=2018-01-01T00:00"),
    ),
)


def test_only_declared_look_alikes_are_renamed():
    canonical = canonical_cases(PLANT)
    assert set(canonical) == set(PLANT.cases)
    for name, case in canonical.items():
        if case is not PLANT.cases[name]:
            alike = {*PLANT.cases[name].equivalent, *PLANT.cases[name].targets}
            assert alike & set(case.targets) and PLANT.cases[name].equivalent, name
    assert canonical["FCU_Control_CoolingReverse"].name == "FCU_VLVStuck_Cooling_100"
    assert canonical["FCU_Fouling_Heating_Airside_Severe"].targets == ("Cooling_coil",)
    assert canonical["FCU_VLVStuck_Cooling_50"] is PLANT.cases["FCU_VLVStuck_Cooling_50"]


def day() -> LabelledDay:
    shape = (3, 2, PLANT.template.num_nodes)
    event, classes = np.full(shape, -1, np.int16), np.zeros(shape, np.uint8)
    command, damper = PLANT.template.index("FCU_CVLV_DM"), PLANT.template.index("FCU_DMPR")
    event[1:, 0, command], classes[1:, 0, command] = 0, 3
    event[:, 1, damper], classes[:, 1, damper] = 1, 1
    observable = event == 1
    observable[2, 0, command] = True
    times = np.arange(3).astype("datetime64[m]")
    return LabelledDay(times, np.zeros((3, 2, 29)), classes, event, observable, np.zeros((3, 2), bool))


def test_the_label_moves_with_its_event_and_its_observability():
    before, (moved,) = day(), relabel(PLANT, RUN, [day()])
    valve, command = PLANT.template.index("FCU_CVLV"), PLANT.template.index("FCU_CVLV_DM")
    assert moved.attack_class[:, 0, valve].tolist() == [0, 1, 1] and not moved.attack_class[:, 0, command].any()
    assert moved.event[:, 0, valve].tolist() == [-1, 0, 0]
    assert moved.observable[:, 0, valve].tolist() == [False, False, True]
    assert (moved.attack_class[:, 1] == before.attack_class[:, 1]).all(), "the damper has no look-alike"
    assert (day().attack_class == before.attack_class).all()
