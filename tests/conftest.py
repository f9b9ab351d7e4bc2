"""Shared fixtures; shapes in `graphghha.nn` are checked at run time in every test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

from checks import unchecked_shapes

with install_import_hook("graphghha.nn", "beartype.beartype"):
    import graphghha.nn  # noqa: F401


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
