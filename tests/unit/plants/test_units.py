import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.errors import SchemaError
from graphghha.plants.units import QUANTITIES, canonical, conversion

PAIRS = [(unit, wanted) for units in QUANTITIES.values() for unit in units for wanted in [next(iter(units))]]


@pytest.mark.parametrize(
    ("value", "unit", "wanted", "expected"),
    [
        (68.0, "degF", "degC", 20.0),
        (293.15, "K", "degC", 20.0),
        (100.0, "CFM", "L/s", 47.194745),
        (10.0, "GPM", "L/s", 0.630902),
        (0.5, "m3/s", "L/s", 500.0),
        (1.0, "inH2O", "Pa", 249.08891),
        (12000.0, "Btu/h", "W", 3516.85284),
        (40.0, "%", "fraction", 0.4),
        (40.0, "%", "%RH", 40.0),
        (0.4, "fraction", "%RH", 40.0),
        (900.0, "rpm", "rev/s", 15.0),
        (20.0, "degC", "degF", 68.0),
    ],
)
def test_a_value_is_converted_as_the_handbooks_say(value, unit, wanted, expected):
    shift, scale = conversion(unit, wanted)
    assert (value - shift) * scale == pytest.approx(expected)


@given(st.sampled_from(PAIRS), st.floats(-1e6, 1e6))
def test_there_and_back_is_where_it_began(pair, value):
    unit, wanted = pair
    (shift, scale), (back_shift, back_scale) = conversion(unit, wanted), conversion(wanted, unit)
    assert ((value - shift) * scale - back_shift) * back_scale == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("spelling", ["\N{DEGREE SIGN}F", "deg F", "DEGF", "degrees-fahrenheit", " f "])
def test_other_spellings_are_understood(spelling):
    assert canonical(spelling) == "degF"


def test_a_unit_of_another_quantity_is_refused_with_the_ones_that_fit():
    with pytest.raises(SchemaError, match=r"'bar' does not fit a point in degC; use degC \| degF \| K"):
        conversion("bar", "degC")
