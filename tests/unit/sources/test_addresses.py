"""Addresses as people write them become typed settings, once."""

from datetime import datetime
from pathlib import Path

import pytest

from graphghha.errors import ConfigError
from graphghha.plants import CaseSpec
from graphghha.sources import FileConfig, MqttConfig, SimulatedConfig, StdinConfig, parse_address


@pytest.mark.parametrize(
    ("address", "config"),
    [
        ("sim:fcu", SimulatedConfig(plant="fcu")),
        (
            "sim:fcu?zones=2&seed=3&days=4&start=2018-07-02T09:00&speed=60&case=A_+2C@1,start=2018-07-03&case=B@2,start=2018-07-03&mapping=m.toml",
            SimulatedConfig(
                plant="fcu",
                zones=2,
                seed=3,
                days=4,
                start=datetime(2018, 7, 2, 9),
                speed=60.0,
                cases=(CaseSpec.parse("A_+2C@1,start=2018-07-03"), CaseSpec.parse("B@2,start=2018-07-03")),
                mapping=Path("/etc/site/m.toml"),
            ),
        ),
        ("csv:day.csv", FileConfig(path=Path("/etc/site/day.csv"), format="csv")),
        ("csv:a?b.csv?speed=2", FileConfig(path=Path("/etc/site/a?b.csv"), format="csv", speed=2.0)),
        ("parquet:/data/day one.parquet", FileConfig(path=Path("/data/day one.parquet"), format="parquet")),
        ("-", StdinConfig()),
        ("-?max_ahead_s=5", StdinConfig(max_ahead_s=5.0)),
        ("mqtt://broker", MqttConfig(host="broker")),
        (
            "mqtts://ada@broker/hq/bms?password_file=my%20creds/pw&topic=a/%23&topic=b/%2B&keepalive_s=9",
            MqttConfig(
                host="broker",
                port=8883,
                prefix="hq/bms",
                use_tls=True,
                username="ada",
                password_file=Path("/etc/site/my creds/pw"),
                topics=("a/#", "b/+"),
                keepalive_s=9,
            ),
        ),
    ],
)
def test_an_address_becomes_typed_settings(address, config):
    assert parse_address(address, Path("/etc/site")) == config


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("", "not an address"),
        ("ftp://host", "not an address"),
        ("csv:", "not an address"),
        ("sim:fcu?zone=3", "unknown option 'zone'; did you mean 'zones'"),
        ("sim:fcu?zones=many", "zones='many' is not a number"),
        ("sim:fcu?zones=2.5", "zones='2.5' is not a whole number"),
        ("sim:fcu?start=noon", "is not a time like"),
        ("sim:fcu?speed=0", "speed 0 must be above 0"),
        ("csv:day.csv?speed=-1", "speed -1 must be above 0"),
        ("-?speed=3", "unknown option 'speed'"),
        ("mqtt://host:99999/bms", "[Pp]ort"),
        ("mqtt://host/bms?keepalive=3", "did you mean 'keepalive_s'"),
        ("mqtt://host/bms?keepalive_s=0", "keepalive_s 0 must lie between 1 and 65535"),
        ("mqtt://host/bms?topic=a/%23/b", "not a valid topic filter"),
        ("mqtt://host/bms?ca_file=ca.pem", "mqtts://"),
    ],
)
def test_an_address_with_a_mistake_is_refused_with_what_to_write(address, message):
    with pytest.raises(ConfigError, match=message) as caught:
        parse_address(address)
    assert str(caught.value).startswith(f"source {address!r}: ")


@pytest.mark.parametrize(
    "address",
    ["mqtt://eve:hunter2@host/bms", "mqtt://host/bms?password=hunter2", "mqtt://host/bms?PassWord=hunter2"],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(address):
    with pytest.raises(ConfigError, match="password_file") as caught:
        parse_address(address)
    assert "hunter2" not in str(caught.value)
