from pathlib import Path

import numpy as np
import pytest

from graphghha.errors import DataError
from graphghha.plants.telemetry import MISSING, TelemetryFile
from graphghha.sources import FileConfig, Rejection
from graphghha.sources.to_telemetry import write_telemetry
from source_builders import PLANT


def config(path: Path, text: str) -> FileConfig:
    path.write_text(text)
    return FileConfig(path=path, format="csv")


@pytest.mark.parametrize(
    "header, line",
    [
        ("time,zone-02/RM_TEMP [degF],x", "2018-07-02T09:{m:02}:00Z,68,1"),
        ("Zeit;zone-02/RM_TEMP [degF];x", "02.07.2018 09:{m:02};68,0;1"),
        ("time,zone,point,value,unit", "2018-07-02T09:{m:02}:00Z,zone-02,RM_TEMP,68,degF"),
    ],
)
def test_an_export_becomes_telemetry_of_the_plant(header, line, tmp_path):
    text = "\n".join([header, *(line.format(m=minute) for minute in range(30))])
    rejected, notes = write_telemetry(config(tmp_path / "bms.csv", text), PLANT, 2, tmp_path / "out.parquet")
    file = TelemetryFile(tmp_path / "out.parquet")
    (chunk,) = file.chunks()
    assert file.meta.zones == ("zone-01", "zone-02") and chunk.values.shape == (2, 30, 29)
    room = file.meta.points.index("RM_TEMP")
    np.testing.assert_allclose(chunk.values[1, :, room], 20.0)
    assert (chunk.quality[0] == MISSING).all()
    assert rejected[Rejection.UNMAPPED] == (30 if ",x" in header or ";x" in header else 0)


@pytest.mark.parametrize("step_min", [1, 15])
def test_that_nothing_maps_is_said_first_with_what_to_do(step_min, tmp_path):
    rows = "\n".join(f"{1530522000 + 60 * step_min * row},{row}" for row in range(40))
    foreign = config(tmp_path / "bms.csv", f"time,AHU-1 Temp\n{rows}\n")
    remedy = r"none of its names maps to one \(40 readings\); say with --zones .* --mapping .* --source csv:.*bms.csv "
    with pytest.raises(DataError, match=remedy):
        write_telemetry(foreign, PLANT, 1, tmp_path / "o.parquet")


def test_an_export_without_a_reading_of_the_plant_is_refused(tmp_path):
    with pytest.raises(DataError, match="has no reading for a point of plant 'fcu'.*watch --check"):
        write_telemetry(config(tmp_path / "bms.csv", "time,x\n2018-07-02T09:00Z,1\n"), PLANT, 1, tmp_path / "o.parquet")
    assert not (tmp_path / "o.parquet").exists()
