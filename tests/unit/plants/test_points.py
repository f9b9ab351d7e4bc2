import pytest

from graphghha.errors import ConfigError, NotFoundError
from graphghha.plants import Points, load_plant

PLANT = load_plant("fcu")


def test_points_that_the_plant_does_not_have_are_refused():
    with pytest.raises(NotFoundError, match="did you mean 'RM_TEMP'"):
        Points.from_names(PLANT, ["zone-01/RM_TMEP"])
    with pytest.raises(NotFoundError, match="node 'Air_path' of plant 'fcu' has no signal"):
        Points.from_names(PLANT, ["zone-01/Air_path"])
    with pytest.raises(ConfigError, match="each name only once"):
        Points.from_names(PLANT, ["zone-01/RM_TEMP"] * 2)
