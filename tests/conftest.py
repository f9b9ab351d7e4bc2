"""Shared fixtures; shapes in `graphghha.nn` are checked at run time in every test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

from checks import unchecked_shapes
from faults.broker import BINARY, Broker

# A busy machine, or a function that is compiled at its first call, must not fail a test.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")

with install_import_hook("graphghha.nn", "beartype.beartype"):
    import graphghha.nn  # noqa: F401


SLOW_FOLDERS = ("e2e", "reliability")  # whole commands, real brokers, real kills


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of the slow folders; elsewhere slow tests carry the mark themselves."""
    for item in items:
        if item.path.relative_to(Path(__file__).parent).parts[0] in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The real data of others, which is never part of this repository."""
    folder = os.environ.get("GRAPHGHHA_DATA")
    if folder:
        return Path(folder)
    if os.environ.get("CI"):
        pytest.fail("GRAPHGHHA_DATA is not set: in CI no test may skip")
    pytest.skip("needs the real data: set GRAPHGHHA_DATA to the folder that holds lbnl_fcu/")


@pytest.fixture
def unchecked() -> Iterator[None]:
    """As users run it, without run-time shape checks: bad input must meet our own errors."""
    with unchecked_shapes():
        yield


@pytest.fixture(scope="session")
def mosquitto() -> str:
    """The path of the broker the tests run against; no stand-in will do."""
    if BINARY:
        return BINARY
    if os.environ.get("CI"):
        pytest.fail("mosquitto is missing: in CI no test may skip (Debian: apt-get install mosquitto)")
    pytest.skip("needs a real broker: install mosquitto (Debian: apt-get install mosquitto)")


@pytest.fixture
def broker(mosquitto: str, tmp_path: Path) -> Iterator[Broker]:
    """A broker of the test's own."""
    running = Broker(tmp_path)
    yield running
    running.stop()
