"""A file gives the labels of the run it was written from; what lacks labels or belongs elsewhere is refused."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pyarrow.parquet as pq
import pytest

from graphghha.errors import DataError, NotFoundError, SchemaError
from graphghha.lab.runs import Run, read_labelled_run, record_panel, simulated_run, telemetry_files
from graphghha.plants import CaseSpec, load_plant, load_simulator
from graphghha.plants.telemetry import MISSING, TelemetryFile, labels_path

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


def test_labels_after_the_last_sample_of_a_slow_site_are_left_out(tmp_path):
    path, simulate = tmp_path / "slow.parquet", load_simulator("fcu")
    case = CaseSpec.parse("FCU_VLVStuck_Heating_100@1,start=2018-07-03T09:00,for=sustained")
    simulate(zones=1, days=3, start=RUN.start, seed=6, building="samples-15-min", cases=[case], out=path)
    labelled = pq.read_table(labels_path(path))["time"].to_numpy().max()
    assert labelled > max(chunk.times.max() for chunk in TelemetryFile(path).chunks())
    days = list(read_labelled_run(path, PLANT, any_reporting=True).days())
    assert (days[-1].attack_class > 0).any()
    assert np.isfinite(days[1].values).all(), "a sample holds until the next one, though it is older than five minutes"


def test_setpoints_that_report_changes_beside_noisy_sensors_stay_known(tmp_path):
    path, simulate = tmp_path / "cov.parquet", load_simulator("fcu")
    run = {"zones": 2, "days": 2, "start": datetime(2018, 1, 1), "seed": 910001, "building": "910001"}
    simulate(**run, observe="cov", cases=[], out=path)
    quality = np.concatenate([chunk.quality for chunk in TelemetryFile(path).chunks()], axis=1)
    assert np.median((quality != MISSING).mean(axis=(0, 1))) > 0.5, "noise makes most points speak at most rows"
    days = list(read_labelled_run(path, PLANT, any_reporting=True).days())
    assert np.isfinite(days[1].values).all()


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
