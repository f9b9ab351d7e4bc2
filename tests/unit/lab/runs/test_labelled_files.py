"""A file gives the labels of the run it was written from; what lacks labels or belongs elsewhere is refused."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from graphghha.errors import DataError, NotFoundError, SchemaError
from graphghha.lab.runs import Run, read_labelled_run, record_panel, simulated_run, telemetry_files
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


def test_a_folder_without_telemetry_is_refused(tmp_path):
    with pytest.raises(NotFoundError, match="no telemetry"):
        telemetry_files(tmp_path)


def test_a_file_without_labels_can_only_be_scored(folder, tmp_path):
    path = tmp_path / "run.parquet"
    path.write_bytes((folder / "run.parquet").read_bytes())
    assert not labels_path(path).exists()
    with pytest.raises(DataError, match="has no labels.*graphghha score"):
        read_labelled_run(path, PLANT)


def test_another_plants_telemetry_is_refused(folder):
    with pytest.raises(SchemaError, match="plant 'fcu', but the model is for 'mill'"):
        read_labelled_run(folder / "run.parquet", replace(PLANT, name="mill"))
