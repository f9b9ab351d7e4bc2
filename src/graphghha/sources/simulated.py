"""A plant's testbed as a source: a building that lives at any multiple of real time, under attack if asked."""

from collections.abc import Iterator
from datetime import datetime, time

import numpy as np

from graphghha.plants import LabelledDay, load_plant, load_testbed
from graphghha.sources.base import Batch
from graphghha.sources.config import SimulatedConfig
from graphghha.sources.mapping import Mapper
from graphghha.sources.replay import Replay
from graphghha.sources.wide import WideLayout


def simulated_source(config: SimulatedConfig, site: str, mapper: Mapper) -> Replay:
    """Open the testbed of the plant."""
    plant = load_plant(config.plant)
    testbed = load_testbed(plant.name)
    days = testbed.run(
        zones=config.zones,
        days=config.days,
        start=datetime.combine(config.start.date(), time()),
        seed=config.seed,
        cases=config.cases,
    )
    names = plant.template.replicate(config.zones).points
    layout = WideLayout(site, mapper, names, [None] * len(names), f"sim:{plant.name}")
    what = f"simulated {plant.name}, {config.zones} zones, seed {config.seed}"
    return Replay(_batches(days, layout, config.start), mapper, what=what, speed=config.speed)


def _batches(days: Iterator[LabelledDay], layout: WideLayout, start: datetime) -> Iterator[Batch]:
    begin_ms = np.datetime64(start, "ms").astype(np.int64)
    for day in days:
        times = day.times.astype("datetime64[ms]").astype(np.int64)
        later = times >= begin_ms
        yield layout.batch(times[later], day.values.reshape(len(times), -1)[later][:, layout.used])
