"""Rows of trials that were measured one by one are merged into one result."""

import json

from faults.effort import FULL, QUICK
from faults.rig import TOY_RIG
from faults.trials import merge_earlier, run


def test_trials_that_ran_again_replace_their_rows_only():
    first, then = (run(TOY_RIG, QUICK, only=[name]) for name in ("flood", "disorder"))
    earlier = json.loads(json.dumps(first))
    both = merge_earlier(then, earlier)
    assert both["rows"] == [*then["rows"], *first["rows"]], "in the order of the trials"
    assert merge_earlier(then, json.loads(json.dumps(both)))["rows"] == both["rows"]


def test_rows_of_another_effort_are_not_mixed_in():
    result = run(TOY_RIG, QUICK, only=["flood"])
    assert merge_earlier(result, {**result, "config": {**result["config"], "kills": FULL.kills}}) == result
