from pathlib import Path

import pytest

from checks import unchecked_shapes
from engine_builders import model, plant
from graphghha.nn import save_adu
from graphghha.nn.onnx import export_onnx


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model directory with its ONNX form, of `model(plant(40))`: exporting takes seconds, so once."""
    directory = tmp_path_factory.mktemp("model")
    adu = model(plant(40))
    save_adu(adu, directory)
    with unchecked_shapes():
        export_onnx(adu, directory / "model.onnx")
    return directory


@pytest.fixture(scope="session", autouse=True)
def kernel_cache(tmp_path_factory: pytest.TempPathFactory):
    """Kernels of the tests are compiled once per session, away from the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel cache with nothing in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "graphghha" / "kernels"
