"""A recording knows the attacks of its run, and begins where the windows are full."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from graphghha.errors import DataError
from graphghha.lab.runs import Run, attacks_in, record_panel, simulated_run
from graphghha.plants import CaseSpec, load_plant

PLANT = load_plant("fcu")
CASES = (
    CaseSpec.parse("FCU_VLVStuck_Heating_100@2,start=2018-07-05T09:00,for=3h"),
    CaseSpec.parse("Replay@zone-01,start=2018-07-05T09:00,for=5h,on=RM_TEMP+FCU_RAT"),
)
RUN = Run(seed=5, start=datetime(2018, 7, 2), days=4, zones=2, cases=CASES)


class Silent:
    def push(self, values, fresh, wanted):
        return {"silent": np.zeros((int(wanted.sum()), 64, 4), np.float32)}


def test_a_replay_is_an_event_on_the_sensors_it_chose():
    attacks = record_panel(PLANT, simulated_run(PLANT, RUN), Silent())["silent"].attacks
    replay = next(attack for attack in attacks if attack.case == "Replay")
    names = PLANT.template.replicate(2).names
    assert [names[node] for node in replay.targets] == ["zone-01/RM_TEMP", "zone-01/FCU_RAT"]
    assert replay.family == "replay" and replay.equivalent == ()


@pytest.mark.parametrize(("shows_from", "expected"), [(2, (0, True)), (7, (2, False))])
def test_an_attack_that_showed_before_the_recording_is_marked(shows_from, expected):
    """Rows 0 to 4 fill the windows; the attack acts from row 1 to 9."""
    events = np.full((12, 32), -1, np.int16)
    events[1:10, 4] = 0
    observable = (events == 0) & (np.arange(12)[:, None] >= shows_from)
    run = replace(RUN, zones=1, cases=CASES[:1])
    (attack,) = attacks_in(PLANT, PLANT.template.replicate(1), run, events, observable, first=5)
    assert (attack.start, attack.stop, attack.targets) == (0, 5, (4,))
    assert (attack.observable_from, attack.has_shown) == expected


def test_a_run_that_does_not_fill_the_windows_is_refused():
    with pytest.raises(DataError, match="fill the windows; give a longer run"):
        record_panel(PLANT, simulated_run(PLANT, replace(RUN, days=2, cases=())), Silent())
