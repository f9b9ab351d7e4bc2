import pytest

from graphghha._util.lazy import lazy_names

load = lazy_names("graphghha._util", {"iso": "times"})


def test_a_name_is_imported_from_its_module():
    assert load("iso")(0) == "1970-01-01T00:00:00Z"


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match=r"module 'graphghha\._util' has no attribute 'isso'"):
        load("isso")
