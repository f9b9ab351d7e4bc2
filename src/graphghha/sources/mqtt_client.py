"""MQTT clients: identity, credentials, TLS, and for a source its session and its limits on what the broker sends."""

from pathlib import Path
from typing import Any

from graphghha._util.tls import Tls, read_secret
from graphghha.errors import ConfigError, DataError, EngineError
from graphghha.sources.config import MAX_PACKET_BYTES, MqttConfig

try:
    from paho.mqtt.client import Client, MQTTv5
    from paho.mqtt.enums import CallbackAPIVersion
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties
    from paho.mqtt.subscribeoptions import SubscribeOptions
except ImportError as exc:
    raise EngineError("MQTT needs paho-mqtt; run: pip install 'graphghha[mqtt]'") from exc


class BoundedClient(Client):
    """A client that ends a connection over which a larger packet is announced than it has agreed to.

    Brokers keep to `MaximumPacketSize`; a broker that does not could otherwise fill the memory with 268 MB.
    """

    def _sock_recv(self, bufsize: int) -> bytes:
        if bufsize > MAX_PACKET_BYTES:
            raise ConnectionError(f"a packet of {bufsize} bytes was announced; at most {MAX_PACKET_BYTES} are taken")
        data: bytes = super()._sock_recv(bufsize)
        return data


def new_client(
    client_id: str, *, username: str | None, password_file: Path | None, tls: Tls | None, **options: Any
) -> Client:
    """Return an MQTT 5 client that has not connected yet; raise `OSError` or `ValueError` if a file is unusable."""
    client = BoundedClient(CallbackAPIVersion.VERSION2, client_id=client_id, protocol=MQTTv5, **options)
    if username is not None:
        client.username_pw_set(username, read_secret(password_file) if password_file else None)
    if tls is not None:
        client.tls_set_context(tls.context())
    return client


def make_client(config: MqttConfig) -> Client:
    """Return the client of a source, which has not connected yet."""
    assert config.client_id is not None, "a session belongs to a client id"
    if config.password_file is not None and config.username is None:
        raise ConfigError("mqtt: password_file needs a username")
    tls = Tls(ca_file=config.ca_file, cert_file=config.cert_file, key_file=config.key_file) if config.use_tls else None
    try:
        client = new_client(
            config.client_id,
            username=config.username,
            password_file=config.password_file,
            tls=tls,
            manual_ack=not config.is_listener,
        )
    except UnicodeDecodeError as exc:
        raise DataError(f"{config.password_file}: the password cannot be read: {exc}") from exc
    except OSError as exc:
        raise _unusable_file(config, exc) from exc
    client.reconnect_delay_set(config.reconnect_min_s, config.reconnect_max_s)
    return client


def connect_properties(config: MqttConfig) -> Properties:
    """Return how long the broker keeps the session, and how much it may send at once."""
    properties = Properties(PacketTypes.CONNECT)
    properties.SessionExpiryInterval = 0 if config.is_listener else config.session_expiry_s
    properties.ReceiveMaximum = config.receive_maximum
    properties.MaximumPacketSize = MAX_PACKET_BYTES
    return properties


def subscriptions(config: MqttConfig) -> list[tuple[str, SubscribeOptions]]:
    """Subscribe with QoS 1 ("at least once"). The broker sends retained messages to a new subscription only."""
    options = SubscribeOptions(qos=1, retainHandling=SubscribeOptions.RETAIN_SEND_IF_NEW_SUB)
    return [(topic, options) for topic in config.filters]


def _unusable_file(config: MqttConfig, exc: OSError) -> ConfigError | DataError:
    """Return the error for a password or certificate file that cannot be used."""
    if config.password_file is not None and exc.filename == str(config.password_file):
        return DataError(f"{config.password_file}: the password cannot be read: {exc}")
    files = ", ".join(str(file) for file in (config.ca_file, config.cert_file, config.key_file) if file)
    return ConfigError(f"mqtt: certificates cannot be used ({files}): {exc}")
