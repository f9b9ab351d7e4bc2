"""Checks that concern more than one key: tables that contradict each other, and parts that do not fit together."""

import errno
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from graphghha.errors import GraphGHHAError, JournalError, NotFoundError
from graphghha.models import TrustedKeys, load_model, model_for_sites
from graphghha.models.own import is_own_model, load_own_model
from graphghha.monitor import Reader
from graphghha.monitor.sinks import MONITOR
from graphghha.plants import Points, load_plant
from graphghha.settings.tables import JsonlTable, MqttTable, Settings, SiteTable, SyslogTable
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
_Broker = tuple[str, int]


def contradictions(settings: Settings) -> Iterator[str]:
    """Yield the contradictions between the tables of one file."""
    yield from _repeated_names("site", [site.name for site in settings.site])
    yield from _repeated_names("sink", [sink.name for sink in settings.sink])
    for number, site in enumerate(settings.site):
        if site.name == MONITOR:
            yield f"site[{number}].name: {MONITOR!r} is reserved for the monitor's own events; choose another name"
    on_stdin = [number for number, site in enumerate(settings.site) if isinstance(site.source, StdinConfig)]
    if len(on_stdin) > 1:
        yield f"site[{on_stdin[1]}].source: site[{on_stdin[0]}] already reads standard input, and only one site can"
    yield from _broker_conflicts(settings)


def unusable_parts(settings: Settings) -> Iterator[str]:
    """Yield what is wrong with the plants, models, mappings, files and certificates that the settings name."""
    try:
        trusted = trusted_keys(settings)
    except GraphGHHAError as exc:
        yield f"monitor.trusted_keys: {exc}"
        trusted = TrustedKeys()
    for number, site in enumerate(settings.site):
        failed: set[object] = set()
        for key, check, needs in _SITE_CHECKS:
            if failed.intersection(needs):
                continue
            try:
                if check is _check_model and site.model:
                    trusted.verify(site.model)
                check(site)
            except GraphGHHAError as exc:
                yield f"site[{number}].{key}: {exc}"
                failed.add(check)
    state_dir = settings.monitor.state_dir
    if why := _why_unwritable(state_dir):
        yield f"monitor.state_dir: {state_dir}: {why}; choose a folder that can be written"
    elif why := _why_no_journal(state_dir / settings.monitor.journal):
        yield f"monitor.journal: {why}"
    elif settings.health.port and (why := _why_no_port(settings.health.port)):
        yield f"health.port: {why}"
    for number, sink in enumerate(settings.sink):
        if isinstance(sink, JsonlTable):
            if not sink.path.parent.is_dir() and sink.path.parent != state_dir:
                yield f"sink[{number}].path: there is no folder {sink.path.parent}"
            elif sink.path.is_dir():
                yield f"sink[{number}].path: {sink.path} is a folder; give the name of a file"
            elif why := _why_unwritable(sink.path.parent):
                yield f"sink[{number}].path: {sink.path}: {why}"
        elif isinstance(sink, MqttTable | SyslogTable) and (tls := sink.config().tls):
            try:
                tls.context()
            except OSError as exc:
                yield f"sink[{number}]: its certificates cannot be used: {exc}"


def trusted_keys(settings: Settings) -> TrustedKeys:
    """Return the keys whose models are used, and whether a model needs a signature."""
    return TrustedKeys.read(settings.monitor.trusted_keys, is_required=settings.monitor.require_signature)


def _repeated_names(table: str, names: Sequence[str]) -> Iterator[str]:
    for number, name in enumerate(names):
        if name in names[:number]:
            yield f"{table}[{number}].name: {name!r} is taken by {table}[{names.index(name)}]; choose another name"


def _broker_conflicts(settings: Settings) -> Iterator[str]:
    """Yield clients that share an id, which would disconnect each other, and sinks whose topics a site reads."""
    clients: dict[tuple[_Broker, str], str] = {}
    readers: list[tuple[str, MqttConfig]] = []
    for number, site in enumerate(settings.site):
        is_repeated = site.name in (other.name for other in settings.site[:number])  # reported already
        if not isinstance(source := site.source_config, MqttConfig) or is_repeated:
            continue
        where = f"site[{number}]"
        readers.append((where, source))
        yield from _repeated_client(clients, where, _broker(source.host, source.port), source.client_id_for(site.name))
    for number, sink in enumerate(settings.sink):
        if not isinstance(sink, MqttTable):
            continue
        config, where = sink.config(), f"sink[{number}]"
        broker = _broker(config.host, config.port)
        yield from _repeated_client(clients, where, broker, config.client_id)
        for reader, source in readers:
            read = [topic for topic in source.filters if filters_overlap(topic, f"{config.prefix}/#")]
            if read and _broker(source.host, source.port) == broker:
                yield (
                    f"{where}.prefix: {reader} reads {read[0]!r}, which includes {config.prefix!r}; "
                    "choose a prefix outside of it"
                )


