import pytest

from web_builders import Building


@pytest.fixture(scope="module")
def building(tmp_path_factory):
    with Building(tmp_path_factory.mktemp("building")) as made:
        yield made


@pytest.fixture
def own_building(tmp_path):
    with Building(tmp_path) as made:
        yield made
