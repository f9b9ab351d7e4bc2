"""What is kept on disk is taken up by a run of the same settings only."""

import pytest

from graphghha.errors import ConfigError
from graphghha.lab.training.cache import same_as_before, whole


def test_stages_of_other_settings_are_refused_by_name(tmp_path):
    file = tmp_path / "recipe.json"
    same_as_before(file, {"seed": 0, "days": (1, 2)})
    same_as_before(file, {"days": [1, 2], "seed": 0})
    with pytest.raises(ConfigError, match=r"other settings \(seed\)"):
        same_as_before(file, {"seed": 1, "days": (1, 2)})
    same_as_before(file, {"seed": 0, "days": (1, 2)})


def test_what_is_not_finished_does_not_look_finished(tmp_path):
    file = tmp_path / "scores.json"
    with pytest.raises(RuntimeError), whole(file) as fresh:
        fresh.write_text("{")
        raise RuntimeError("killed")
    assert not file.exists()
    with whole(file) as fresh:
        fresh.write_text("{}")
    assert [path.name for path in tmp_path.iterdir()] == ["scores.json"]
