"""The tables of a settings file: their keys, defaults and allowed values."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from graphghha._util.tls import Tls
from graphghha.errors import GraphGHHAError
from graphghha.monitor.display import find_zone
from graphghha.monitor.sinks import (
    ENTERPRISE,
    JsonLinesFile,
    MqttSink,
    MqttSinkConfig,
    Sink,
    SyslogConfig,
    SyslogSink,
)
from graphghha.sources import MqttConfig, SourceConfig, parse_address, stated_zones


def _from_folder(path: Path, info: ValidationInfo) -> Path:
    """Resolve a relative path from the folder of the settings file."""
    return _folder(info) / path.expanduser()


def _folder(info: ValidationInfo) -> Path:
    folder: Path = (info.context or {}).get("folder", Path())
    return folder


def _learnable(days: int) -> int:
    if days and not 7 <= days <= 90:
        raise ValueError("must be from 7 to 90 days, or 0 to learn nothing; fewer make a model worse")
    return days


def _existing_file(path: Path) -> Path:
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    return path


def _existing_folder(path: Path) -> Path:
    if not path.is_dir():
        raise ValueError(f"there is no folder {path}")
    return path


def _readable_secret(path: Path) -> Path:
    try:
        content = _existing_file(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise ValueError(f"{path} cannot be read as text") from exc
    if not content:
        raise ValueError(f"{path} is empty; write the secret into it")
    return path


def _without_credentials(address: str) -> str:
    if "@" in urlsplit(address).netloc:
        raise ValueError("an address must not contain credentials; use username and password_file")
    return address


def _known_zone(name: str) -> str:
    find_zone(name)
    return name


def _parse_source(address: object, info: ValidationInfo) -> SourceConfig:
    if not isinstance(address, str):
        raise ValueError("must be the address of a source, as a string")
    return parse_address(address, _folder(info))


def _fill_in_zones(zones: object, info: ValidationInfo) -> object:
    """Fill in the number of zones that the source states, where none is written."""
    source: SourceConfig | None = info.data.get("source")
    model: Path | None = info.data.get("model")
    if zones is None and model is not None and (model / PLANT_FILE).is_file():
        return 1  # a plant of the user's own is one whole
    if zones is not None or source is None:
        return 1 if zones is None else zones  # a source that is itself wrong is reported in its own place
    try:
        stated = stated_zones(source)
    except GraphGHHAError as exc:
        raise PydanticCustomError(UNREADABLE_SOURCE, "{reason}", {"reason": str(exc)}) from exc
    if not stated:
        raise ValueError("missing; this source does not state its number of zones")
    return len(stated)


AnyPath = Annotated[Path, Field(strict=False), AfterValidator(_from_folder)]
ExistingFile = Annotated[AnyPath, AfterValidator(_existing_file)]
ExistingFolder = Annotated[AnyPath, AfterValidator(_existing_folder)]
SecretFile = Annotated[AnyPath, AfterValidator(_readable_secret)]
Address = Annotated[str, AfterValidator(_without_credentials)]
TimeZone = Annotated[str, AfterValidator(_known_zone)]
SourceAddress = Annotated[SourceConfig, PlainValidator(_parse_source)]
Zones = Annotated[int, Field(ge=1, le=10_000), BeforeValidator(_fill_in_zones)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]
PLANT_FILE = "plant.toml"  # in the model directory of a plant of the user's own
BROKER_KEYS = ("client_id", "username", "password_file", "ca_file", "cert_file", "key_file")
UNREADABLE_SOURCE, OTHER_ZONES = "unreadable_source", "other_zones"
Texts = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


class Table(BaseModel):
    """A frozen table that is strict about types and refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


class MonitorTable(Table):
    """[monitor]: settings of the process."""

    state_dir: AnyPath = Field(default=Path("graphghha-state"), validate_default=True)
    journal: Name = "journal.sqlite"  # inside state_dir
    keep_days: int = Field(default=400, ge=1)  # how long the journal keeps events
    keep_score_days: int = Field(default=35, ge=1)  # how long it keeps the scores of every node
    keep_mb: int = Field(default=2000, ge=10)  # above this size it drops the oldest events
    drain_s: float = Field(default=6.0, gt=0, le=60)  # how long a stop may wait for sinks
    require_signature: bool = False  # refuse models that no trusted key has signed; the shipped ones are not looked at
    trusted_keys: Annotated[tuple[ExistingFile, ...], Field(strict=False)] = ()  # public keys of those who sign models

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        if self.require_signature and not self.trusted_keys:
            raise ValueError("require_signature needs trusted_keys: the public keys of those who sign models")
        return self


