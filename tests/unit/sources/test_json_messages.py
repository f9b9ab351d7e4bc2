"""Whatever arrives becomes a reading within limits or a counted rejection, and never an exception."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.sources import Rejection
from graphghha.sources.batch_builder import BatchBuilder
from graphghha.sources.json_messages import DESCRIPTIVE_KEYS, MOST_READINGS, decode
from graphghha.sources.mapping import LONGEST_NAME, LONGEST_UNIT, NAMES_REMEMBERED, Mapper, Rule, Rules
from source_builders import NINE, POINTS, points, readings

TABLE = points()
NOW = NINE + 60_000


def decoded(*messages, name=""):
    builder = BatchBuilder("site", Mapper(TABLE))
    for message in messages:
        decode(message if isinstance(message, bytes) else json.dumps(message).encode(), builder, NOW, name)
    return builder.take(NOW)


def test_the_forms_of_a_message():
    time = "2018-07-02T11:00:00+02:00"
    batch = decoded(
        {"site": "site", "point": "zone-01/RM_TEMP", "time": time, "value": 70.7, "unit": "degF", "quality": "Good"},
        {"device": "zone-01", "time": NINE, "values": {"FCU_DAT": 12, "FCU_OAT": {"value": 293.15, "unit": "K"}}},
        {"device": "zone-02", "time": NINE / 1000, "FCU_DAT": 13.0, "units": {"FCU_DAT": "degC"}},
        [{"point": "zone-02/FCU_CVLV", "time": time, "value": 0.5}],
    )
    assert readings(batch) == [
        ("zone-01/RM_TEMP", NINE, 21.5),
        ("zone-01/FCU_DAT", NINE, 12.0),
        ("zone-01/FCU_OAT", NINE, 20.0),
        ("zone-02/FCU_DAT", NINE, 13.0),
        ("zone-02/FCU_CVLV", NINE, 0.5),
    ]
    assert not batch.rejected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from([*DESCRIPTIVE_KEYS, "point", "value", "values", "RM_TEMP"])
NEAR_MISS = st.dictionaries(
    KEYS, JSON | st.sampled_from(["zone-01/RM_TEMP", "zone-01", "site", "degF", "good", 1e308, 21.0, NINE]), max_size=7
)


@given(st.lists(st.binary(max_size=40) | (JSON | NEAR_MISS).map(lambda each: json.dumps(each).encode()), max_size=5))
def test_nothing_that_arrives_breaks_the_decoder_and_everything_is_counted(messages):
    for name in ("", "zone-01/RM_TEMP"):
        batch = decoded(*messages, name=name)
        assert np.isfinite(batch.values).all()
        assert len(batch) + sum(batch.rejected.values()) >= len(messages)
        assert (batch.times_ms <= NOW + 600_000).all()
        for (point, _, value), column in zip(readings(batch), batch.points.tolist(), strict=True):
            assert point == POINTS[column] and TABLE.low[column] <= value <= TABLE.high[column]


@pytest.mark.parametrize(
    "message",
    [
        {"value": 1.0},
        {"point": 3, "value": 1.0},
        {"point": "zone-01/RM_TEMP", "value": True},
        {"point": "zone-01/RM_TEMP", "value": "21.5"},
        {"device": "zone-01", "values": [1.0]},
        {"device": "zone-01", "units": 3, "RM_TEMP": 1.0},
        {"device": "zone-01"},
        b"21.5",
        b"1" * 5000,
        b"[[[]]]",
        b"[]",
    ],
    ids=str,
)
def test_anything_that_is_not_a_message_is_malformed(message):
    assert decoded(message).rejected == {Rejection.MALFORMED: 1}


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"device": "." * 900_000 + "/", "value": 1}, Rejection.UNMAPPED),
        ({"device": "x" * 100_000, **{f"k{n}": 1 for n in range(5_000)}}, Rejection.UNMAPPED),
        ({"point": "zone-01/RM_TEMP", "value": 21, "unit": "degC" + " " * 900_000 + "x"}, Rejection.WRONG_UNIT),
        ({"point": "zone-01/RM_TEMP", "value": 21, "unit": "x" * (LONGEST_UNIT + 1)}, Rejection.WRONG_UNIT),
        ({"device": "zone-01", "values": {f"k{n}": 1 for n in range(MOST_READINGS)}}, Rejection.TOO_LARGE),
        ([{"point": "zone-01/RM_TEMP", "value": 21}] * MOST_READINGS, Rejection.TOO_LARGE),
        ({"site": {"name": "site"}, "point": "zone-01/RM_TEMP", "value": 21}, Rejection.UNMAPPED),
    ],
)
def test_names_units_and_numbers_of_readings_are_bounded_on_arrival(message, reason):
    mapping = Rules(rules=(Rule(name="bms/{zone}.{signal}", point="{zone}/{signal}"),))
    builder = BatchBuilder("site", Mapper(TABLE, mapping))
    decode(json.dumps(message).encode(), builder, NOW)
    batch = builder.take(NOW)
    assert not len(batch) and batch.rejected == {reason: 1}


def test_a_unit_may_have_blanks_around_it():
    assert readings(decoded({"point": "zone-01/RM_TEMP", "time": NINE, "value": 68.0, "unit": " degF  "})) == [
        ("zone-01/RM_TEMP", NINE, 20.0)
    ]


def test_new_names_and_units_for_ever_fill_no_memory():
    """A pattern that takes any number of names for one point, and units that differ in every message."""
    mapping = Rules(rules=(Rule(name="{any}/{zone}/{signal}", point="{zone}/{signal}"),))
    mapper = Mapper(TABLE, mapping)
    for number in range(60_000):
        mapper.route(f"{number}/zone-01/RM_TEMP", "degC")
        mapper.route("zone-01/RM_TEMP", f"degC{number}")
        mapper.route(f"{number}" + "x" * LONGEST_NAME)
    assert len(mapper.routes) <= 20_000
    assert len(mapper.unmapped) <= NAMES_REMEMBERED and len(mapper.wrong_units) <= NAMES_REMEMBERED
    assert max(map(len, mapper.unmapped)) <= 200
