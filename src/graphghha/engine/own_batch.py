"""Scores files of a plant of the user's own: one row per time and node, with p and class."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._util.files import atomic_path
from graphghha.classes import CLASS_NAMES
from graphghha.engine.own_scorer import OwnScorer
from graphghha.engine.scorer import leading_class
from graphghha.errors import ConfigError
from graphghha.exports.other_units import refuse_other_units
from graphghha.exports.recordings import Recording, read_recordings
from graphghha.models.own import P_IS, RAISE_AT, load_own_model
from graphghha.plants.arrow import pa, pacsv, pq

BLOCK = 2048  # rows whose scores are held at once


def score_own_files(directory: Path, data: Sequence[Path], out: Path) -> dict[str, Any]:
    """Write the scores of files to Parquet or CSV; return a summary."""
    if out.suffix not in (".parquet", ".csv"):
        raise ConfigError(f"--out {out}: scores are written as Parquet or CSV; give a name with that ending")
    model = load_own_model(directory)
    recorded = read_recordings(data, model.plant)
    refuse_other_units(model.plant, recorded.recordings, model.preprocessing.scale.low, model.preprocessing.scale.high)
    rows = alarms = unknown = 0
    with atomic_path(out) as partial:
        writer = None
        for recording in recorded.recordings:
            scorer = OwnScorer(model)
            for times, probs in _blocks(scorer, recording):
                name = recording.name if len(recorded.recordings) > 1 else None
                attack = 1.0 - probs[..., 0]
                table = _table(times, attack, leading_class(probs), scorer, name)
                if writer is None:
                    is_csv = out.suffix == ".csv"
                    writer = (
                        pacsv.CSVWriter(partial, table.schema) if is_csv else pq.ParquetWriter(partial, table.schema)
                    )
                writer.write_table(table)
                rows += len(times)
                unknown += int(np.isnan(attack).sum())
                alarms += int((np.nan_to_num(attack).max(axis=1) >= RAISE_AT).sum())
        if writer is not None:
            writer.close()
    return {
        "file": str(out),
        "plant": model.plant.name,
        "recordings": len(recorded.recordings),
        "rows": rows,
        "nodes": model.plant.template.num_nodes,
        "unknown": unknown,
        "in_alarm": alarms / max(1, rows),
        "p": P_IS,
        "class": model.class_is,
        "notes": list(recorded.notes),
    }


def _blocks(scorer: OwnScorer, recording: Recording) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    for at in range(0, len(recording.times_ms), BLOCK):
        values = recording.values[at : at + BLOCK]
        scored = scorer.push(values, np.isfinite(values), np.ones(len(values), np.bool_))
        yield recording.times_ms[at : at + BLOCK], scored.probs


def _table(
    times: NDArray[np.int64],
    attack: NDArray[np.float32],
    leading: NDArray[np.int64],
    scorer: OwnScorer,
    file: str | None,
) -> Any:
    graph = scorer.graph
    flat = attack.ravel().astype(np.float64)
    classes = np.array(CLASS_NAMES, object)[np.where(flat >= RAISE_AT, leading.ravel(), 0)]
    classes[np.isnan(flat)] = None
    columns = {
        "time": pa.array(np.repeat(times, graph.num_nodes).astype("datetime64[ms]"), pa.timestamp("ms", tz="UTC")),
        "node": pa.array(list(graph.names) * len(times)),
        "p": pa.array(flat, mask=np.isnan(flat)),
        "class": pa.array(classes.tolist(), pa.string()),
    }
    if file is not None:
        columns["file"] = pa.array([file] * len(flat))
    about = {"p": P_IS, "class": scorer.model.class_is}
    return pa.table(columns).replace_schema_metadata(about)
