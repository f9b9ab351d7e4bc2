"""Batch scoring: a telemetry file of any length to probabilities on disk, with the scorer that the monitor uses.

r rows, s nodes of the building, c classes.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import CLASSES
from graphghha.engine.engine import EngineConfig
from graphghha.engine.opening import open_scorer
from graphghha.errors import DataError
from graphghha.models import load_model
from graphghha.plants.arrow import pa
from graphghha.plants.telemetry import TIME, ParquetSink, TelemetryFile, coded, labels_path, make_folder
from graphghha.windows import FileRows

CELLS_PER_PORTION = 500_000  # nodes x rows scored at once, which bounds the memory
MAX_PORTION_ROWS = 1440

_NAME = pa.dictionary(pa.int16(), pa.string())
SCORE_SCHEMA = pa.schema(
    [
        ("time", TIME),
        ("zone", _NAME),
        ("node", _NAME),
        *((name, pa.float32()) for name in CLASSES),
        ("attack", pa.float32()),
        ("class", pa.dictionary(pa.int8(), pa.string())),
    ]
)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The zone and node columns of a score table, which are the same at every time."""

    zones: tuple[str, ...]
    nodes: tuple[str, ...]

    def table(self, times_ms: NDArray[np.int64], probs: NDArray[np.float32]) -> Any:
        """Return probabilities [r s c] as rows by time, zone and node; all columns of an unknown node are null."""
        rows, per_row = len(times_ms), len(self.zones) * len(self.nodes)
        flat = probs.reshape(rows * per_row, len(CLASSES))
        unknown = np.isnan(flat[:, 0])
        zone = np.repeat(np.arange(len(self.zones), dtype=np.int16), len(self.nodes))
        node = np.tile(np.arange(len(self.nodes), dtype=np.int16), len(self.zones))
        likeliest = np.where(unknown, 0, flat.argmax(axis=1)).astype(np.int8)
        numbers = [*flat.T, np.float32(1.0) - flat[:, 0]]
        times = np.repeat(times_ms.astype("datetime64[ms]"), per_row)
        columns = [
            pa.array(times, pa.timestamp("ms")).cast(TIME),
            coded(np.tile(zone, rows), self.zones),
            coded(np.tile(node, rows), self.nodes),
            *(pa.array(np.ascontiguousarray(column), mask=unknown) for column in numbers),
            pa.DictionaryArray.from_arrays(pa.array(likeliest, mask=unknown), list(CLASSES)),
        ]
        return pa.Table.from_arrays(columns, schema=SCORE_SCHEMA)


def score_file(
    directory: Path,
    data: Path,
    out: Path,
    *,
    engine: EngineConfig = EngineConfig(),
    on_rows: Callable[[int], None] = lambda rows: None,
) -> dict[str, Any]:
    """Score every row of a telemetry file into `out` and return a summary, ready for JSON.

    The first rows are scored on little history, as by a monitor that was just connected.
    """
    if data.suffix != ".parquet":
        raise DataError(f"{data}: score reads Parquet telemetry; convert LBNL files with `graphghha testbed import`")
    if out.resolve() in (data.resolve(), labels_path(data).resolve()):
        raise DataError(f"{out}: is the telemetry or its labels; choose another file for the scores")
    if out.resolve().parent == directory.resolve():
        raise DataError(f"{out}: is inside the model directory, which may hold only the model; choose another place")
    model, file = load_model(directory), TelemetryFile(data)
    zones = file.meta.zones
    graph = model.template.replicate(len(zones))
    portion_rows = max(1, min(MAX_PORTION_ROWS, CELLS_PER_PORTION // graph.num_nodes))
    rows = FileRows(file, model.template, portion_rows=portion_rows, any_reporting=model.judges_zones)
    scorer = open_scorer(model, graph, engine)
    layout = _Layout(zones, model.template.names)
    count, unknown = 0, 0
    make_folder(out.parent)
    with ParquetSink(out, SCORE_SCHEMA, use_dictionary=["time", "zone", "node", "class"]) as sink:
        for portion in rows:
            probs = scorer.push(portion.values, portion.fresh, np.ones(len(portion), np.bool_)).probs
            sink.append(layout.table(portion.times_ms, probs))
            count += len(portion)
            unknown += int(np.isnan(probs[..., 0]).sum())
            on_rows(len(portion))
    return {
        "file": str(out),
        "model": str(directory),
        "plant": model.plant,
        "zones": len(zones),
        "nodes": graph.num_nodes,
        "minutes": count,
        "scores": count * graph.num_nodes,
        "unknown": unknown,
        "readings": {**asdict(rows.counters), "out_of_limits": rows.out_of_limits},
        "bytes": out.stat().st_size,
    }
