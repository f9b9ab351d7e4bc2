"""A plant's testbed as a source: a building that lives at any multiple of real time, under attack if asked."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time

import numpy as np

from graphghha.plants import CaseSpec, LabelledDay, Plant, load_testbed
from graphghha.plants.points import points_of
from graphghha.sources.base import Batch
from graphghha.sources.mapping import Mapper
from graphghha.sources.replay import Replay
from graphghha.sources.wide import WideLayout


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulationConfig:
    zones: int = 12
    seed: int = 0
    start: datetime = datetime(2018, 7, 2)  # readings before are simulated and left out
    days: int = 365
    cases: tuple[CaseSpec, ...] = ()
    speed: float | None = None  # None: as fast as it is taken


def simulated_source(plant: Plant, site: str, mapper: Mapper, config: SimulationConfig) -> Replay:
    """The testbed of this plant; the same settings give the same readings."""
    testbed = load_testbed(plant.name)
    days = testbed.run(
        zones=config.zones,
        days=config.days,
        start=datetime.combine(config.start.date(), time()),
        seed=config.seed,
        cases=config.cases,
    )
    names = points_of(plant.template.replicate(config.zones))
    layout = WideLayout(site, mapper, names, [None] * len(names), f"sim:{plant.name}")
    what = f"simulated {plant.name}, {config.zones} zones, seed {config.seed}"
    return Replay(_batches(days, layout, config.start), mapper, what=what, speed=config.speed)


def _batches(days: Iterator[LabelledDay], layout: WideLayout, start: datetime) -> Iterator[Batch]:
    begin_ms = np.datetime64(start, "ms").astype(np.int64)
    for day in days:
        times = day.times.astype("datetime64[ms]").astype(np.int64)
        later = times >= begin_ms
        yield layout.batch(times[later], day.values.reshape(len(times), -1)[later][:, layout.used])
