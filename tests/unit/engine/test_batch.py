"""Batch scoring gives what live scoring gives, a portion at a time, and never calls the unknown normal."""

from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from graphghha.classes import CLASSES
from graphghha.engine import EngineConfig, Scorer, batch, score_file
from graphghha.engine.batch import SCORE_SCHEMA
from graphghha.errors import DataError, SchemaError
from graphghha.models import load_model, save_model, shipped_model
from graphghha.plants import load_plant
from graphghha.plants.telemetry import GOOD, MISSING, Chunk, TelemetryMeta, TelemetryWriter
from model_builders import small_model

pytestmark = pytest.mark.slow

NOON = np.datetime64("2018-07-02T12:00", "ms")
MINUTE = np.timedelta64(1, "m")
ZONES = ("north", "south")
TORCH = EngineConfig(backend="torch")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    directory = tmp_path_factory.mktemp("model") / "loop"
    save_model(small_model(), directory)
    return directory


def telemetry(path, minutes, *, layout="long", missing=(), template_hash=None, points=None):
    """A file of chunks of 100 minutes, its points in another order than the template's."""
    template = small_model().template
    signals = points or template.point_signals[::-1]
    meta = TelemetryMeta(
        plant="loop",
        template_hash=template_hash or template.content_hash,
        site="site",
        zones=ZONES,
        points=tuple(signals),
        units=("degC",) * len(signals),
        step_s=60.0,
        layout=layout,
    )
    values = np.random.default_rng(3).normal(20, 2, (len(ZONES), max(minutes) + 1, len(signals))).astype(np.float32)
    quality = np.full(values.shape, GOOD, np.uint8)
    for zone, minute, point in missing:
        values[zone, minute, point], quality[zone, minute, point] = np.nan, MISSING
    with TelemetryWriter(path, meta) as writer:
        for at in range(0, len(minutes), 100):
            part = list(minutes[at : at + 100])
            writer.write(Chunk(NOON + MINUTE * np.array(part), values[:, part], quality[:, part]))
    return values[..., ::-1]


def scores(path):
    table = pq.read_table(path)
    return np.stack([table[name].to_numpy() for name in CLASSES], axis=-1).reshape(-1, 16, len(CLASSES)), table


@pytest.mark.parametrize("layout", ["long", "wide"])
def test_a_file_scores_as_its_rows_would_have_live(model, tmp_path, layout):
    values = telemetry(tmp_path / "data.parquet", range(250), layout=layout)
    summary = score_file(model, tmp_path / "data.parquet", tmp_path / "scores.parquet", engine=TORCH)
    loaded = load_model(model)
    live = Scorer(loaded, loaded.template.replicate(2), TORCH)
    one = np.ones(1, bool)
    rows = values.transpose(1, 0, 2).reshape(250, -1).astype(np.float64)
    expected = [live.push(row[None], np.isfinite(row)[None], one).probs[0] for row in rows]
    found, table = scores(tmp_path / "scores.parquet")
    np.testing.assert_array_equal(found, np.stack(expected))
    assert table.schema.equals(SCORE_SCHEMA) and summary["minutes"] == 250 and summary["unknown"] == 0
    first = table.slice(8, 2).to_pylist()
    assert [(row["zone"], row["node"]) for row in first] == [("south", "outdoor"), ("south", "supervisor")]


def test_memory_is_bounded_by_portions_and_their_size_changes_nothing(model, tmp_path, monkeypatch):
    telemetry(tmp_path / "data.parquet", range(250))
    score_file(model, tmp_path / "data.parquet", tmp_path / "whole.parquet", engine=TORCH)
    monkeypatch.setattr(batch, "CELLS_PER_PORTION", 16 * 7)
    pushed = []
    score_file(model, tmp_path / "data.parquet", tmp_path / "parts.parquet", on_rows=pushed.append, engine=TORCH)
    assert max(pushed) <= 7 and sum(pushed) == 250
    groups = pq.ParquetFile(tmp_path / "parts.parquet")
    assert max(groups.metadata.row_group(n).num_rows for n in range(groups.num_row_groups)) <= 7 * 16
    assert scores(tmp_path / "parts.parquet")[1].equals(scores(tmp_path / "whole.parquet")[1])


