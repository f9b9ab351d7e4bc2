"""Typed settings of sources."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from paho.mqtt.client import topic_matches_sub

from graphghha.errors import ConfigError
from graphghha.sources import MqttConfig, filters_overlap


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


LEVELS = st.sampled_from(["a", "b", "+", "$x", ""])
FILTERS = st.builds(
    lambda parts, end: "/".join([*parts, *end]), st.lists(LEVELS, min_size=1, max_size=3), st.sampled_from([[], ["#"]])
).filter(bool)


@example("+", "/#")
@given(FILTERS, FILTERS)
def test_filters_overlap_exactly_when_a_topic_matches_both(first, second):
    names = ["a", "b", "$x", ""]
    topics = ["/".join(parts) for n in range(1, 5) for parts in itertools.product(names, repeat=n)]
    common = [topic for topic in topics if topic_matches_sub(first, topic) and topic_matches_sub(second, topic)]
    # the empty topic does not exist; refusing two filters that meet there alone harms nobody
    assert filters_overlap(first, second) == bool(common)


def test_the_share_name_of_a_filter_is_no_part_of_the_topic():
    assert filters_overlap("$share/group/plant/+/temp", "plant/#") and not filters_overlap("$share/plant/a", "plant/#")