class Certificates(Table):
    """Certificates by which we identify a server, and a server us."""

    ca_file: ExistingFile | None = None
    cert_file: ExistingFile | None = None
    key_file: ExistingFile | None = None

    @model_validator(mode="after")
    def _check_pair(self) -> Self:
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("cert_file and key_file belong together; give both or neither")
        return self

    def tls_for(self, scheme: str, secure: str) -> Tls | None:
        """Return the TLS settings for an address with this scheme; `secure` is the scheme that uses TLS."""
        if scheme == secure:
            return Tls(ca_file=self.ca_file, cert_file=self.cert_file, key_file=self.key_file)
        if self.ca_file or self.cert_file:
            raise ValueError(f"certificates need TLS; write {secure}://")
        return None


class Credentials(Certificates):
    """Credentials by which we identify ourselves to a broker."""

    username: str | None = None
    password_file: SecretFile | None = None

    @model_validator(mode="after")
    def _check_password(self) -> Self:
        if self.password_file and self.username is None:
            raise ValueError("password_file needs a username")
        return self


class SiteTable(Credentials):
    """[[site]]: a building or plant, its model, and the source of its readings."""

    name: Name
    source: SourceAddress
    plant: str = "fcu"
    model: ExistingFolder | None = None  # default: the model shipped for the plant
    zones: Zones = Field(default=None, validate_default=True)  # may be left out if the source states it
    mapping: ExistingFile | None = None
    client_id: Name | None = None
    lateness_s: float = Field(default=30.0, ge=0, le=3600)  # how long a row waits for late readings
    stale_after_s: float = Field(default=300.0, gt=0)  # a reading older than this is no longer used
    reports: Literal["interval", "changes"] = "interval"  # "changes": silence means "unchanged" while a zone is heard
    lost_after_s: float = Field(default=300.0, gt=0)  # a site that is silent for this long raises an alarm
    patience_s: float = Field(default=86_400.0, ge=3_600, le=604_800)  # how long rows wait for stored readings
    warm_up_rows: int = Field(default=360, ge=0)  # rows that fill the windows before scoring begins
    learn_days: Annotated[int, AfterValidator(_learnable)] = 14  # of its own, to commission the site on; 0: never
    relearn_days: int = Field(default=7, ge=0)  # until it is commissioned again on its newest days; 0: never
    time_zone: TimeZone = "UTC"  # in which its people read times; readings state their own
    units: Literal["degC", "degF"] = "degC"  # in which its people read temperatures
    latching: bool = False  # alarms stay until an operator resets them
    force: bool = False  # watch a recording although its readings do not fit the points they map to

    @property
    def plant_source(self) -> str:
        """Return the name of the plant, or the plant file of a model that carries its own."""
        own = self.model / PLANT_FILE if self.model else None
        return str(own) if own and own.is_file() else self.plant

    @property
    def source_config(self) -> SourceConfig:
        """Return the source, with the mapping and the credentials that this table adds to its address."""
        source = self.source if self.source.mapping or not self.mapping else replace(self.source, mapping=self.mapping)
        if not isinstance(source, MqttConfig):
            return source
        given = {key: value for key in BROKER_KEYS if (value := getattr(self, key)) is not None}
        return replace(source, **given)

    @model_validator(mode="after")
    def _check_broker_keys(self) -> Self:
        if not isinstance(self.source, MqttConfig) and any(getattr(self, key) is not None for key in BROKER_KEYS):
            raise ValueError("credentials and client_id belong to an mqtt:// or mqtts:// source")
        _ = self.source_config  # certificates of an mqtt:// address are refused here
        return self

    @model_validator(mode="after")
    def _check_zones(self) -> Self:
        """Refuse a number of zones that the source contradicts; a mapping may give its names other zones."""
        if self.source_config.mapping is not None:
            return self
        try:
            stated = stated_zones(self.source)
        except GraphGHHAError:
            return self  # reported in its own place
        if stated and len(stated) != self.zones:
            own = f"{len(stated)} zone{'s' if len(stated) > 1 else ''}"
            reason = f"{self.zones} zones are asked for, and the source has {own}; leave it out, or write {len(stated)}"
            raise PydanticCustomError(OTHER_ZONES, "{reason}", {"reason": reason})
        return self


class HealthTable(Table):
    """[health]: the health server on 127.0.0.1, which runs if a port is given."""

    port: int | None = Field(default=None, ge=1, le=65535)


class WebTable(Certificates):
    """[web]: the page and the HTTP API, which `graphghha serve` adds to the monitor."""

    bind: str = Field(default="127.0.0.1", min_length=1, max_length=255)
    port: int = Field(default=8420, ge=0, le=65535)  # 0: any free one
    hosts: Annotated[tuple[str, ...], Field(strict=False)] = ()  # further names under which browsers reach it
    behind_proxy: bool = False  # a proxy in front of it ends TLS
    session_hours: float = Field(default=8.0, gt=0, le=24)
    requests_per_s: float = Field(default=50.0, gt=0)  # of one address, on average


