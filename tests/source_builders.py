"""A small site, and what tests do with its sources."""

import time
from collections import Counter

import numpy as np

from graphghha.plants import Points, load_plant
from graphghha.sources import Batch, Rejection, Source
from graphghha.sources.batch_builder import BatchBuilder
from graphghha.sources.config import MqttConfig
from graphghha.sources.mapping import Mapper
from graphghha.sources.mqtt import MqttSource

PLANT = load_plant("fcu")
POINTS = PLANT.template.replicate(2).points
NINE = 1530522000000  # 2018-07-02T09:00Z
WAIT_S = 20


def points() -> Points:
    return Points.from_names(PLANT, POINTS)


def readings(batch: Batch) -> list[tuple[str, int, float]]:
    """(point, time, value) of every value there is, rounded, in order."""
    rows = zip(*(array.tolist() for array in batch.readings()), strict=True)
    return [(POINTS[column], time_ms, round(value, 6)) for column, time_ms, value in rows]


def drained(source: Source) -> tuple[list[tuple[str, int, float]], Counter[Rejection]]:
    """All readings of a source that ends, and all it rejected."""
    all_readings, rejected = [], Counter()
    while not source.status.is_finished:
        if (batch := source.poll(0.1)) is not None:
            all_readings += readings(batch)
            rejected.update(batch.rejected)
    return all_readings, +rejected


def listen(port: int, *, prefix: str = "bms", **settings: object) -> MqttSource:
    config = MqttConfig(host="127.0.0.1", port=port, prefix=prefix, client_id="monitor", **settings)
    return MqttSource(config, BatchBuilder("site", Mapper(points(), prefix=prefix)))


def collect(source: Source, count: int, *, acknowledge: bool = True) -> tuple[list[float], Counter[Rejection]]:
    """The values of at least `count` readings and rejections."""
    values, rejected = [], Counter()
    deadline = time.monotonic() + WAIT_S
    while len(values) + rejected.total() < count:
        assert time.monotonic() < deadline, f"only {values} and {rejected} came in time"
        if (batch := source.poll(0.1)) is not None:
            values += batch.values.tolist()
            rejected.update(batch.rejected)
            if acknowledge:
                source.acknowledge(batch)
    return values, +rejected


def all_rows(source: Source) -> tuple[np.ndarray, np.ndarray]:
    """The times and values of a source of rows, up to its end."""
    batches = []
    while (batch := source.poll(0)) is not None:
        batches.append(batch)
    return np.concatenate([each.times_ms for each in batches]), np.concatenate([each.values for each in batches])
