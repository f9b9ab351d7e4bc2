"""The demonstration: a simulated building on its showcase day, watched by the real monitor and scored afterwards."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from graphghha.alarms import Event, Incident, Proximity
from graphghha.errors import ConfigError
from graphghha.lab.evaluation.plain import without_nan
from graphghha.lab.metrics.events import event_scores, judge
from graphghha.lab.runs.recording import STEP_S, attacks_in
from graphghha.lab.runs.run import Run
from graphghha.models.shipped import shipped_model
from graphghha.monitor import Journal, Monitor, RowClockConfig, SiteConfig, read_status
from graphghha.plants import LabelledDay, load_plant, load_testbed
from graphghha.sources import RowBatch
from graphghha.windows.features import HISTORY_ROWS
from graphghha.wiring import open_detector

ROWS_PER_DAY = 1440


@dataclass(frozen=True, slots=True)
class Minute:
    """One step of a demonstration."""

    time_ms: int
    events: tuple[Event, ...]


class Demo:
    """A simulated building on its showcase day, watched minute by minute by the real monitor with a real journal.

    The truth is written into the journal for the score card; the detector sees readings only.
    """

    SITE = "demo"

    def __init__(self, plant_name: str = "fcu", *, minutes: int, seed: int = 7, model: Path | None = None) -> None:
        plant = load_plant(plant_name)
        if plant.showcase is None:
            raise ConfigError(f"plant {plant_name!r} has no showcase day")
        if not 1 <= minutes <= ROWS_PER_DAY - plant.showcase.begin_min:
            raise ConfigError(f"demo: --minutes must be 1 to {ROWS_PER_DAY - plant.showcase.begin_min}, got {minutes}")
        warm_days = -(-HISTORY_ROWS // ROWS_PER_DAY)
        showcase = plant.showcase
        self.plant, self.showcase, self.minutes = plant, showcase, minutes
        self.run = Run(
            seed=seed,
            start=showcase.day - timedelta(days=warm_days),
            days=warm_days + 1,
            zones=showcase.zones,
            cases=showcase.cases,
        )
        self._resources = ExitStack()
        folder = Path(self._resources.enter_context(TemporaryDirectory(prefix="graphghha-demo-")))
        self._monitor = Monitor(self._resources.enter_context(Journal(folder / "journal.db")))
        config = SiteConfig(
            clock=RowClockConfig(lateness_ms=0), warm_up_rows=warm_days * ROWS_PER_DAY + showcase.begin_min
        )
        detector = open_detector(model or shipped_model(plant_name), showcase.zones)
        self._site = self._monitor.add(self.SITE, detector, config)
        self._announced: dict[int, Incident] = {}
        self._today: LabelledDay | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def watch(self) -> Iterator[Minute]:
        """Fill the windows with the days before, then judge the day minute by minute."""
        run, begin = self.run, self.showcase.begin_min
        *before, today = load_testbed(self.plant.name).run(
            zones=run.zones, days=run.days, start=run.start, seed=run.seed, cases=run.cases
        )
        self._today = today
        for day in before:
            self._monitor.step(self._batch(day, slice(None)))
        self._monitor.step(self._batch(today, slice(0, begin)))
        for case in run.cases:
            self._monitor.record(self.SITE, Event(self._site.time_ms, "truth.scheduled", {"case": str(case)}))
        for minute in range(begin, begin + self.minutes):
            events = self._monitor.step(self._batch(today, slice(minute, minute + 1)))
            self._announced |= {each.number: each for each in self._site.incidents if each.is_annunciated}
            yield Minute(self._site.time_ms, tuple(events))

    @property
    def has_begun(self) -> bool:
        """Whether anything was judged yet."""
        return self._today is not None and self._site.steps > 0

    def status(self) -> dict[str, Any]:
        """Return how the site stands, read from the journal."""
        return read_status(self._monitor.journal.reader, self.SITE)

    def scorecard(self) -> dict[str, Any]:
        """What was attacked so far, and what was made of it."""
        assert self._today is not None and self.has_begun, "watch first"
        window = slice(self.showcase.begin_min, self.showcase.begin_min + self._site.steps)
        graph = self._site.detector.graph
        shape = (self._site.steps, graph.num_nodes)
        observable = self._today.observable[window].reshape(shape)
        attacks = attacks_in(self.plant, graph, self.run, self._today.event[window].reshape(shape), observable)
        recovering = np.repeat(self._today.recovering[window], self.plant.template.num_nodes, axis=1)
        judged = judge(
            list(self._announced.values()),
            attacks,
            Proximity(graph),
            num_steps=shape[0],
            step_s=STEP_S,
            recovering=recovering,
        )
        scores = event_scores([judged])
        card: dict[str, Any] = without_nan(
            {
                "attacks": scores.observable_events,
                "detected": sum(outcome.is_detected for outcome in judged.outcomes if outcome.is_observable),
                "hit_at_1": scores.hit_at_1,
                "median_ttd_min": scores.median_ttd_min,
                "false_alarms": len(judged.false_alarms),
            }
        )
        return card

    def _batch(self, day: LabelledDay, rows: slice) -> RowBatch:
        times_ms = day.times[rows].astype("datetime64[ms]").astype(np.int64)
        values = day.values[rows].reshape(len(times_ms), -1).astype(np.float64)
        return RowBatch(self.SITE, int(times_ms[-1]), times_ms, values)
