"""The one place where the parts meet: a settings file becomes a running service, a model directory a detector."""

import hashlib
import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.engine import open_scorer, rebuild_rows
from graphghha.engine.own_scorer import OwnScorer, history_rows
from graphghha.errors import ConfigError, DataError, NotFoundError, SchemaError
from graphghha.exports.notes import STATE_ZONE
from graphghha.learning import Learner, LearningPlan, OwnLearningPlan
from graphghha.models import Model, TrustedKeys, load_model, model_for_sites
from graphghha.models.own import CLEAR_AT, P_IS, RAISE_AT, OwnModel, is_own_model, load_own_model
from graphghha.models.own_lessons import LESSONS_FILE
from graphghha.models.site import DAYS_PER_ATTACK
from graphghha.monitor import (
    Detector,
    Display,
    Journal,
    Monitor,
    NormalJudgement,
    Retention,
    RowClockConfig,
    SignalEvidence,
    SiteConfig,
    ZoneJudgement,
)
from graphghha.monitor.journal import make_private_folder
from graphghha.monitor.journal.reader import Reader
from graphghha.monitor.service import Service
from graphghha.monitor.sinks import Cursor, FollowRule
from graphghha.plants import Plant, load_plant
from graphghha.plants.telemetry import TelemetryFile
from graphghha.resuming import resume_simulation
from graphghha.settings import Settings, SiteTable, read_settings, trusted_keys
from graphghha.sources import FileConfig, SimulatedConfig, Source, open_source
from graphghha.sources.replay import Replay
from graphghha.web.config import ACCESS_FILE, WebConfig
from graphghha.windows import open_forecast
from graphghha.windows.file_rows import starts_sparse
from graphghha.windows.multiscale import DAY
from graphghha.windows.own_features import OwnForecast

log = logging.getLogger(__name__)

HEARD_WITHIN_MS = 3_600_000  # a zone that is silent for longer may be dead, so its points are unknown
LONGEST_LINGER = 10_080  # rows
MOST_HOPS = 100  # a plant of the user's own is judged as a whole: its alarms at one time are one incident
LOST_STEPS = 5
PREDECESSOR_S = 10.0  # how long to wait for the journal of a monitor that is shutting down


def open_monitor(settings: Settings) -> Service:
    """Open the journal, the sites, their sources and the sinks of a settings file; return the service to run."""
    with ExitStack() as opened:
        journal = opened.enter_context(_open_journal(settings))
        sites = {site.name: site for site in settings.site}
        trusted = trusted_keys(settings)
        learner = Learner(journal.path, _learning_plans(settings))
        load = partial(_open_site_detector, sites, learner, trusted)
        monitor = Monitor(journal, load=load)
        sources: dict[str, Source] = {}
        for name, site in sites.items():
            detector = load(name, site.model or model_for_sites(site.plant))
            config, simulation = site.source_config, None
            if isinstance(config, SimulatedConfig):
                config = resume_simulation(config, name, journal.path)
                simulation = {"speed": config.speed, "seed": config.seed}
            monitor.add(name, detector, _site_config(site, learns=name in learner.plans), simulation=simulation)
            sources[name] = open_source(config, site=name, points=detector.points, plant=detector.plant)
            opened.callback(sources[name].close)
            _warn_of_unknown_zone(name, sources[name])
        models = {name: site.model for name, site in sites.items() if site.model}
        learning = learner.run if learner.plans else None
        service = Service(monitor, sources, models, drain_s=settings.monitor.drain_s, learning=learning)
        for sink in settings.sink:
            cursor = Cursor(_cursor_folder(settings) / f"{sink.name}.cursor")
            service.follow(sink.open(), cursor, FollowRule(kinds=sink.events, heartbeat_s=sink.heartbeat_s))
        if settings.health.port:
            service.serve_health(settings.health.port)
        opened.pop_all()  # from here on the service closes what it was given
    return service


def _warn_of_unknown_zone(site: str, source: Source) -> None:
    """Log that the times of a recording were taken for UTC because nothing states their zone."""
    for note in source.notes if isinstance(source, Replay) else ():
        if note.endswith(STATE_ZONE):
            log.warning("%s: %s", site, note)


def web_config(settings: Settings) -> WebConfig:
    """Return how the web process beside the monitor of a settings file is set up."""
    web, state_dir = settings.web, settings.monitor.state_dir
    if web.ca_file is not None:
        raise ConfigError("web.ca_file: certificates of clients are not asked for; leave it out")
    return WebConfig(
        journal=state_dir / settings.monitor.journal,
        access=state_dir / ACCESS_FILE,
        host=web.bind,
        port=web.port,
        hosts=web.hosts,
        cert_file=web.cert_file,
        key_file=web.key_file,
        behind_proxy=web.behind_proxy,
        models={site.name: site.model or model_for_sites(site.plant) for site in settings.site},
        own_models={site.name: state_dir / "models" / site.name for site in settings.site},
        session_hours=web.session_hours,
        requests_per_s=web.requests_per_s,
        time_zones={site.name: site.time_zone for site in settings.site if site.time_zone},
    )


