"""Exports as telemetry: what a file source reads for the points of a plant, written as our own Parquet file."""

from collections import Counter
from pathlib import Path

import numpy as np

from graphghha.errors import DataError
from graphghha.exports.notes import counted
from graphghha.plants import Plant
from graphghha.plants.telemetry import GOOD, MISSING, Chunk, TelemetryMeta, TelemetryWriter
from graphghha.sources.base import Batch, Rejection, RowBatch
from graphghha.sources.config import FileConfig
from graphghha.sources.opening import open_source
from graphghha.sources.replay import Replay
from graphghha.sources.statistics import SourceStatistics


def write_telemetry(
    config: FileConfig, plant: Plant, zones: int, out: Path, statistics: SourceStatistics | None = None
) -> tuple[Counter[Rejection], tuple[str, ...]]:
    """Read a file or folder for a plant with this many zones and write it to `out`.

    Return how many readings were not used and why, and what was guessed about the file or left out of it. `statistics`
    collects what arrives for each point.
    """
    graph = plant.template.replicate(zones)
    signals = plant.template.point_signals
    meta = TelemetryMeta(
        plant=plant.name,
        template_hash=plant.template.content_hash,
        site="site",
        zones=tuple(graph.zone_names),
        points=tuple(signals),
        units=tuple(plant.signal(name).unit for name in signals),
        step_s=plant.step_s,
        layout="wide",
        notes={"source": config.path.name},
    )
    rejected: Counter[Rejection] = Counter()
    source = open_source(config, site="site", points=graph.points, plant=plant, statistics=statistics)
    total = 0
    with TelemetryWriter(out, meta) as telemetry:
        while not source.status.is_finished:
            batch = source.poll(0.0)
            if batch is None:
                continue
            rejected.update(batch.rejected)
            if len(batch.times_ms):
                chunk = _chunk(batch, zones, len(signals))
                total += int((chunk.quality == GOOD).sum())
                telemetry.write(chunk)
        if not total:
            raise DataError(
                f"{config.path}: has no reading for a point of plant {plant.name!r}{_why_none(rejected, config)}"
            )
    return rejected, source.notes if isinstance(source, Replay) else ()


def _why_none(rejected: Counter[Rejection], config: FileConfig) -> str:
    """Return why no reading could be used, and what to do."""
    check = f"`graphghha watch --check --zones N --source {config.format}:{config.path} --write-mapping FILE`"
    if set(+rejected) == {Rejection.UNMAPPED}:
        count = counted(rejected.total(), "reading")
        return (
            f", since none of its names maps to one ({count}); say with --zones how many zones there are, and with "
            f"--mapping what the names mean: {check} drafts that file"
        )
    reasons = ", ".join(f"{count:,} {why}" for why, count in (+rejected).items()) or "it is empty"
    return f" ({reasons}); {check} shows which names map and drafts a mapping file"


def _chunk(batch: Batch, zones: int, points: int) -> Chunk:
    """Return a batch as rows by time."""
    if isinstance(batch, RowBatch):
        times, values = batch.times_ms, batch.values
    else:
        columns, stamps, single = batch.readings()
        times, rows = np.unique(stamps, return_inverse=True)
        values = np.full((len(times), zones * points), np.nan)
        values[rows, columns] = single
    shaped = values.reshape(len(times), zones, points).transpose(1, 0, 2).astype(np.float32)
    quality = np.where(np.isnan(shaped), MISSING, GOOD).astype(np.uint8)
    return Chunk(times.astype("datetime64[ms]"), shaped, quality)
