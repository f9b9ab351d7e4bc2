"""The one place where parts meet: model, engine, testbed and monitor."""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from graphghha.alarms import AlarmRule, Fact, GroupRule, Incident, Proximity
from graphghha.engine.scorer import Scorer
from graphghha.errors import ConfigError
from graphghha.evaluation.events import event_scores, judge
from graphghha.evaluation.plain import without_nan
from graphghha.evaluation.recording import STEP_S, attacks_in
from graphghha.evaluation.scenario import Run
from graphghha.models import load_model
from graphghha.models.shipped import shipped_model
from graphghha.monitor import Detector, Journal, Monitor, Retention, SiteConfig
from graphghha.monitor.evidence import SignalWitness
from graphghha.monitor.intake import IntakeConfig
from graphghha.monitor.service import Service
from graphghha.monitor.sinks.cursor import Cursor
from graphghha.monitor.sinks.follow import FollowRule
from graphghha.monitor.view import read_view
from graphghha.plants import LabelledDay, load_plant, load_testbed
from graphghha.settings import Settings, SiteTable
from graphghha.sources import Batch
from graphghha.sources.check import CheckReport, check_address
from graphghha.sources.open import open_source
from graphghha.sources.points import points_of
from graphghha.windows.features import HISTORY_ROWS, REBUILD_ROWS

ROWS_PER_DAY = 1440
PREDECESSOR_S = 10.0  # as long as a monitor may take to stop


def open_detector(directory: Path, zones: int, **engine: Any) -> Detector:
    """A verified model on a building of its plant, with the thresholds it was shipped with."""
    model = load_model(directory)
    graph, plant = model.template.replicate(zones), load_plant(model.plant)
    digest = hashlib.sha256((directory / "manifest.json").read_bytes()).hexdigest()
    return Detector(
        model=f"{directory.name}@{digest[:12]}",
        plant=plant,
        graph=graph,
        make_scorer=lambda: Scorer(model, graph, **engine),
        rule=AlarmRule(**model.thresholds["rule"]),
        group_rule=GroupRule(**model.thresholds["group"]),
        witnesses=(SignalWitness(graph, plant, model.scaler, model.expectation),),
        history_rows=REBUILD_ROWS,
    )


@dataclass(frozen=True, slots=True)
class Minute:
    """One step of a demonstration."""

    time_ms: int
    facts: tuple[Fact, ...]


