"""Sites: what they consist of, how they are, history, figures, planned stops, studio."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from graphghha._util.times import iso
from graphghha.errors import ConflictError
from graphghha.web import history_view, kpi_view, model_view, site_view, studio_view, zone_view
from graphghha.web.context import Parts, Site, Who, address, needs
from graphghha.web.contract.figures import Kpis, NewFind
from graphghha.web.contract.model import ModelCard
from graphghha.web.contract.signals import History, ScoreHistory
from graphghha.web.contract.sites import NewStop, PlannedStop, Points, SiteAbout, Sites, SiteState, ZoneNow
from graphghha.web.contract.studio import Cases, Injection, Injections, NewInjection, NewRun
from graphghha.web.library import origin

router = APIRouter(tags=["sites"])
HOURS_3 = 3 * 3_600_000
Moment = Annotated[str | None, Query(max_length=40)]
Begin = Annotated[str | None, Query(alias="from", max_length=40)]
Width = Annotated[int, Query(ge=1, le=history_view.MOST_BUCKETS)]
Names = Annotated[list[str], Query(max_length=64)]


@router.get("/sites")
def list_sites(who: Who, parts: Parts) -> Sites:
    """Every site that may be seen, in a line."""
    return site_view.list_sites(parts.library, who)


@router.get("/sites/{site}")
def read_site(about: Site, parts: Parts) -> SiteAbout:
    """What a site consists of. Keep it as long as its hash stays."""
    return site_view.site_about(parts.library, about, parts.config.time_zones.get(about.name))


@router.get("/sites/{site}/state")
def read_state(about: Site, parts: Parts) -> SiteState:
    """How a site is now."""
    return site_view.site_state(parts.library, about)


@router.get("/sites/{site}/zones/{zone}")
def read_zone(zone: str, about: Site, parts: Parts) -> ZoneNow:
    """A zone with all its nodes, their values, expected ranges and scores. A plant without zones has one named `-`."""
    zone = "" if zone == "-" else zone
    about.zone_number(zone)
    expected = history_view.expected_now(parts.library, about, zone, parts.config.model_in_use(about.name, about.model))
    return zone_view.zone_now(parts.library, about, zone, expected)


@router.get("/sites/{site}/history")
def read_history(
    about: Site,
    parts: Parts,
    point: Names,
    begin: Begin = None,
    to: Moment = None,
    width: Width = 600,
    band: bool = False,
) -> History:
    """Signals over time: smallest, mean and largest value per bucket, and the expected band."""
    span = site_view.span_ms(begin, to, parts.library.reader.last_commit(about.name)[0], HOURS_3)
    model = parts.config.model_in_use(about.name, about.model)
    return history_view.history(parts.library, about, point, span, width, model, is_band=band)


@router.get("/sites/{site}/scores")
def read_scores(
    about: Site,
    parts: Parts,
    node: Names = [],  # noqa: B006 - FastAPI copies it
    zone: Names = [],  # noqa: B006
    begin: Begin = None,
    to: Moment = None,
    width: Width = 600,
) -> ScoreHistory:
    """The largest P per bucket of nodes or zones, with incidents as bars."""
    span = site_view.span_ms(begin, to, parts.library.reader.last_commit(about.name)[0], HOURS_3)
    return history_view.score_history(parts.library, about, node, zone, span, width)


@router.get("/sites/{site}/points")
def read_points(about: Site, parts: Parts) -> Points:
    """The mapping check: every point with its last reading, range and what is wrong with it."""
    return zone_view.list_points(parts.library, about)


@router.get("/sites/{site}/kpis")
def read_kpis(about: Site, parts: Parts, begin: Begin = None, to: Moment = None) -> Kpis:
    """Figures of ISA-18.2 beside their targets, and how often the monitor was right."""
    span = None
    if begin is not None or to is not None:
        newest_ms, _ = parts.library.reader.last_commit(about.name)
        span = site_view.span_ms(begin, to, newest_ms, newest_ms)
    return kpi_view.site_kpis(parts.library, about, span)


@router.post("/sites/{site}/found", status_code=201, dependencies=[needs("found")])
def record_find(new: NewFind, request: Request, about: Site, who: Who, parts: Parts) -> Kpis:
    """Record something that people found and the monitor did not; return the figures that now hold it."""
    order = {"order": "found", **new.model_dump(exclude_none=True)}
    parts.library.order(about.name, {**order, **origin(who, address(request))})
    return kpi_view.site_kpis(parts.library, about, None)


@router.get("/sites/{site}/model")
def read_model(about: Site, parts: Parts) -> ModelCard:
    """The model in use, its numbers and its card."""
    return model_view.model_card(parts.library, about, parts.config.model_in_use(about.name, about.model))


@router.post("/sites/{site}/stops", status_code=201, dependencies=[needs("stop")])
def begin_stop(new: NewStop, request: Request, about: Site, who: Who, parts: Parts) -> PlannedStop:
    """Begin a planned stop: incidents are recorded and not announced."""
    order = {"order": "stop", "minutes": new.minutes, "reason": new.reason, "zones": new.zones}
    parts.library.order(about.name, {**order, **origin(who, address(request))})
    stops = site_view.site_state(parts.library, about).planned_stops
    if not stops:
        raise ConflictError("the planned stop has ended already")
    return stops[-1]


@router.delete("/sites/{site}/stops/{version}", status_code=204, dependencies=[needs("stop")])
def end_stop(version: int, request: Request, about: Site, who: Who, parts: Parts) -> None:
    """End a planned stop before its time."""
    order = {"order": "end-stop", "version": min(max(version, 0), 2**53)}
    parts.library.order(about.name, {**order, **origin(who, address(request))})


@router.get("/sites/{site}/cases")
def read_cases(about: Site) -> Cases:
    """The attacks that can be injected into a simulated site."""
    return studio_view.list_cases(about)


@router.get("/sites/{site}/injections")
def read_injections(about: Site, parts: Parts) -> Injections:
    """What was injected into a simulated site, and how it was found."""
    return studio_view.injections(parts.library, about, can_start_over=parts.config.can_start_over)


@router.post("/sites/{site}/injections", status_code=201, dependencies=[needs("inject")])
def inject(new: NewInjection, request: Request, about: Site, who: Who, parts: Parts) -> Injection:
    """Begin an attack in a simulated plant."""
    now_ms, _ = parts.library.reader.last_commit(about.name)
    studio_view.refuse_real(about)
    if not now_ms:
        raise ConflictError(f"site {about.name!r} has no reading yet")
    order = studio_view.plan(about, new)
    parts.library.order(about.name, {**order, **origin(who, address(request))})
    items = studio_view.injections(parts.library, about).items
    found = next((item for item in items if item.id == order["id"]), None)
    if found is None:
        raise ConflictError(f"the attack at {iso(now_ms)} is not in the journal yet; read the list again")
    return found


@router.delete("/sites/{site}/injections/{injection}", status_code=204, dependencies=[needs("inject")])
def end_injection(
    injection: Annotated[str, Path(max_length=64, examples=["9f86d081884c"])],
    request: Request,
    about: Site,
    who: Who,
    parts: Parts,
) -> None:
    """End an attack in a simulated plant a minute from now, or take one back that has not begun."""
    order = studio_view.withdrawal(parts.library, about, injection, "")
    parts.library.order(about.name, {**order, **origin(who, address(request))})


@router.post("/sites/{site}/runs", status_code=202, dependencies=[needs("inject")])
def start_over(new: NewRun, request: Request, about: Site, who: Who, parts: Parts) -> None:
    """End the run of a simulated building and begin it anew, with the same seed or another. The demonstration only."""
    order = studio_view.start_over(about, new, can_start_over=parts.config.can_start_over)
    parts.library.order(about.name, {**order, **origin(who, address(request))})
