import pytest

from graphghha.errors import ConfigError
from graphghha.lab.training import Validation


def test_an_alert_budget_gets_the_days_it_needs():
    few = Validation(attacked_runs=0, normal_runs=1, normal_days=4)
    assert few.scored_days == 1 and few.enough_for(2.0) == few
    assert few.enough_for(0.2).scored_days == 5
    assert Validation().enough_for(0.2) == Validation()
    with pytest.raises(ConfigError, match="first 3 days"):
        Validation(normal_days=3)
