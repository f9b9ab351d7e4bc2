"""How we appear to an MQTT broker: identity, credentials, TLS, a session that outlives us, limits on what it sends."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from graphghha.errors import ConfigError, DataError, EngineError

try:
    from paho.mqtt.client import Client, MQTTv5
    from paho.mqtt.enums import CallbackAPIVersion
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties
    from paho.mqtt.subscribeoptions import SubscribeOptions
except ImportError as exc:
    raise EngineError("MQTT needs paho-mqtt: pip install 'graphghha[mqtt]'") from exc

# larger ones the broker keeps to itself; up to here they are counted, then thrown away
MAX_PACKET_BYTES = 16 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class MqttConfig:
    host: str
    port: int = 1883
    prefix: str = ""  # of the topics; what follows is a name for the mapping
    topics: tuple[str, ...] = ()  # filters; without any, everything below the prefix
    client_id: str = "graphghha"
    username: str | None = None
    password_file: Path | None = None
    use_tls: bool = False
    ca_file: Path | None = None  # whom to trust; the system's authorities without it
    cert_file: Path | None = None
    key_file: Path | None = None
    keepalive_s: int = 20
    session_expiry_s: int = 7 * 86_400  # how long the broker keeps messages for us while we are away
    receive_maximum: int = 4_000  # messages under way at most
    max_message_bytes: int = 1 << 20
    max_queue_bytes: int = 64 << 20
    reconnect_min_s: int = 1
    reconnect_max_s: int = 30
    is_listener: bool = False  # only looks on: no session, nothing to acknowledge

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
            raise ConfigError(f"mqtt: {self.host!r} is no name of a host") from exc
        if not self.host or not self.client_id:
            raise ConfigError("mqtt: give a host and a client id")
        if not self.use_tls and (self.ca_file or self.cert_file or self.key_file):
            raise ConfigError("mqtt: certificates need TLS; write mqtts:// instead of mqtt://")
        for topic in self.filters:
            _check_filter(topic)

    @property
    def filters(self) -> tuple[str, ...]:
        prefix = self.prefix.strip("/")
        return self.topics or ((f"{prefix}/#",) if prefix else ("#",))

    @property
    def address(self) -> str:
        return f"{'mqtts' if self.use_tls else 'mqtt'}://{self.host}:{self.port}"


def make_client(config: MqttConfig) -> Client:
    """A client that has not connected yet."""
    client = Client(
        CallbackAPIVersion.VERSION2,
        client_id=config.client_id,
        protocol=MQTTv5,
        manual_ack=not config.is_listener,
    )
    if config.username is not None:
        client.username_pw_set(config.username, _secret(config.password_file))
    elif config.password_file is not None:
        raise ConfigError("mqtt: a password needs a username")
    if config.use_tls:
        client.tls_set_context(_tls(config))
    client.reconnect_delay_set(config.reconnect_min_s, config.reconnect_max_s)
    return client


def connect_properties(config: MqttConfig) -> Properties:
    properties = Properties(PacketTypes.CONNECT)
    properties.SessionExpiryInterval = 0 if config.is_listener else config.session_expiry_s
    properties.ReceiveMaximum = config.receive_maximum
    properties.MaximumPacketSize = MAX_PACKET_BYTES
    return properties


def subscriptions(config: MqttConfig) -> list[tuple[str, SubscribeOptions]]:
    """At least once; what the broker retains is sent to a new subscription only."""
    options = SubscribeOptions(qos=1, retainHandling=SubscribeOptions.RETAIN_SEND_IF_NEW_SUB)
    return [(topic, options) for topic in config.filters]


def _secret(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise DataError(f"{path}: the password cannot be read: {exc}") from exc


def _tls(config: MqttConfig) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=str(config.ca_file) if config.ca_file else None)
        if config.cert_file:
            context.load_cert_chain(config.cert_file, config.key_file)
    except (OSError, ssl.SSLError) as exc:
        files = ", ".join(str(file) for file in (config.ca_file, config.cert_file, config.key_file) if file)
        raise ConfigError(f"mqtt: certificates cannot be used ({files}): {exc}") from exc
    return context


def _check_filter(topic: str) -> None:
    levels = topic.split("/")
    is_wrong = any(len(level) > 1 and ("#" in level or "+" in level) for level in levels) or "#" in levels[:-1]
    if not topic or is_wrong:
        raise ConfigError(f"mqtt: {topic!r} is no topic filter; + stands for one level, # for all that follow")