class Demo:
    """A simulated building on its showcase day, watched minute by minute by the real monitor with a real journal.

    The truth is written into the journal for the score card; the detector sees readings only.
    """

    SITE = "demo"

    def __init__(self, plant_name: str = "fcu", *, minutes: int, seed: int = 7, model: Path | None = None) -> None:
        plant = load_plant(plant_name)
        if plant.scene is None:
            raise ConfigError(f"plant {plant_name!r} has no showcase day")
        if not 1 <= minutes <= ROWS_PER_DAY - plant.scene.begin_min:
            raise ConfigError(
                f"demo: {minutes} minutes; from the scene's begin there are {ROWS_PER_DAY - plant.scene.begin_min}"
            )
        warm_days = -(-HISTORY_ROWS // ROWS_PER_DAY)
        scene = plant.scene
        self.plant, self.scene, self.minutes = plant, scene, minutes
        self.run = Run(
            seed=seed,
            start=scene.day - timedelta(days=warm_days),
            days=warm_days + 1,
            zones=scene.zones,
            cases=scene.cases,
        )
        self._resources = ExitStack()
        folder = Path(self._resources.enter_context(TemporaryDirectory(prefix="graphghha-demo-")))
        self._monitor = Monitor(self._resources.enter_context(Journal(folder / "journal.db")))
        config = SiteConfig(intake=IntakeConfig(lateness_ms=0), warm_up_rows=warm_days * ROWS_PER_DAY + scene.begin_min)
        detector = open_detector(model or shipped_model(plant_name), scene.zones)
        self._site = self._monitor.add(self.SITE, detector, config)
        self._announced: dict[int, Incident] = {}
        self._today: LabelledDay | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def watch(self) -> Iterator[Minute]:
        """Fill the windows with the days before, then judge the day minute by minute."""
        run, begin = self.run, self.scene.begin_min
        *before, today = load_testbed(self.plant.name).run(
            zones=run.zones, days=run.days, start=run.start, seed=run.seed, cases=run.cases
        )
        self._today = today
        for day in before:
            self._monitor.step(self._batch(day, slice(None)))
        self._monitor.step(self._batch(today, slice(0, begin)))
        for case in run.cases:
            self._monitor.note(self.SITE, Fact(self._site.time_ms, "truth.scheduled", {"case": case}))
        for minute in range(begin, begin + self.minutes):
            facts = self._monitor.step(self._batch(today, slice(minute, minute + 1)))
            self._announced |= {each.number: each for each in self._site.incidents if each.is_annunciated}
            yield Minute(self._site.time_ms, tuple(facts))

    @property
    def has_begun(self) -> bool:
        """Whether anything was judged yet."""
        return self._today is not None and self._site.steps > 0

    def view(self) -> dict[str, Any]:
        """What a screen shows, read from the journal."""
        return read_view(self._monitor.journal.reader, self.SITE)

    def scorecard(self) -> dict[str, Any]:
        """What was attacked so far, and what was made of it."""
        assert self._today is not None and self.has_begun, "watch first"
        window = slice(self.scene.begin_min, self.scene.begin_min + self._site.steps)
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

    def _batch(self, day: LabelledDay, rows: slice) -> Batch:
        times_ms = day.times[rows].astype("datetime64[ms]").astype(np.int64)
        values = day.values[rows].reshape(len(times_ms), -1).astype(np.float64)
        return Batch(self.SITE, int(times_ms[-1]), times_ms, values)


def open_monitor(settings: Settings) -> Service:
    """Everything a settings file asks for, ready to run."""
    state = settings.monitor.state_dir
    try:
        (cursors := state / "sinks").mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise ConfigError(f"monitor.state_dir {state}: {exc.strerror}; choose a folder that can be written") from exc
    tables = {site.name: site for site in settings.site}
    with ExitStack() as opened:
        keep = Retention(days=settings.monitor.keep_days, most_mb=settings.monitor.keep_mb)
        journal = opened.enter_context(Journal(state / settings.monitor.journal, keep, wait_s=PREDECESSOR_S))
        monitor = Monitor(journal, load=lambda name, directory: open_detector(directory, tables[name].num_zones or 1))
        sources = {}
        for name, table in tables.items():
            directory = table.model or shipped_model(table.plant)
            site = monitor.add(name, open_detector(directory, table.num_zones or 1), _site_config(table))
            source = open_source(
                table.source_uri(),
                site=name,
                points=site.detector.points,
                plant=site.detector.plant,
                mapping=table.mapping,
            )
            opened.callback(source.close)
            sources[name] = source
        models = {name: table.model for name, table in tables.items() if table.model}
        service = Service(monitor, sources, models, drain_s=settings.monitor.drain_s)
        for sink in settings.sink:
            rule = FollowRule(kinds=sink.events, heartbeat_s=sink.heartbeat_s)
            service.follow(sink.open(), Cursor(cursors / f"{sink.name}.cursor"), rule)
        if settings.health.port:
            service.serve_health(settings.health.port)
        opened.pop_all()  # from here on the service closes what it was given
    return service


def check_site(site: SiteTable, seconds: float) -> CheckReport:
    """What a site's source sends, without touching the broker's session."""
    plant = load_plant(site.plant)
    points = points_of(plant.template.replicate(site.num_zones or 1))
    return check_address(
        site.source_uri(), site=site.name, points=points, plant=plant, seconds=seconds, mapping=site.mapping
    )


def _site_config(site: SiteTable) -> SiteConfig:
    intake = IntakeConfig(
        step_ms=round(load_plant(site.plant).step_s * 1000),
        lateness_ms=round(site.lateness_s * 1000),
        stale_after_ms=round(site.stale_after_s * 1000),
    )
    return SiteConfig(
        intake=intake,
        warm_up_rows=site.warm_up_rows,
        lost_after_ms=round(site.lost_after_s * 1000),
        latching=site.latching,
    )
