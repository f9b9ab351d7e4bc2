"""Trials measured one by one end up in one file."""

import json

from faults.effort import FULL, QUICK
from faults.rig import PLAIN_RIG
from faults.trials import run, with_earlier


def test_some_trials_renew_their_rows_and_leave_the_others():
    first, then = (run(PLAIN_RIG, QUICK, only=[name]) for name in ("flood", "disorder"))
    earlier = json.loads(json.dumps(first))
    both = with_earlier(then, earlier)
    assert both["rows"] == [*then["rows"], *first["rows"]], "in the order of the trials"
    assert with_earlier(then, json.loads(json.dumps(both)))["rows"] == both["rows"]


def test_rows_of_another_effort_are_not_mixed_in():
    result = run(PLAIN_RIG, QUICK, only=["flood"])
    assert with_earlier(result, {**result, "config": {**result["config"], "kills": FULL.kills}}) == result
