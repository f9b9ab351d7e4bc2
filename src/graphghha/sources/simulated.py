"""A plant's testbed as a source: a simulated building at any multiple of real time, under attack if asked for."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from threading import Thread

import numpy as np

from graphghha.errors import ConflictError, GraphGHHAError, NotFoundError
from graphghha.plants import CaseSpec, LabelledDay, Points, load_plant, load_testbed
from graphghha.sources.base import Batch, RowBatch
from graphghha.sources.config import SimulatedConfig
from graphghha.sources.mapping import Mapper
from graphghha.sources.replay import Replay
from graphghha.sources.wide import WideLayout

MOST_CASES = 100  # injected while it runs
WAIT_S = 0.05  # between two looks at whether an attack is prepared


class SimulatedSource(Replay):
    """A simulated building, which takes further attacks while it runs and lets go of them.

    The building is simulated again from its start, with the same seed and one attack more or less, so that it is the
    same to the last byte before the change. That takes a while; the plant's time stands still there until it is done.
    """

    def __init__(self, config: SimulatedConfig, layout: WideLayout, mapper: Mapper, name: str) -> None:
        self._config, self._layout = config, layout
        live_from_ms = None if config.live_from is None else _to_ms(config.live_from)
        super().__init__(self._simulate(config), mapper, name=name, speed=config.speed, live_from_ms=live_from_ms)
        self._onset_ms: int | None = None  # of a change that is being prepared: no row from there on is handed out
        self._prepared: tuple[SimulatedConfig, Iterator[RowBatch], RowBatch | None] | None = None
        self._failure: GraphGHHAError | None = None

    def inject(self, name: str, zone: str, in_minutes: int, minutes: int | None) -> CaseSpec:
        """Begin an attack so many minutes after the newest reading that was handed out."""
        start = self._now() + timedelta(minutes=in_minutes)
        lasts = None if minutes is None else timedelta(minutes=minutes)
        spec = CaseSpec(name=name, zone=zone, start=start, duration=lasts)
        if len(self._config.cases) >= MOST_CASES:
            raise ConflictError(f"{MOST_CASES} attacks are planned or over; start the site again")
        self._change((*self._config.cases, spec), start)
        return spec

    def withdraw(self, spec: CaseSpec) -> CaseSpec | None:
        """End an attack a minute after the newest reading; return it as it was then, None if it had not begun."""
        if spec not in self._config.cases:
            raise NotFoundError(f"the simulated building has no attack {spec}")
        end = self._now() + timedelta(minutes=1)
        ended = None if spec.start >= end else replace(spec, duration=end - spec.start)
        if ended is not None and spec.duration is not None and spec.duration <= end - spec.start:
            raise ConflictError("the attack is over already")
        cases = [ended if case == spec else case for case in self._config.cases]
        self._change(tuple(case for case in cases if case is not None), end)
        return ended

    def _now(self) -> datetime:
        if self._newest_ms is None:
            raise ConflictError("no reading has been handed out yet; try again in a few seconds")
        return datetime.fromtimestamp(self._newest_ms / 1000, UTC).replace(tzinfo=None, second=0, microsecond=0)

    def _change(self, cases: tuple[CaseSpec, ...], begin: datetime) -> None:
        """Prepare the building with other attacks, which differs from the present one from a time on."""
        if self._onset_ms is not None:
            raise ConflictError("another change is being prepared; try again in a few seconds")
        config = replace(self._config, cases=cases)
        days = self._simulate(config)  # refuses an unknown case or zone
        self._onset_ms = _to_ms(begin)
        Thread(target=self._prepare, args=(config, days, self._onset_ms), name="inject", daemon=True).start()

    def poll(self, timeout_s: float) -> Batch | None:
        if self._prepared is not None:
            self._exchange()
        if self._failure is not None:
            failure, self._failure, self._onset_ms = self._failure, None, None
            raise failure
        return super().poll(timeout_s)

    def _rows_due(self, block: Batch) -> int:
        stop = super()._rows_due(block)
        if self._onset_ms is None:
            return stop
        return self._row + int(np.searchsorted(block.times_ms[self._row : stop], self._onset_ms, "left"))

    def _seconds_to_next_row(self, block: Batch) -> float:
        return WAIT_S if self._onset_ms is not None else super()._seconds_to_next_row(block)

    def _prepare(self, config: SimulatedConfig, days: Iterator[RowBatch], onset_ms: int) -> None:
        """Simulate up to the day of the onset."""
        try:
            day = next((day for day in days if len(day.times_ms) and day.times_ms[-1] >= onset_ms), None)
            self._prepared = config, days, day
        except GraphGHHAError as exc:
            self._failure = exc

    def _exchange(self) -> None:
        """Continue with the building that is attacked, once the rows before the day of the onset are handed out."""
        assert self._prepared is not None
        config, days, day = self._prepared
        block = self._current_block()
        if day is not None and block is not None and len(block.times_ms) and block.times_ms[-1] < day.times_ms[0]:
            return  # a day before is still being handed out
        self._config, self._batches, self._block = config, days, day
        self._row = 0
        if day is not None and self._newest_ms is not None:
            self._row = int(np.searchsorted(day.times_ms, self._newest_ms, "right"))
        self._is_finished = day is None
        self._prepared, self._onset_ms = None, None

    def _simulate(self, config: SimulatedConfig) -> Iterator[RowBatch]:
        days = load_testbed(config.plant).run(
            zones=config.zones,
            days=config.days,
            start=datetime.combine(config.start.date(), time()),
            seed=config.seed,
            cases=config.cases,
        )
        first_ms = _to_ms(config.start)
        if config.after is not None:
            first_ms = max(first_ms, _to_ms(config.after) + 1)
        return _batches(days, self._layout, first_ms)


def simulated_source(config: SimulatedConfig, site: str, mapper: Mapper) -> SimulatedSource:
    """Open the testbed of a plant."""
    plant = load_plant(config.plant)
    points = plant.template.replicate(config.zones).points
    units = Points.from_names(plant, points).units
    layout = WideLayout(site, mapper, points, units, f"sim:{plant.name}")
    name = f"simulated {plant.name}, {config.zones} zones, seed {config.seed}"
    return SimulatedSource(config, layout, mapper, name)


def _batches(days: Iterator[LabelledDay], layout: WideLayout, first_ms: int) -> Iterator[RowBatch]:
    """Yield one batch per day. Days are simulated from midnight, and rows before `first_ms` are left out."""
    for day in days:
        times = day.times.astype("datetime64[ms]").astype(np.int64)
        wanted = times >= first_ms
        if wanted.any():
            yield layout.batch(times[wanted], day.values.reshape(len(times), -1)[wanted][:, layout.used])


def _to_ms(moment: datetime) -> int:
    """Return a time of the simulated plant in milliseconds."""
    return int(np.datetime64(moment, "ms").astype(np.int64))