def test_what_is_unknown_is_null_and_never_normal(model, tmp_path):
    """A sensor that falls silent for ten minutes, and a file that stops for three hours."""
    silence = [(1, minute, 0) for minute in range(50, 60)]
    telemetry(tmp_path / "data.parquet", [*range(100), *range(280, 300)], missing=silence)
    summary = score_file(model, tmp_path / "data.parquet", tmp_path / "scores.parquet")
    found, table = scores(tmp_path / "scores.parquet")
    assert len(found) == 300 and summary["readings"]["not_finite"] == 10
    quiet = int(np.flatnonzero([name == "flow_pid" for name in small_model().template.names])[0])
    unknown = np.isnan(found[:, 8 + quiet, 0])
    assert not unknown[:55].any() and unknown[55:60].all() and not unknown[60:105].any()
    assert np.isnan(found[105:280]).all() and not np.isnan(found[280:]).any()
    classes = np.array(table["class"].to_pylist(), object).reshape(300, 16)
    assert (classes[105:280] == None).all() and summary["unknown"] == np.isnan(found[..., 0]).sum()  # noqa: E711


def test_a_plants_telemetry_is_read_as_a_monitor_would_or_refused(tmp_path):
    plant, data = load_plant("fcu"), tmp_path / "data.parquet"
    units = {signal.name: signal.unit for signal in plant.signals} | {"RM_TEMP": "degF"}
    meta = TelemetryMeta(
        plant="fcu",
        template_hash=plant.template.content_hash,
        site="site",
        zones=("zone-01",),
        points=tuple(units),
        units=tuple(units.values()),
        step_s=60.0,
        layout="wide",
    )
    values = np.full((1, 9, len(units)), np.nan, np.float32)
    values[..., list(units).index("RM_TEMP")] = [[21, 22, 21, 1e30, 1e30, 1e30, 1e30, 1e30, 1e30]]
    times = NOON + MINUTE * np.arange(9)[::-1]  # newest first, and the sensor mad before it was sane

    def write(meta: TelemetryMeta) -> None:
        with TelemetryWriter(data, meta) as writer:
            writer.write(Chunk(times, values, np.full(values.shape, GOOD, np.uint8)))

    write(meta)
    with pytest.raises(SchemaError, match="RM_TEMP is in 'degF'; convert it to 'degC'"):
        score_file(shipped_model("fcu"), data, tmp_path / "scores.parquet")
    right = {"units": tuple(signal.unit for signal in plant.signals)}
    write(replace(meta, **right, step_s=300.0))
    with pytest.raises(SchemaError, match=r"its step is 300\.0 s; models read one row every 60 s"):
        score_file(shipped_model("fcu"), data, tmp_path / "scores.parquet")
    write(replace(meta, **right))
    summary = score_file(shipped_model("fcu"), data, tmp_path / "scores.parquet")
    assert summary["minutes"] == 9 and summary["readings"]["out_of_limits"] == 6 and not summary["readings"]["late"]
    room = pq.read_table(tmp_path / "scores.parquet", filters=[("node", "=", "RM_TEMP")])["class"].to_pylist()
    assert room[:6] == [None] * 6 and None not in room[6:], "no sensor reads that: unknown, as to a monitor"


def test_files_that_do_not_fit_are_refused(model, tmp_path):
    data, out = tmp_path / "data.parquet", tmp_path / "scores.parquet"
    telemetry(data, range(3), template_hash="of something else")
    with pytest.raises(SchemaError, match="another template"):
        score_file(model, data, out)
    telemetry(data, range(3), points=["outdoor", "temp"])
    with pytest.raises(SchemaError, match="point 'supervisor' is missing"):
        score_file(model, data, out)
    telemetry(data, [0, 1, 600 * 1440])
    with pytest.raises(DataError, match="suggests a wrong clock"):
        score_file(model, data, out)
    assert not list(tmp_path.glob("scores*"))
    telemetry(data, range(3))
    with pytest.raises(DataError, match="is inside the model directory"):
        score_file(model, data, model / "scores.parquet")
    with pytest.raises(DataError, match="or its labels"):
        score_file(model, data, tmp_path / "data.labels.parquet")
    with pytest.raises(DataError, match="is the telemetry or its labels"):
        score_file(model, data, data)
    with pytest.raises(DataError, match="testbed import"):
        score_file(model, tmp_path / "FCU_OABlockage.csv", out)
    assert not out.exists() and not list(tmp_path.glob("*.partial"))
