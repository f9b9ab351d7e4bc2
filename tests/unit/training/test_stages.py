"""What is kept on disk is taken up by a run of the same settings only."""

import pytest

from graphghha.errors import ConfigError
from graphghha.training.stages import same_as_before


def test_stages_of_other_settings_are_refused_by_name(tmp_path):
    file = tmp_path / "recipe.json"
    same_as_before(file, {"seed": 0, "days": (1, 2)})
    same_as_before(file, {"days": [1, 2], "seed": 0})
    with pytest.raises(ConfigError, match=r"other settings \(seed\)"):
        same_as_before(file, {"seed": 1, "days": (1, 2)})
    same_as_before(file, {"seed": 0, "days": (1, 2)})
