import pytest

from graphghha._util.fields import check_fields, number, whole_number


def test_numbers_pass_and_keep_their_value():
    assert number("x", 3) == 3.0 and isinstance(number("x", 3), float)
    assert whole_number("n", -2) == -2


@pytest.mark.parametrize("value", [None, True, "1", float("nan"), float("inf"), [1]])
def test_what_is_not_a_finite_number_is_named(value):
    with pytest.raises(ValueError, match="x must be a finite number"):
        number("x", value)


@pytest.mark.parametrize("value", [None, False, "1", 1.0])
def test_what_is_not_a_whole_number_is_named(value):
    with pytest.raises(ValueError, match="n must be a whole number"):
        whole_number("n", value)


def test_fields_must_be_the_expected_ones():
    check_fields({"a": 1}, ["a"])
    for data, message in (([], "expected an object, got list"), ({}, "'a' is missing"), ({"a": 1, "b": 2}, "'b'")):
        with pytest.raises(ValueError, match=message):
            check_fields(data, ["a"])
