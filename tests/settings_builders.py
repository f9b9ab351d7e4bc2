"""A small settings file, and what is wrong with one."""

from pathlib import Path

import pytest

from graphghha.errors import ConfigError
from graphghha.settings import read_settings

SITE = '[[site]]\nname = "north"\nsource = "mqtt://broker/plant"\nzones = 2\n'


def problems(path: Path) -> list[str]:
    """The problems for which a file is refused, each without the path it begins with."""
    with pytest.raises(ConfigError) as caught:
        read_settings(path)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines)
    return [line.removeprefix(f"{path}: ") for line in lines]
