import pytest

from graphghha.errors import ConfigError
from graphghha.lab.training import Recipe, parse_budget, train_network


def test_an_impossible_network_is_refused_before_anything_is_simulated(tmp_path):
    with pytest.raises(ConfigError, match="nonsense"):
        train_network(Recipe(adu={"layer": "nonsense"}), tmp_path, progress=pytest.fail, on_step=pytest.fail)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["1", "0/day", "-1/day", "one/day", "1/hour"])
def test_a_budget_is_a_positive_number_per_day(text):
    assert parse_budget("0.5/day") == 0.5
    with pytest.raises(ConfigError, match="per day"):
        parse_budget(text)
