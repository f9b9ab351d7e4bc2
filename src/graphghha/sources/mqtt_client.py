"""How we appear to an MQTT broker: identity, credentials, TLS, a session that outlives us, limits on what it sends."""

import ssl
from pathlib import Path

from graphghha.errors import ConfigError, DataError, EngineError
from graphghha.sources.config import MAX_PACKET_BYTES, MqttConfig

try:
    from paho.mqtt.client import Client, MQTTv5
    from paho.mqtt.enums import CallbackAPIVersion
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties
    from paho.mqtt.subscribeoptions import SubscribeOptions
except ImportError as exc:
    raise EngineError("MQTT needs paho-mqtt: pip install 'graphghha[mqtt]'") from exc


def make_client(config: MqttConfig) -> Client:
    """A client that has not connected yet."""
    client = Client(
        CallbackAPIVersion.VERSION2,
        client_id=config.client_id or "graphghha",
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
