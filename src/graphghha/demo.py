"""The demonstration: a simulated building on its showcase day, watched by the real monitor and scored afterwards."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from graphghha._util.times import EPOCH
from graphghha.alarms import Event, Incident, Proximity
from graphghha.errors import ConfigError
from graphghha.lab.evaluation import without_nan
from graphghha.lab.metrics import event_scores, match_incidents
from graphghha.lab.runs import Run, attacks_in
from graphghha.models import shipped_model
from graphghha.monitor import Journal, Monitor, Reader, RowClockConfig, SiteConfig, read_status
from graphghha.plants import LabelledDay, load_plant, load_testbed
from graphghha.sources import RowBatch
from graphghha.windows import HISTORY_DAYS
from graphghha.wiring import open_detector


@dataclass(frozen=True, slots=True)
class DemoStep:
    """One time step of a demonstration and the events it caused."""

    time_ms: int
    events: tuple[Event, ...]


class Demo:
    """A simulated building on its showcase day, watched step by step by the real monitor with a real journal.

    The scheduled attacks are written into the journal for the score card; the detector sees readings only.
    """

    SITE = "demo"

    def __init__(self, plant_name: str = "fcu", *, minutes: int, seed: int = 7, model: Path | None = None) -> None:
        """Set up the building and the monitor; `watch` yields `minutes` minutes of the showcase day."""
        plant = load_plant(plant_name)
        if (showcase := plant.showcase) is None:
            raise ConfigError(f"demo: plant {plant_name!r} has no showcase day; choose a plant that has one")
        per_day = plant.steps_per_day
        self.plant = plant
        self._begin = round(showcase.begin_min * 60 / plant.step_s)  # step of the day at which the demonstration begins
        self._num_steps = round(minutes * 60 / plant.step_s)
        if minutes < 1 or self._begin + self._num_steps > per_day:
            most = int((per_day - self._begin) * plant.step_s // 60)
            raise ConfigError(f"demo: --minutes must be 1 to {most}, got {minutes}")
        self._run = Run(
            seed=seed,
            start=showcase.day - timedelta(days=HISTORY_DAYS),
            days=HISTORY_DAYS + 1,
            zones=showcase.zones,
            cases=showcase.cases,
        )
        self._resources = ExitStack()
        folder = Path(self._resources.enter_context(TemporaryDirectory(prefix="graphghha-demo-")))
        self._monitor = Monitor(self._resources.enter_context(Journal(folder / "journal.db")))
        config = SiteConfig(
            clock=RowClockConfig(step_ms=round(plant.step_s * 1000), lateness_ms=0),
            warm_up_rows=HISTORY_DAYS * per_day + self._begin,
        )
        detector = open_detector(model or shipped_model(plant_name), showcase.zones)
        self._site = self._monitor.add(self.SITE, detector, config)
        self._annunciated: dict[int, Incident] = {}
        self._today: LabelledDay | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def watch(self) -> Iterator[DemoStep]:
        """Fill the windows with the preceding days, then yield the steps of the showcase day as they are scored."""
        run = self._run
        *before, today = load_testbed(self.plant.name).run(
            zones=run.zones, days=run.days, start=run.start, seed=run.seed, cases=run.cases
        )
        self._today = today
        for day in before:
            self._monitor.step(self._batch(day, slice(None)))
        self._monitor.step(self._batch(today, slice(0, self._begin)))
        for case in run.cases:
            self._monitor.record(self.SITE, Event(self._site.time_ms, "truth.scheduled", {"case": str(case)}))
        for step in range(self._begin, self._begin + self._num_steps):
            events = self._monitor.step(self._batch(today, slice(step, step + 1)))
            self._annunciated |= {each.number: each for each in self._site.incidents if each.is_annunciated}
            yield DemoStep(self._site.time_ms, tuple(events))

    @property
    def has_begun(self) -> bool:
        """Return whether a step of the showcase day has been scored."""
        return self._today is not None and self._site.steps > 0

    @property
    def reader(self) -> Reader:
        """Return the journal of the demonstration."""
        return self._monitor.journal.reader

    def attacks_now(self) -> list[str]:
        """Return the cases that the simulator carries out now, each with its zone."""
        now = EPOCH.replace(tzinfo=None) + timedelta(milliseconds=self._site.time_ms)
        return [
            f"{case.name} in zone {case.zone}"
            for case in self._run.cases
            if case.start <= now and (case.duration is None or now - case.start < case.duration)
        ]

    def status(self) -> dict[str, Any]:
        """Return the status of the site, read from the journal."""
        return read_status(self._monitor.journal.reader, self.SITE)

    def scorecard(self) -> dict[str, Any]:
        """Return how many attacks there were so far, how they were detected, and the false alarms."""
        assert self._today is not None and self.has_begun, "watch first"
        num_steps, graph = self._site.steps, self._site.detector.graph
        steps = slice(self._begin, self._begin + num_steps)
        shape = (num_steps, graph.num_nodes)
        attacks = attacks_in(
            self.plant,
            graph,
            self._run,
            self._today.event[steps].reshape(shape),
            self._today.observable[steps].reshape(shape),
        )
        matches = match_incidents(
            list(self._annunciated.values()),
            attacks,
            Proximity(graph),
            num_steps=num_steps,
            step_s=self.plant.step_s,
            recovering=np.repeat(self._today.recovering[steps], self.plant.template.num_nodes, axis=1),
        )
        scores = event_scores([matches])
        card: dict[str, Any] = without_nan(
            {
                "attacks": scores.observable_events,
                "detected": sum(outcome.is_detected for outcome in matches.outcomes if outcome.is_observable),
                "hit_at_1": scores.hit_at_1,
                "median_ttd_min": scores.median_ttd_min,
                "false_alarms": len(matches.false_alarms),
            }
        )
        return card

    def _batch(self, day: LabelledDay, steps: slice) -> RowBatch:
        """Return a part of a simulated day as the source of a real plant would send it."""
        times_ms = day.times[steps].astype("datetime64[ms]").astype(np.int64)
        values = day.values[steps].reshape(len(times_ms), -1).astype(np.float64)
        return RowBatch(self.SITE, int(times_ms[-1]), times_ms, values)
