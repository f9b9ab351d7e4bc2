"""Intermediate results are used again by a run of the same settings only."""

import json

import pytest

from graphghha.errors import ConfigError, DataError
from graphghha.lab.training import check_settings, reading


def test_other_settings_are_refused_by_name(tmp_path):
    file = tmp_path / "recipe.json"
    check_settings(file, {"seed": 0, "days": (1, 2)})
    check_settings(file, {"days": [1, 2], "seed": 0})
    with pytest.raises(ConfigError, match=r"other settings \(seed\)"):
        check_settings(file, {"seed": 1, "days": (1, 2)})
    check_settings(file, {"seed": 0, "days": (1, 2)})


def test_a_damaged_file_is_named_with_its_damage(tmp_path):
    file = tmp_path / "scaler.json"
    file.write_text("{")
    with pytest.raises(DataError, match="scaler.json: is damaged .*delete it"), reading(file):
        json.loads(file.read_text())
