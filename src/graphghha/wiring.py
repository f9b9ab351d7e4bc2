"""The one place where parts meet: model, engine, testbed and monitor."""

import hashlib
from contextlib import ExitStack
from pathlib import Path

from graphghha.engine.scorer import Scorer
from graphghha.errors import ConfigError
from graphghha.models import load_model
from graphghha.models.shipped import shipped_model
from graphghha.monitor import Detector, Journal, Monitor, Retention, RowClockConfig, SignalEvidence, SiteConfig
from graphghha.monitor.service import Service
from graphghha.monitor.sinks import Cursor, FollowRule
from graphghha.plants import load_plant
from graphghha.settings import Settings, SiteTable
from graphghha.sources import CheckReport, check_source, open_source
from graphghha.windows.features import REBUILD_ROWS

ROWS_PER_DAY = 1440
PREDECESSOR_S = 10.0  # as long as a monitor may take to stop


def open_detector(directory: Path, zones: int) -> Detector:
    """A verified model on a building of its plant, with the thresholds it was shipped with."""
    model = load_model(directory)
    graph, plant = model.template.replicate(zones), load_plant(model.plant)
    digest = hashlib.sha256((directory / "manifest.json").read_bytes()).hexdigest()
    return Detector(
        model=f"{directory.name}@{digest[:12]}",
        plant=plant,
        graph=graph,
        make_scorer=lambda: Scorer(model, graph),
        rule=model.thresholds.rule,
        group_rule=model.thresholds.group,
        evidence_providers=(SignalEvidence(graph, plant, model.scaler, model.expectation),),
        history_rows=REBUILD_ROWS,
    )


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
        monitor = Monitor(journal, load=lambda name, directory: open_detector(directory, tables[name].zones))
        sources = {}
        for name, table in tables.items():
            directory = table.model or shipped_model(table.plant)
            site = monitor.add(name, open_detector(directory, table.zones), _site_config(table))
            detector = site.detector
            source = open_source(table.source_config, site=name, points=detector.points, plant=detector.plant)
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
    points = plant.template.replicate(site.zones).points
    return check_source(site.source_config, site=site.name, points=points, plant=plant, seconds=seconds)


def _site_config(site: SiteTable) -> SiteConfig:
    clock = RowClockConfig(
        step_ms=round(load_plant(site.plant).step_s * 1000),
        lateness_ms=round(site.lateness_s * 1000),
        stale_after_ms=round(site.stale_after_s * 1000),
    )
    return SiteConfig(
        clock=clock,
        warm_up_rows=site.warm_up_rows,
        lost_after_ms=round(site.lost_after_s * 1000),
        latching=site.latching,
    )