class LogTable(Table):
    """[log]: how much is logged, and in which form."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    style: Literal["auto", "json", "text"] = "auto"


class SinkTable(Table):
    """[[sink]]: the keys that all kinds share."""

    name: Name
    events: Texts = ("*",)
    heartbeat_s: float | None = Field(default=None, ge=1)


class JsonlTable(SinkTable):
    """[[sink]] with kind = "jsonl": a file of JSON lines."""

    kind: Literal["jsonl"]
    path: AnyPath
    sync: bool = True

    def open(self) -> Sink:
        return JsonLinesFile(self.name, self.path, sync=self.sync)


class MqttTable(SinkTable, Credentials):
    """[[sink]] with kind = "mqtt": a broker."""

    kind: Literal["mqtt"]
    address: Address  # mqtt://host[:1883] or mqtts://host[:8883]
    prefix: Annotated[str, Field(pattern=r"^[^+#$/\x00][^+#\x00]*[^+#/\x00]$")] = "graphghha"
    client_id: Name = "graphghha-sink"
    retain_open: bool = False

    def config(self) -> MqttSinkConfig:
        """Return the settings of the sink."""
        scheme, host, port = split_address(self.address, MQTT_PORTS)
        return MqttSinkConfig(
            host=host,
            port=port,
            prefix=self.prefix,
            client_id=self.client_id,
            username=self.username,
            password_file=self.password_file,
            tls=self.tls_for(scheme, "mqtts"),
            retain_open=self.retain_open,
        )

    def open(self) -> Sink:
        return MqttSink(self.name, self.config())

    @model_validator(mode="after")
    def _check_address(self) -> Self:
        self.config()
        return self


class SyslogTable(SinkTable, Certificates):
    """[[sink]] with kind = "syslog": a syslog receiver or SIEM."""

    kind: Literal["syslog"]
    address: Address  # tls://host[:6514] or tcp://host[:601]
    hostname: str = ""
    enterprise: int = Field(default=ENTERPRISE, ge=1)

    def config(self) -> SyslogConfig:
        """Return the settings of the sink."""
        scheme, host, port = split_address(self.address, SYSLOG_PORTS)
        return SyslogConfig(
            host=host,
            port=port,
            tls=self.tls_for(scheme, "tls"),
            hostname=self.hostname,
            enterprise=self.enterprise,
        )

    def open(self) -> Sink:
        return SyslogSink(self.name, self.config())

    @model_validator(mode="after")
    def _check_address(self) -> Self:
        self.config()
        return self


MQTT_PORTS = {"mqtt": 1883, "mqtts": 8883}
SYSLOG_PORTS = {"tls": 6514, "tcp": 601}


def split_address(address: str, ports: dict[str, int]) -> tuple[str, str, int]:
    """Return the scheme, host and port of an address; the default port is that of the scheme."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as exc:
        raise ValueError(f"address {address.partition('?')[0]!r}: {exc}") from exc
    has_more = parts.path.strip("/") or parts.query or parts.fragment
    if parts.scheme not in ports or not parts.hostname or has_more:
        forms = " or ".join(f"{name}://HOST[:PORT]" for name in ports)
        raise ValueError(f"address '{parts.scheme}://{parts.netloc}': write {forms}, and nothing after it")
    return parts.scheme, parts.hostname, port or ports[parts.scheme]


TABLES: dict[str, type[Table]] = {
    "monitor": MonitorTable,
    "site": SiteTable,
    "health": HealthTable,
    "web": WebTable,
    "log": LogTable,
}
SINKS: dict[str, type[SinkTable]] = {"jsonl": JsonlTable, "mqtt": MqttTable, "syslog": SyslogTable}
AnySink = Annotated[JsonlTable | MqttTable | SyslogTable, Field(discriminator="kind")]


class Settings(Table):
    """All tables of a settings file."""

    monitor: MonitorTable
    site: Annotated[tuple[SiteTable, ...], Field(strict=False, min_length=1)]
    sink: Annotated[tuple[AnySink, ...], Field(strict=False)] = ()
    health: HealthTable = HealthTable()
    web: WebTable = WebTable()
    log: LogTable = LogTable()

    def secret_files(self) -> tuple[Path, ...]:
        """Return the files whose contents must not appear in logs."""
        holders = [*self.site, *(sink for sink in self.sink if isinstance(sink, Credentials))]
        return tuple(holder.password_file for holder in holders if holder.password_file)
