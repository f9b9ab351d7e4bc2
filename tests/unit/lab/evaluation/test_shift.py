import json

import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.errors import ConfigError, NotFoundError
from graphghha.lab.evaluation.shift import ShiftConfig, shift_rows
from graphghha.lab.runs.run import Schedule
from graphghha.models import load_model, shipped_model

FIELDS = {
    *("condition", "commissioned", "false_alarms_per_day", "quiet_false_alarms_per_day"),
    *("event_recall", "hit_at_1", "precision", "events", "days"),
}


@pytest.fixture(scope="module")
def model():
    return load_model(shipped_model("fcu"))


@pytest.mark.slow
def test_a_condition_is_judged_by_the_monitors_own_alarm_logic(model):
    """The network learned one water temperature: warmer water is a false alarm to it, the reference is not."""
    often = Schedule(mean_gap_days=0.1, shortest_min=120, longest_min=300, lasting_share=0.0, rest_min=60)
    config = ShiftConfig(days=1, zones=3, conditions=("reference", "chilled-water-10"), schedule=often)
    rows = shift_rows(model, config)
    reference, warm = rows
    assert all(set(row) == FIELDS and row["days"] == 2 and not row["commissioned"] for row in rows)
    assert reference["quiet_false_alarms_per_day"] < warm["quiet_false_alarms_per_day"]
    assert reference["condition"] == "reference" and reference["events"] > 2 and reference["event_recall"] > 0.3


def test_unknown_conditions_and_empty_sizes_are_refused(model):
    with pytest.raises(NotFoundError, match="no condition is named 'mars'"):
        shift_rows(model, ShiftConfig(conditions=("mars",)))
    with pytest.raises(ConfigError, match="at least 1"):
        ShiftConfig(days=0)


@pytest.mark.slow
def test_the_command_prints_one_object_and_its_page_has_a_row_per_condition(tmp_path):
    out = tmp_path / "shift.json"
    options = ["--quick", "--condition", "cov", "--json", "--out", str(out)]
    result = CliRunner().invoke(main, ["bench", "shift", *options])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["bench"] == "shift" and [row["condition"] for row in printed["rows"]] == ["cov"]
    page = CliRunner().invoke(main, ["bench", "page", str(out), "--out", str(tmp_path)])
    assert page.exit_code == 0, page.output
    assert "| cov |" in (tmp_path / "shift.md").read_text(encoding="utf-8")
