import contextlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphghha.errors import ConfigError, DataError
from graphghha.plants import Points
from graphghha.sources import Rejection
from graphghha.sources.mapping import NAMES_REMEMBERED, ROUTES_REMEMBERED, Mapper, read_mapping
from source_builders import PLANT, POINTS, points

MAPPING = """
units = { FCU_DAT = "degF" }

[[map]]
topic = "bms/{floor}/{zone}/{signal}"

[[map]]
column = "AHU 1 room (x10)"
point = "zone-02/RM_TEMP"
unit = "degF"
scale = 0.1
offset = 1.0

[rename.zone]
R101 = "zone-01"

[rename.signal]
RoomTemp = "RM_TEMP"
"""


@pytest.fixture
def mapped(tmp_path):
    def build(text, **more):
        file = tmp_path / "map.toml"
        file.write_text(text)
        return Mapper(points(), read_mapping(file, points()), **more)

    return build


def in_si(mapper, name, value, unit=None):
    route = mapper.route(name, unit)
    return mapper.points.names[route.column], pytest.approx((value - route.shift) * route.scale)


def test_our_own_names_need_no_mapping():
    mapper = Mapper(points(), prefix="site/bms")
    assert in_si(mapper, "zone-01/RM_TEMP", 20.0) == ("zone-01/RM_TEMP", 20.0)
    assert in_si(mapper, "site/bms/zone-01/RM_TEMP", 68.0, "degF") == ("zone-01/RM_TEMP", 20.0)
    assert mapper.route("RM_TEMP") is Rejection.UNMAPPED  # of which zone?


def test_in_a_plant_of_one_zone_the_signal_is_name_enough():
    mapper = Mapper(Points.from_names(PLANT, POINTS[:29]))
    assert in_si(mapper, "RM_TEMP", 20.0) == ("zone-01/RM_TEMP", 20.0)


def test_patterns_capture_and_rename(mapped):
    mapper = mapped(MAPPING)
    assert in_si(mapper, "bms/3/R101/RoomTemp", 20.0) == ("zone-01/RM_TEMP", 20.0)
    assert in_si(mapper, "bms/3/zone-02/FCU_DAT", 68.0) == ("zone-02/FCU_DAT", 20.0)
    assert mapper.route("bms/3/R999/RoomTemp") is Rejection.UNMAPPED
    assert mapper.route("bms/3/4/zone-01/RM_TEMP") is Rejection.UNMAPPED


def test_scale_and_offset_come_before_the_unit(mapped):
    assert in_si(mapped(MAPPING), "AHU 1 room (x10)", 670.0) == ("zone-02/RM_TEMP", 20.0)


def test_the_unit_a_message_names_prevails(mapped):
    mapper = mapped(MAPPING)
    assert in_si(mapper, "zone-01/FCU_DAT", 20.0, "degC") == ("zone-01/FCU_DAT", 20.0)
    assert mapper.route("zone-01/FCU_DAT", "bar") is Rejection.WRONG_UNIT
    assert "degC | degF | K" in mapper.wrong_units["zone-01/FCU_DAT"]


def test_a_flood_of_names_fills_no_memory():
    mapper = Mapper(points())
    for number in range(3 * NAMES_REMEMBERED):
        mapper.route(f"unknown-{number}" + "x" * 1000)
    assert len(mapper.unmapped) == NAMES_REMEMBERED and not mapper.routes
    assert max(map(len, mapper.unmapped)) <= 200
    for number in range(ROUTES_REMEMBERED + 10):
        mapper.routes["zone-01/RM_TEMP", str(number)] = mapper.route("zone-01/RM_TEMP")
    mapper.route("zone-02/RM_TEMP")
    assert len(mapper.routes) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[map]\n", "not TOML"),
        ("[[maps]]\n", "unknown key 'maps'; did you mean 'map'?"),
        ('[[map]]\ntopic = "a"\npoint = "zone-01/RM_TMP"', "did you mean 'zone-01/RM_TEMP'?"),
        ('[[map]]\ntopic = "a"\ncolumn = "b"', "entry 1: give it exactly one of topic | column"),
        ('[[map]]\ntopic = "a/{zone}"', r"uses {signal}, which 'a/{zone}' does not capture"),
        ('[[map]]\ntopic = "{zone}/{zone}"\npoint = "{zone}"', "one word twice"),
        ('[[map]]\ntopic = "a"\npoint = "zone-01/RM_TEMP"\nunit = "bar"', "'bar' does not fit a point in degC"),
        ('[[map]]\ntopic = "a"\npoint = "zone-01/RM_TEMP"\nscale = 0', "scale 0"),
        ('[[map]]\ntopic = "a"\npoint = "zone-01/RM_TEMP"\nscale = "1"', "must be a number"),
        ("[[map]]\ntopic = 3", "must be a string"),
        ('[[map]]\ntopics = "a"', "did you mean 'topic'?"),
        ('[units]\nRM_TMP = "degF"', "did you mean 'RM_TEMP'?"),
        ('[units]\nRM_TEMP = "W"', "does not fit a point in degC"),
        ("rename = 3", "must be a table"),
    ],
)
def test_a_mapping_that_cannot_work_is_refused_with_what_to_write_instead(mapped, text, message):
    with pytest.raises(ConfigError) as caught:
        mapped(text)
    assert "map.toml" in str(caught.value) and message in str(caught.value)


WORDS = st.sampled_from(
    [
        "map",
        "rename",
        "units",
        "topic",
        "column",
        "point",
        "unit",
        "scale",
        "offset",
        "zone",
        "{zone}/{signal}",
        "RM_TEMP",
    ]
)
VALUES = st.sampled_from(
    ['"{zone}/{signal}"', '"{1}{1a}"', '"zone-01/RM_TEMP"', '"degF"', "1e999", "nan", "0", "[]", "{}"]
)
LINES = st.one_of(
    st.tuples(WORDS, VALUES | st.text(max_size=10)).map(" = ".join),
    WORDS.map("[[{}]]".format),
    WORDS.map("[{}]".format),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=20),
)


@given(st.lists(LINES, max_size=6).map("\n".join))
@example('[[map]]\ntopic = "{1}/{1a}"\npoint = "{1}/{1a}"')  # not a name of a group of a regular expression
@example("map = " + "[" * 2_000)  # nested too deeply
@example('[[map]]\ntopic = "x"\nscale = 1e-320\npoint = "zone-01/RM_TEMP"')
@example("rename = { zone = 7 }")
def test_any_mapping_file_is_read_or_refused(text):
    with TemporaryDirectory() as folder:
        file = Path(folder) / "map.toml"
        file.write_text(text, encoding="utf-8")
        with contextlib.suppress(ConfigError, DataError):
            mapper = Mapper(points(), read_mapping(file, points()))
            for name in ("zone-01/RM_TEMP", "a/b", "x", ""):
                mapper.route(name, "degF")
