"""What no single key can tell: settings that contradict each other, and parts that do not fit together."""

from collections.abc import Iterator, Sequence
from urllib.parse import parse_qs, urlsplit

from graphghha.errors import GraphGHHAError
from graphghha.models import load_model
from graphghha.models.shipped import shipped_model
from graphghha.monitor.sinks.base import MONITOR
from graphghha.monitor.sinks.topics import overlap
from graphghha.plants import load_plant
from graphghha.settings.tables import JsonlTable, MqttTable, Settings, SiteTable
from graphghha.sources.mapping_file import read_mapping
from graphghha.sources.mqtt_client import MqttConfig
from graphghha.sources.open import mqtt_config, zones_in
from graphghha.sources.points import Points, points_of

_LOCAL = {"localhost", "127.0.0.1", "::1"}


def conflicts(settings: Settings) -> Iterator[str]:
    """Contradictions between tables."""
    yield from _repeated("site", [site.name for site in settings.site])
    yield from _repeated("sink", [sink.name for sink in settings.sink])
    for at, site in enumerate(settings.site):
        if site.name == MONITOR:
            yield f"site[{at}].name: {MONITOR!r} is the name of the monitor's own events; choose another"
    yield from _mqtt_conflicts(settings)


def unfit_parts(settings: Settings) -> Iterator[str]:
    """Plants, models, mappings and certificates that cannot work; reads them."""
    for at, site in enumerate(settings.site):
        for key, check in (("plant", _check_plant), ("model", _check_model), ("mapping", _check_mapping)):
            try:
                check(site)
            except GraphGHHAError as exc:
                yield f"site[{at}].{key}: {exc}"
                break  # the next check stands on this one
    for at, sink in enumerate(settings.sink):
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
    readers: list[tuple[str, MqttConfig]] = []
    for at, site in enumerate(settings.site):
        try:
            if zones_in(site.source) is None and site.zones is None:
                yield f"site[{at}].zones: missing; this source does not tell"
            found = _mqtt_of(site)
        except GraphGHHAError as exc:
            yield f"site[{at}].source: {exc}"
            continue
        readers += [(f"site[{at}]", found)] if found else []
    clients = {(_broker(each.host, each.port), each.client_id): where for where, each in reversed(readers)}
    for at, sink in enumerate(settings.sink):
        if not isinstance(sink, MqttTable):
            continue
        config, where = sink.config(), f"sink[{at}]"
        broker = _broker(config.host, config.port)
        if (broker, config.client_id) in clients:
            taken = clients[broker, config.client_id]
            yield f"{where}.client_id: {config.client_id!r} is taken by {taken} on the same broker; give each its own"
        clients[broker, config.client_id] = where
        for reader, source in readers:
            read = [topic for topic in source.filters if overlap(topic, f"{config.prefix}/#")]
            if read and _broker(source.host, source.port) == broker:
                yield f"{where}.prefix: {reader} reads {read[0]!r}, where {config.prefix!r} lies; choose one outside"


def _mqtt_of(site: SiteTable) -> MqttConfig | None:
    uri = site.source_uri()
    if not uri.startswith(("mqtt:", "mqtts:")):
        return None
    return mqtt_config(uri, parse_qs(urlsplit(uri).query, keep_blank_values=True), client_id=site.mqtt_client_id)


def _broker(host: str, port: int) -> tuple[str, int]:
    return ("localhost" if host.lower() in _LOCAL else host.lower(), port)


def _check_plant(site: SiteTable) -> None:
    load_plant(site.plant)


def _check_model(site: SiteTable) -> None:
    model = load_model(site.model or shipped_model(site.plant))
    if model.plant != site.plant:
        raise GraphGHHAError(f"made for plant {model.plant!r}, the site is a {site.plant!r}")


def _check_mapping(site: SiteTable) -> None:
    if site.mapping:
        plant = load_plant(site.plant)
        read_mapping(site.mapping, Points.of(plant, points_of(plant.template.replicate(site.num_zones or 1))))
