"""The wheel holds the package and nothing else: fault injection and tests stay in the checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMPORT_FROM_WHEEL = """
import sys
sys.path.insert(0, sys.argv[1])
import graphghha, graphghha.cli, graphghha.monitor
from importlib.util import find_spec
assert graphghha.__file__.startswith(sys.argv[1]), graphghha.__file__
assert find_spec("faults") is None
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("graphghha-*.whl")
    return path


def test_the_wheel_holds_the_package_and_its_metadata_only(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"graphghha"}
    assert not [name for name in names if "faults" in name or "broker" in name or "test_" in name]
    assert "graphghha/cli/__init__.py" in names and "graphghha/py.typed" in names


def test_the_package_imports_from_the_wheel_alone(wheel, tmp_path):
    command = [sys.executable, "-I", "-c", IMPORT_FROM_WHEEL, str(wheel)]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