def open_detector(directory: Path, zones: int, trusted: TrustedKeys | None = None) -> Detector:
    """Verify a model and return a detector for a building with this many zones, with the model's thresholds.

    With `trusted` keys its signature is verified as well.
    """
    signed_by = trusted.verify(directory) if trusted else None
    if is_own_model(directory):
        return _own_detector(directory, signed_by)
    model = load_model(directory)
    graph, plant = model.template.replicate(zones), load_plant(model.plant)
    digest = hashlib.sha256((directory / "manifest.json").read_bytes()).hexdigest()
    return Detector(
        model=f"{directory.name}@{digest[:12]}",
        plant=plant,
        graph=graph,
        make_scorer=lambda: open_scorer(model, graph),
        rule=model.thresholds.rule,
        group_rule=model.thresholds.group,
        evidence_providers=(SignalEvidence(graph, plant, open_forecast(model.preprocessing, graph, model.template)),),
        history_rows=rebuild_rows(model),
        zone_judgement=zone_judgement(model),
        absent_points=model.commissioning.missing_points if model.commissioning else (),
        signed_by=signed_by,
        commissioning=model.commissioning.to_dict() if model.commissioning else None,
        further_numbers={
            "calibration.inverse_temperature": model.calibration.inverse_temperature,
            "calibration.bias": list(model.calibration.bias),
        },
    )


def _own_detector(directory: Path, signed_by: str | None) -> Detector:
    """Return the detector of a plant of the user's own."""
    model = load_own_model(directory)
    plant, plan = model.plant, model.preprocessing.plan
    linger = min(LONGEST_LINGER, 2 * plan.smooth * plan.stride)
    digest = hashlib.sha256((directory / "manifest.json").read_bytes()).hexdigest()
    return Detector(
        model=f"{directory.name}@{digest[:12]}",
        plant=plant,
        graph=plant.template,
        make_scorer=lambda: OwnScorer(model),
        rule=AlarmRule(raise_at=RAISE_AT, clear_at=CLEAR_AT, votes=1, window=1, clear_after=plan.stride),
        group_rule=GroupRule(max_hops=MOST_HOPS, join_within=LONGEST_LINGER, linger=linger),
        evidence_providers=(SignalEvidence(plant.template, plant, OwnForecast(model.preprocessing)),),
        history_rows=history_rows(model),
        normal_judgement=NormalJudgement(p_is=P_IS, labelled=model.taught.classes if model.taught else {}),
        signed_by=signed_by,
        commissioning=_own_record(model),
        further_numbers=_own_numbers(model),
    )


def _own_record(model: OwnModel) -> dict[str, Any] | None:
    """Return what a model that has learned on tells about it, in the words of a commissioning."""
    record, facts = model.provenance.get("learned_on"), model.provenance
    if record is None:
        return None
    return {
        **record,
        "days": round(record["later_days"], 1),
        "threshold": model.rule.threshold,
        "expected_false_per_day": facts["expected_false_alarms_per_day"],
        "standing": facts["standing"],
    }


def _own_numbers(model: OwnModel) -> dict[str, Any]:
    network = {"own.network_threshold": model.taught.rule.threshold} if model.taught else {}
    return {"own.threshold": model.rule.threshold, **network}


def zone_judgement(model: Model) -> ZoneJudgement | None:
    """Return what the scores of a model that judges zones stand for; None if it judges nodes."""
    if model.limits is None:
        return None
    limits = model.limits
    return ZoneJudgement(set_share=limits.set_share, coverage=limits.coverage, days_per_attack=DAYS_PER_ATTACK)


def commission_site(
    settings_file: Path,
    name: str | None,
    model: Model,
    *,
    days: int,
    begin: datetime | None,
    on_rows: Callable[[int], None],
) -> Model:
    """Return a model of a monitored site, from the newest days of its journal or from `begin` on."""
    from graphghha.commissioning.rows import commission_rows  # it needs pyarrow, a live monitor does not

    settings = read_settings(settings_file)
    names = [site.name for site in settings.site]
    if name is None and len(names) > 1:
        raise ConfigError(f"{settings_file}: has the sites {', '.join(names)}; name one with --site")
    if name is not None and name not in names:
        raise NotFoundError(f"{settings_file}: has no site {name!r}; its sites are {', '.join(names)}")
    site = next(each for each in settings.site if name in (None, each.name))
    step_ms = round(load_plant(site.plant_source).step_s * 1000)
    path = settings.monitor.state_dir / settings.monitor.journal
    with Reader(path) as reader:
        from_ms = -(2**62) if begin is None else round(begin.replace(tzinfo=UTC).timestamp() * 1000)
        newest = days * DAY * 1000 // step_ms if begin is None else None
        rows = reader.rows(site.name, newest=newest, from_ms=from_ms)
    if rows is None:
        raise DataError(f"{path}: holds no rows of site {site.name!r}")
    return commission_rows(
        model,
        [rows],
        site.zones,
        days=days,
        begin=begin,
        step_ms=step_ms,
        data=f"journal of {site.name}",
        where=str(path),
        on_rows=on_rows,
    )


