import pytest

from attack_runs import SEASONS, Season, run


@pytest.fixture(scope="session")
def seasons() -> dict[str, Season]:
    return {name: run(name) for name in SEASONS}
