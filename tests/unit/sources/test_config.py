import pytest

from graphghha.errors import ConfigError
from graphghha.sources import MqttConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"host": ""}, "must not be empty"),
        ({"host": "a" * 64}, "not a valid host name"),
        ({"client_id": ""}, "must not be empty"),
        ({"port": 0}, "port 0 must lie between 1 and 65535"),
        ({"reconnect_min_s": 9, "reconnect_max_s": 8}, "reconnect_max_s 8 must lie between 9 and 3600"),
        ({"topics": ("a+/b",)}, "not a valid topic filter"),
        ({"topics": ("",)}, "not a valid topic filter"),
    ],
)
def test_settings_of_a_broker_that_cannot_work_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        MqttConfig(**{"host": "broker"} | settings)


def test_without_filters_everything_below_the_prefix_is_read():
    assert MqttConfig(host="broker").filters == ("#",)
    assert MqttConfig(host="broker", prefix="/hq/bms/").filters == ("hq/bms/#",)
    assert MqttConfig(host="broker", prefix="hq", topics=("a/+",)).filters == ("a/+",)