def _open_journal(settings: Settings) -> Journal:
    monitor = settings.monitor
    try:
        make_private_folder(monitor.state_dir)
        with suppress(OSError):  # on a full disk sinks go on without stored cursors
            make_private_folder(_cursor_folder(settings))
    except OSError as exc:
        raise ConfigError(
            f"monitor.state_dir {monitor.state_dir}: {exc.strerror}; choose a folder that can be written"
        ) from exc
    retention = Retention(days=monitor.keep_days, most_mb=monitor.keep_mb, score_days=monitor.keep_score_days)
    return Journal(monitor.state_dir / monitor.journal, retention, wait_s=PREDECESSOR_S, is_patient=True)


def _cursor_folder(settings: Settings) -> Path:
    """Return the folder in which each sink's progress is stored."""
    return settings.monitor.state_dir / "sinks"


def _open_site_detector(
    sites: Mapping[str, SiteTable], learner: Learner, trusted: TrustedKeys, name: str, directory: Path
) -> Detector:
    """Return a detector of a model directory, or of what the site's own days have made of that model."""
    # a shipped model is trusted like the code that it comes with, and one of the private state folder like its base
    zones, is_shipped = sites[name].zones, sites[name].model is None
    detector = open_detector(directory, zones, None if is_shipped else trusted)
    plan = learner.plans.get(name)
    newest = plan.newest() if plan and plan.base == directory else None
    if newest is None:
        return detector
    return replace(open_detector(newest[0], zones), is_own=True, signed_by=detector.signed_by)


def _learning_plans(settings: Settings) -> dict[str, LearningPlan]:
    """Return how the sites are commissioned whose models can be, and are not yet."""
    plans: dict[str, LearningPlan] = {}
    for site in settings.site:
        base = site.model or model_for_sites(site.plant)
        if not site.learn_days or isinstance(site.source_config, FileConfig):
            continue  # a recording gives the same alarms whenever it is watched
        kind: type[LearningPlan] = LearningPlan
        if is_own_model(base):
            if not (base / LESSONS_FILE).is_file():
                continue
            kind = OwnLearningPlan
        elif not (model := load_model(base)).judges_zones or model.commissioning is not None:
            continue
        plans[site.name] = kind(
            base=base,
            folder=settings.monitor.state_dir / "models" / site.name,
            zones=site.zones,
            step_ms=round(load_plant(site.plant_source).step_s * 1000),
            days=site.learn_days,
            again_days=site.relearn_days,
        )
    return plans


def _site_config(site: SiteTable, *, learns: bool) -> SiteConfig:
    plant = load_plant(site.plant_source)
    if plant.is_own:
        return _own_site_config(site, plant)
    clock = RowClockConfig(
        step_ms=round(plant.step_s * 1000),
        lateness_ms=round(site.lateness_s * 1000),
        stale_after_ms=round(site.stale_after_s * 1000),
        unchanged_for_ms=HEARD_WITHIN_MS if _reports_changes(site) else 0,
        patience_ms=round(site.patience_s * 1000),
    )
    return SiteConfig(
        clock=clock,
        warm_up_rows=site.warm_up_rows,
        lost_after_ms=round(site.lost_after_s * 1000),
        latching=site.latching,
        learn_days=site.learn_days if learns else 0,
        display=Display(time_zone=site.time_zone, units=site.units),
    )


def _reports_changes(site: SiteTable) -> bool:
    """Return whether silence of a point means "unchanged": as the settings say, or as a recording shows."""
    source = site.source_config
    if "reports" in site.model_fields_set or not isinstance(source, FileConfig) or source.format != "parquet":
        return site.reports == "changes"
    try:
        return starts_sparse(TelemetryFile(source.path))
    except SchemaError:
        return False  # a table of another origin


def _own_site_config(site: SiteTable, plant: Plant) -> SiteConfig:
    """Return how a plant of the user's own is monitored: its file says how long each point may be silent."""
    step_ms = round(plant.step_s * 1000)
    stale = [round(plant.reporting[point].stale_after_s * 1000) for point in plant.template.points]
    clock = RowClockConfig(
        step_ms=step_ms,
        lateness_ms=round(site.lateness_s * 1000),
        stale_after_ms=max(stale),
        patience_ms=max(round(site.patience_s * 1000), step_ms),
        point_stale_ms=tuple(stale),
    )
    return SiteConfig(
        clock=clock,
        warm_up_rows=site.warm_up_rows if "warm_up_rows" in site.model_fields_set else 0,
        lost_after_ms=max(round(site.lost_after_s * 1000), LOST_STEPS * step_ms),
        settle_rows=0,
        latching=site.latching,
        display=Display(time_zone=site.time_zone, units=site.units),
    )
