"""Labels as people write them become the labels that are evaluated."""

from datetime import datetime

import numpy as np
import pytest

from graphghha.errors import DataError, SchemaError
from graphghha.lab.runs import read_labelled_run
from graphghha.lab.runs.label_list import write_labels
from graphghha.plants import load_plant, load_simulator

PLANT = load_plant("fcu")
HEADER = "start,end,nodes,class\n"
EVENT = "2018-07-02T09:00:00Z,2018-07-02T09:30:00Z,zone-02/FCU_CVLV;zone-02/FCU_CVLV_DM,actuator\n"


@pytest.fixture(scope="module")
def telemetry(tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "run.parquet"
    load_simulator("fcu")(zones=2, days=1, start=datetime(2018, 7, 2), seed=5, cases=(), out=path)
    return path


def written(tmp_path, telemetry, text):
    (tmp_path / "labels.csv").write_text(text)
    linked = tmp_path / "run.parquet"
    linked.symlink_to(telemetry)
    return linked, write_labels(tmp_path / "labels.csv", linked, PLANT)


def test_events_label_their_nodes_minute_by_minute(tmp_path, telemetry):
    later = EVENT.replace("2018-07-02", "2018-08-02")
    false = "2018-07-02T12:00:00Z,2018-07-02T13:00:00Z,zone-01/RM_TEMP,normal\n"
    path, counts = written(tmp_path, telemetry, HEADER + EVENT + later + false)
    assert (counts.events, counts.outside) == (1, 1)
    (day,) = read_labelled_run(path, PLANT).days()
    minutes, zones, nodes = np.nonzero(day.attack_class)
    assert (minutes.min(), minutes.max(), len(minutes)) == (540, 569, 60)
    assert set(zones) == {1} and {PLANT.template.names[node] for node in nodes} == {"FCU_CVLV", "FCU_CVLV_DM"}
    assert day.observable[day.attack_class > 0].all()


def test_without_events_there_are_labels_too(tmp_path, telemetry):
    path, counts = written(tmp_path, telemetry, HEADER)
    assert counts.events == 0 and not any(day.attack_class.any() for day in read_labelled_run(path, PLANT).days())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (EVENT.replace("zone-02/FCU_CVLV;", "zone-02/FCU_CLV;"), "line 2: there is no node 'zone-02/FCU_CLV'; did you"),
        (EVENT.replace("actuator", "attack"), "class 'attack' is not one of normal, actuator, sensor, controller"),
        (EVENT.replace("09:30", "09:00"), "its end is not after its start"),
        (EVENT.replace("2018-07-02T09:00:00Z", "yesterday"), "start 'yesterday' is not a time"),
        (EVENT.replace(",actuator", ","), "no class; the columns are start,end,nodes,class"),
    ],
    ids=["node", "class", "end", "time", "column"],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path, telemetry, line, message):
    with pytest.raises(SchemaError, match=message):
        written(tmp_path, telemetry, HEADER + line)


def test_labels_of_another_time_are_refused(tmp_path, telemetry):
    with pytest.raises(DataError, match="none of its events lies within"):
        written(tmp_path, telemetry, HEADER + EVENT.replace("2018", "2019"))


def test_labels_in_parquet_are_told_how_labels_are_written(tmp_path, telemetry):
    with pytest.raises(DataError, match="no text in UTF-8, and labels are CSV with the columns start,end,nodes,class"):
        write_labels(telemetry, telemetry, load_plant("fcu"))
