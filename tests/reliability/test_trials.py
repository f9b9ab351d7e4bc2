"""Rows of trials that were measured one by one are merged into one result."""

import json
from pathlib import Path

from faults.aims import summarize_aims
from faults.effort import FULL, QUICK
from faults.kill import is_in_backlog
from faults.rig import TOY_RIG
from faults.trials import TRIALS, merge_earlier, run


def test_trials_that_ran_again_replace_their_rows_only():
    first, then = (run(TOY_RIG, QUICK, only=[name]) for name in ("flood", "disorder"))
    earlier = json.loads(json.dumps(first))
    both = merge_earlier(then, earlier)
    assert both["rows"] == [*then["rows"], *first["rows"]], "in the order of the trials"
    assert merge_earlier(then, json.loads(json.dumps(both)))["rows"] == both["rows"]


def test_rows_of_another_effort_are_not_mixed_in():
    result = run(TOY_RIG, QUICK, only=["flood"])
    assert merge_earlier(result, {**result, "config": {**result["config"], "kills": FULL.kills}}) == result


def test_the_aims_stand_beside_what_was_measured_and_name_rows_that_exist():
    result = run(TOY_RIG, QUICK, only=["clocks"])
    first, *others = summarize_aims(result["rows"])
    assert first["measured"] == "; ".join(["11 of 11"] * 7) and first["holds"]
    assert {aim["measured"] for aim in others} == {"not measured"}
    assert {aim["holds"] for aim in others} == {None}


def test_every_trial_has_a_short_form_here():
    elsewhere = {"kernel"}  # the trial runs the test that stands beside the kernel
    texts = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    known = {name for name, trial in TRIALS.items() if trial.__name__ in texts or f'only=["{name}"]' in texts}
    assert TRIALS.keys() - known - elsewhere == set()


def test_four_of_ten_kills_hit_a_backlog():
    assert sum(is_in_backlog(number) for number in range(1, FULL.kills + 1)) == 40
