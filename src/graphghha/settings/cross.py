"""What no single key can tell: settings that contradict each other, and parts that do not fit together."""

from collections.abc import Iterator, Sequence

from graphghha.errors import GraphGHHAError
from graphghha.models import load_model
from graphghha.models.shipped import shipped_model
from graphghha.monitor.sinks import MONITOR
from graphghha.plants import load_plant
from graphghha.plants.points import Points
from graphghha.settings.tables import JsonlTable, MqttTable, Settings, SiteTable
from graphghha.sources import (
    FileConfig,
    MqttConfig,
    SimulatedConfig,
    StdinConfig,
    filters_overlap,
    open_source,
    read_mapping,
)

_LOCAL = {"localhost", "127.0.0.1", "::1"}


def conflicts(settings: Settings) -> Iterator[str]:
    """Contradictions between tables."""
    yield from _repeated("site", [site.name for site in settings.site])
    yield from _repeated("sink", [sink.name for sink in settings.sink])
    for at, site in enumerate(settings.site):
        if site.name == MONITOR:
            yield f"site[{at}].name: {MONITOR!r} is the name of the monitor's own events; choose another"
    if len(lines := [at for at, site in enumerate(settings.site) if isinstance(site.source, StdinConfig)]) > 1:
        yield f"site[{lines[1]}].source: site[{lines[0]}] reads standard input already; only one site can"
    yield from _mqtt_conflicts(settings)


def unfit_parts(settings: Settings) -> Iterator[str]:
    """Plants, models, mappings and certificates that cannot work; reads them."""
    for at, site in enumerate(settings.site):
        checks = (
            ("plant", _check_plant),
            ("lost_after_s", _check_patience),
            ("source", _check_file),
            ("model", _check_model),
            ("mapping", _check_mapping),
            ("source", _check_recording),
        )
        for key, check in checks:
            try:
                check(site)
            except GraphGHHAError as exc:
                yield f"site[{at}].{key}: {exc}"
                break  # the next check stands on this one
    state_dir = settings.monitor.state_dir
    for at, sink in enumerate(settings.sink):
        if isinstance(sink, JsonlTable) and not sink.path.parent.is_dir() and sink.path.parent != state_dir:
            yield f"sink[{at}].path: there is no folder {sink.path.parent}"
        tls = None if isinstance(sink, JsonlTable) else sink.config().tls
        try:
            _ = tls and tls.context()
        except OSError as exc:
            yield f"sink[{at}]: its certificates cannot be used: {exc}"


def _repeated(table: str, names: Sequence[str]) -> Iterator[str]:
    for at, name in enumerate(names):
        if name in names[:at]:
            yield f"{table}[{at}].name: {name!r} is taken by {table}[{names.index(name)}]; give each its own"


def _mqtt_conflicts(settings: Settings) -> Iterator[str]:
    """A monitor that reads what it wrote would feed on itself; two clients of one id throw each other out."""
    readers: list[tuple[str, SiteTable, MqttConfig]] = []
    for at, site in enumerate(settings.site):
        is_named_once = site.name not in (other.name for other in settings.site[:at])  # else that is the problem
        if isinstance(source := site.source_config, MqttConfig) and is_named_once:
            readers.append((f"site[{at}]", site, source))
    clients: dict[tuple[tuple[str, int], str], str] = {}
    for where, site, source in readers:
        yield from _taken(clients, where, _broker(source.host, source.port), source.client_id_for(site.name))
    for at, sink in enumerate(settings.sink):
        if not isinstance(sink, MqttTable):
            continue
        config, where = sink.config(), f"sink[{at}]"
        broker = _broker(config.host, config.port)
        yield from _taken(clients, where, broker, config.client_id)
        for reader, _, source in readers:
            read = [topic for topic in source.filters if filters_overlap(topic, f"{config.prefix}/#")]
            if read and _broker(source.host, source.port) == broker:
                yield f"{where}.prefix: {reader} reads {read[0]!r}, where {config.prefix!r} lies; choose one outside"


def _taken(
    clients: dict[tuple[tuple[str, int], str], str], where: str, broker: tuple[str, int], client_id: str
) -> Iterator[str]:
    if (taken := clients.setdefault((broker, client_id), where)) != where:
        yield f"{where}.client_id: {client_id!r} is taken by {taken} on the same broker; give each its own"


def _broker(host: str, port: int) -> tuple[str, int]:
    return ("localhost" if host.lower() in _LOCAL else host.lower(), port)


def _check_plant(site: SiteTable) -> None:
    load_plant(site.plant)


def _check_patience(site: SiteTable) -> None:
    if site.lost_after_s < (step_s := load_plant(site.plant).step_s):
        raise GraphGHHAError(f"{site.lost_after_s:g} s is less than the {step_s:g} s between two readings")


def _check_file(site: SiteTable) -> None:
    if isinstance(site.source, FileConfig) and not site.source.path.is_file():
        raise GraphGHHAError(f"there is no file {site.source.path}")


def _check_model(site: SiteTable) -> None:
    model = load_model(site.model or shipped_model(site.plant))
    if model.plant != site.plant:
        raise GraphGHHAError(f"made for plant {model.plant!r}, the site is a {site.plant!r}")


def _check_mapping(site: SiteTable) -> None:
    if mapping := site.source_config.mapping:
        plant = load_plant(site.plant)
        read_mapping(mapping, Points.of(plant, plant.template.replicate(site.zones).points))


def _check_recording(site: SiteTable) -> None:
    """Open what needs no connection, to see that its cases and columns fit."""
    if isinstance(site.source, FileConfig | SimulatedConfig):
        plant = load_plant(site.plant)
        points = plant.template.replicate(site.zones).points
        open_source(site.source_config, site=site.name, points=points, plant=plant).close()
