"""A plant's testbed as a source: a simulated building at any multiple of real time, under attack if asked for."""

from collections.abc import Iterator
from datetime import datetime, time

import numpy as np

from graphghha.plants import LabelledDay, Points, load_plant, load_testbed
from graphghha.sources.base import RowBatch
from graphghha.sources.config import SimulatedConfig
from graphghha.sources.mapping import Mapper
from graphghha.sources.replay import Replay
from graphghha.sources.wide import WideLayout


def simulated_source(config: SimulatedConfig, site: str, mapper: Mapper) -> Replay:
    """Open the testbed of a plant."""
    plant = load_plant(config.plant)
    days = load_testbed(plant.name).run(
        zones=config.zones,
        days=config.days,
        start=datetime.combine(config.start.date(), time()),
        seed=config.seed,
        cases=config.cases,
    )
    points = plant.template.replicate(config.zones).points
    units = Points.from_names(plant, points).units
    layout = WideLayout(site, mapper, points, units, f"sim:{plant.name}")
    name = f"simulated {plant.name}, {config.zones} zones, seed {config.seed}"
    return Replay(_batches(days, layout, config.start), mapper, name=name, speed=config.speed)


def _batches(days: Iterator[LabelledDay], layout: WideLayout, start: datetime) -> Iterator[RowBatch]:
    """Yield one batch per day. The first day is simulated from midnight, and its rows before `start` are left out."""
    start_ms = np.datetime64(start, "ms").astype(np.int64)
    for day in days:
        times = day.times.astype("datetime64[ms]").astype(np.int64)
        wanted = times >= start_ms
        yield layout.batch(times[wanted], day.values.reshape(len(times), -1)[wanted][:, layout.used])
