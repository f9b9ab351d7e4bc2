"""A recording of files is the recording of the run they were written from."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from graphghha.errors import DataError, NotFoundError, SchemaError
from graphghha.lab.runs import Run, attacks_in, read_labelled_run, record_panel, simulated_run, telemetry_files
from graphghha.plants import CaseSpec, load_plant, load_simulator
from graphghha.plants.telemetry import labels_path

PLANT = load_plant("fcu")
CASES = (
    CaseSpec.parse("FCU_VLVStuck_Heating_100@2,start=2018-07-05T09:00,for=3h"),
    CaseSpec.parse("Replay@zone-01,start=2018-07-05T09:00,for=5h,on=RM_TEMP+FCU_RAT"),
    CaseSpec.parse("FCU_VLVStuck_Heating_100@2,start=2018-07-05T15:00,for=1h"),
)
RUN = Run(seed=5, start=datetime(2018, 7, 2), days=4, zones=2, cases=CASES)


class Silent:
    def push(self, values, fresh, wanted):
        return {"silent": np.zeros((int(wanted.sum()), 64, 4), np.float32)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    simulate = load_simulator("fcu")
    simulate(zones=2, days=4, start=RUN.start, seed=5, cases=CASES, out=folder / "run.parquet")
    return folder


def test_files_give_the_truth_of_the_run_they_were_written_from(folder):
    (path,) = telemetry_files(folder)
    stored = read_labelled_run(path, PLANT)
    assert stored.run.source == RUN.source
    live, read = (record_panel(PLANT, run, Silent())["silent"] for run in (simulated_run(PLANT, RUN), stored))
    for name in ("truth", "observable", "recovering"):
        np.testing.assert_array_equal(getattr(read, name), getattr(live, name))
    assert sorted(read.attacks, key=lambda a: (a.case, a.start)) == sorted(
        live.attacks, key=lambda a: (a.case, a.start)
    )


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


def test_what_cannot_be_judged_says_what_is_missing(folder, tmp_path):
    with pytest.raises(NotFoundError, match="no telemetry"):
        telemetry_files(tmp_path)
    path = tmp_path / "short.parquet"
    load_simulator("fcu")(zones=1, days=2, start=RUN.start, seed=5, cases=(), out=path)
    with pytest.raises(DataError, match="fill the windows"):
        record_panel(PLANT, read_labelled_run(path, PLANT), Silent())
    labels_path(path).unlink()
    with pytest.raises(DataError, match="needs labels; .*graphghha score"):
        read_labelled_run(path, PLANT)


def test_another_plants_telemetry_is_refused(folder):
    with pytest.raises(SchemaError, match="plant 'fcu', but the model is for 'mill'"):
        read_labelled_run(folder / "run.parquet", replace(PLANT, name="mill"))