def _repeated_client(
    clients: dict[tuple[_Broker, str], str], where: str, broker: _Broker, client_id: str
) -> Iterator[str]:
    if (other := clients.setdefault((broker, client_id), where)) != where:
        yield f"{where}.client_id: {client_id!r} is taken by {other} on the same broker; choose another id"


def _broker(host: str, port: int) -> _Broker:
    return ("localhost" if host.lower() in _LOCAL else host.lower(), port)


def _check_plant(site: SiteTable) -> None:
    load_plant(site.plant_source)


def _check_silence(site: SiteTable) -> None:
    plant = load_plant(site.plant_source)
    if not plant.is_own and site.lost_after_s < (step_s := plant.step_s):
        raise GraphGHHAError(f"{site.lost_after_s:g} s is less than the {step_s:g} s between two readings")


def _check_file(site: SiteTable) -> None:
    if isinstance(site.source, FileConfig) and not site.source.path.exists():
        raise GraphGHHAError(f"there is no file {site.source.path}")


def _check_model(site: SiteTable) -> None:
    if site.model and is_own_model(site.model):
        load_own_model(site.model)
        return
    model = load_model(site.model or model_for_sites(site.plant))
    if model.plant != site.plant:
        raise GraphGHHAError(f"the model was trained for plant {model.plant!r}, and the site has plant {site.plant!r}")


def _check_mapping(site: SiteTable) -> None:
    if mapping := site.source_config.mapping:
        plant = load_plant(site.plant_source)
        read_mapping(mapping, Points.from_names(plant, plant.building(site.zones).points))


def _check_source(site: SiteTable) -> None:
    """Open a source that needs no connection, to see that its cases and columns fit."""
    if isinstance(site.source, FileConfig | SimulatedConfig):
        plant = load_plant(site.plant_source)
        points = plant.building(site.zones).points
        open_source(site.source_config, site=site.name, points=points, plant=plant).close()


def _why_unwritable(folder: Path) -> str:
    """Return why files cannot be written into a folder, which is made if it is missing; empty if they can."""
    nearest = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not nearest.is_dir():
        return f"{nearest} is a file, not a folder"
    try:
        with tempfile.TemporaryFile(dir=nearest):
            return ""
    except OSError as exc:
        return f"cannot be written: {exc.strerror}"


def _why_no_journal(path: Path) -> str:
    """Return why a monitor cannot use a journal that exists; one that another monitor writes is not a mistake."""
    if not path.exists():
        return ""
    try:
        Reader(path).close()
    except NotFoundError:
        return f"{path} is not a file"
    except JournalError as exc:
        return str(exc) if "is a journal of version" in str(exc) else ""  # a monitor repairs a damaged one
    return ""


def _why_no_port(port: int) -> str:
    """Return why the health port cannot be opened; if something answers like a monitor, it is one that runs."""
    try:
        with socket.create_server(("127.0.0.1", port)):
            return ""
    except OSError as exc:
        if exc.errno == errno.EADDRINUSE and _is_health_port(port):
            return ""
        return f"{port} cannot be opened: {exc.strerror}; choose another port"


def _is_health_port(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/livez", timeout=1) as answer:
            return bool(answer.status == 200)
    except (OSError, ValueError, HTTPException):
        return False


# key, check, and the checks without which it says nothing
_SITE_CHECKS: tuple[tuple[str, Callable[[SiteTable], None], tuple[Callable[[SiteTable], None], ...]], ...] = (
    ("plant", _check_plant, ()),
    ("lost_after_s", _check_silence, (_check_plant,)),
    ("source", _check_file, ()),
    ("model", _check_model, (_check_plant,)),
    ("mapping", _check_mapping, (_check_plant,)),
    ("source", _check_source, (_check_plant, _check_file, _check_mapping)),
)
