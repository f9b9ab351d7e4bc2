"""Typed settings of every kind of source. A source is opened with one of these values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from graphghha.errors import ConfigError
from graphghha.plants import CaseSpec

# The broker does not send larger packets. Smaller ones that exceed `max_message_bytes` are counted and dropped.
MAX_PACKET_BYTES = 16 << 20
# A reading from further in the future has a wrong clock. A whole plant may be ahead by the hours of its time zone.
MAX_AHEAD_S = 86_400.0


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulatedConfig:
    """A plant's testbed. The same settings give the same readings."""

    plant: str
    zones: int = 12
    seed: int = 0
    start: datetime = datetime(2018, 7, 2)  # earlier readings of that day are simulated and left out
    days: int = 365
    cases: tuple[CaseSpec, ...] = ()
    speed: float | None = None  # multiple of the plant's own time; None: as fast as the reader takes the batches
    live_from: datetime | None = None  # earlier readings come as fast as the reader takes them
    after: datetime | None = None  # readings up to then were handed out before a restart and are left out
    mapping: Path | None = None

    def __post_init__(self) -> None:
        _check_speed(self.speed)
        for name, low, high in (("zones", 1, 10_000), ("days", 1, 36_500), ("seed", 0, 2**63 - 1)):
            if not low <= getattr(self, name) <= high:
                raise ConfigError(f"sim: {name} {getattr(self, name)} must lie between {low} and {high}")


@dataclass(frozen=True, kw_only=True, slots=True)
class FileConfig:
    """A CSV or Parquet file, or a folder of exported tables, replayed from its first row to its last."""

    path: Path
    format: Literal["csv", "parquet"]
    speed: float | None = None
    mapping: Path | None = None
    table: Mapping[str, str] = field(default_factory=dict)  # how an exported table is written, where that is stated
    is_held: bool = False  # readings that come too seldom for the plant are used until the next one

    def __post_init__(self) -> None:
        _check_speed(self.speed)


@dataclass(frozen=True, kw_only=True, slots=True)
class StdinConfig:
    """JSON lines on standard input."""

    max_ahead_s: float = MAX_AHEAD_S
    mapping: Path | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MqttConfig:
    """A subscription at an MQTT broker."""

    host: str
    port: int = 1883
    prefix: str = ""  # of the topics; what follows it is a name for the mapping
    topics: tuple[str, ...] = ()  # filters; if empty, everything below the prefix
    client_id: str | None = None  # None: graphghha-SITE
    username: str | None = None
    password_file: Path | None = None
    use_tls: bool = False
    ca_file: Path | None = None  # certificate authorities to trust; None: those of the system
    cert_file: Path | None = None
    key_file: Path | None = None
    keepalive_s: int = 20
    session_expiry_s: int = 7 * 86_400  # how long the broker keeps messages for us while we are away
    receive_maximum: int = 4_000  # messages that may wait for our acknowledgement
    max_message_bytes: int = 1 << 20
    max_queue_bytes: int = 64 << 20
    reconnect_min_s: int = 1
    reconnect_max_s: int = 30
    is_listener: bool = False  # reads beside the monitor: no session, nothing to acknowledge
    mapping: Path | None = None

    def __post_init__(self) -> None:
        for name, low, high in (
            ("port", 1, 65_535),
            ("keepalive_s", 1, 65_535),
            ("session_expiry_s", 0, 2**32 - 1),
            ("receive_maximum", 1, 65_535),
            ("max_message_bytes", 1, MAX_PACKET_BYTES),
            ("max_queue_bytes", 1, 1 << 40),
            ("reconnect_min_s", 1, 3_600),
            ("reconnect_max_s", self.reconnect_min_s, 3_600),
        ):
            if not low <= getattr(self, name) <= high:
                raise ConfigError(f"mqtt: {name} {getattr(self, name)} must lie between {low} and {high}")
        try:
            self.host.encode("idna")
        except UnicodeError as exc:
            raise ConfigError(f"mqtt: {self.host!r} is not a valid host name") from exc
        if not self.host or self.client_id == "":
            raise ConfigError("mqtt: the host and the client id must not be empty")
        if not self.use_tls and (self.ca_file or self.cert_file or self.key_file):
            raise ConfigError("mqtt: certificates need TLS; write mqtts:// instead of mqtt://")
        for topic in self.filters:
            _check_filter(topic)

    @property
    def filters(self) -> tuple[str, ...]:
        """The topic filters to subscribe to."""
        prefix = self.prefix.strip("/")
        return self.topics or ((f"{prefix}/#",) if prefix else ("#",))

    @property
    def address(self) -> str:
        """The broker, for messages to people."""
        return f"{'mqtts' if self.use_tls else 'mqtt'}://{self.host}:{self.port}"

    def client_id_for(self, site: str) -> str:
        """Return the client id under which this source reads for a site."""
        return self.client_id or f"graphghha-{site}"


SourceConfig = SimulatedConfig | FileConfig | StdinConfig | MqttConfig


def _check_speed(speed: float | None) -> None:
    if speed is not None and not 0 < speed < float("inf"):
        raise ConfigError(f"speed {speed:g} must be above 0; leave it out to go as fast as possible")


def _check_filter(topic: str) -> None:
    levels = topic.split("/")
    is_wrong = any(len(level) > 1 and ("#" in level or "+" in level) for level in levels) or "#" in levels[:-1]
    if not topic or is_wrong:
        raise ConfigError(f"mqtt: {topic!r} is not a valid topic filter; + stands for one level, # for all that follow")


def _levels(topic_filter: str) -> list[str]:
    """Return the levels of a filter, without the share name of a shared subscription."""
    parts = topic_filter.split("/")
    return parts[2:] if parts[0] == "$share" and len(parts) > 2 else parts


def filters_overlap(first: str, second: str) -> bool:
    """Return whether any topic matches both filters."""
    a, b = _levels(first), _levels(second)
    # a wildcard at the first level does not match the broker's own topics, which begin with $
    if any(x[0] in ("#", "+") and y[0].startswith("$") for x, y in ((a, b), (b, a))):
        return False
    for x, y in zip(a, b, strict=False):
        if "#" in (x, y):
            return True
        if x != y and "+" not in (x, y):
            return False
    longer = a[len(b) :] or b[len(a) :]
    return longer in ([], ["#"])  # `a/#` matches `a` itself
