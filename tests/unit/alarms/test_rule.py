import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.alarms import NONE, AlarmRule, AlarmState, advance
from graphghha.errors import ConfigError

RULE = AlarmRule(raise_at=0.9, clear_at=0.5, votes=3, window=5, clear_after=2)
NAN = math.nan

levels = st.sampled_from([0.0, 0.49, 0.5, 0.7, 0.89, 0.9, 1.0, NAN, math.inf, -math.inf])
rules = st.builds(
    lambda window, votes, clear_after: AlarmRule(
        raise_at=0.9, clear_at=0.5, votes=min(votes, window), window=window, clear_after=clear_after
    ),
    st.sampled_from([1, 2, 3, 5, 64]),
    st.integers(1, 6),
    st.integers(1, 4),
)


def run(probs, rule=RULE):
    """One node through the rule; returns what happened at which step, and the last state."""
    state, seen = AlarmState.start(), []
    for step, prob in enumerate(probs):
        state, transitions = advance(state, prob, rule)
        seen += [(step, name) for name in ("raised", "cleared") if getattr(transitions, name)]
    return seen, state


class Reference:
    """The rule as one would tell it, for one node: a list of known readings and three counters."""

    def __init__(self, rule):
        self.rule, self.active, self.heard, self.quiet, self.silent = rule, False, [], 0, 1

    def feed(self, prob):
        before = self.active
        if not math.isfinite(prob):
            self.silent, self.quiet = self.silent + 1, 0
            if self.silent >= self.rule.window:
                self.heard = []
            return None
        self.silent = 0
        self.heard = [*self.heard, prob][-self.rule.window :]
        if self.active:
            self.quiet = self.quiet + 1 if prob < self.rule.clear_at else 0
            if self.quiet >= self.rule.clear_after:
                self.active, self.quiet, self.heard = False, 0, []
        else:
            self.active = sum(p >= self.rule.raise_at for p in self.heard) >= self.rule.votes
        return None if self.active == before else "raised" if self.active else "cleared"


@given(st.lists(levels, max_size=80), rules)
def test_it_does_what_the_reference_does(probs, rule):
    reference, state = Reference(rule), AlarmState.start()
    for prob in probs:
        expected = reference.feed(prob)
        state, transitions = advance(state, prob, rule)
        assert (bool(transitions.raised), bool(transitions.cleared)) == (expected == "raised", expected == "cleared")
        assert bool(state.active) == reference.active
        assert bool(state.unknown) == (not math.isfinite(prob))
        assert int(state.silent) == reference.silent


@given(st.lists(st.lists(levels, min_size=4, max_size=4), max_size=30), rules)
def test_many_nodes_at_once_are_each_node_alone(rows, rule):
    together, alone = AlarmState.start(4), [AlarmState.start() for _ in range(4)]
    for row in rows:
        together, transitions = advance(together, row, rule)
        for node, prob in enumerate(row):
            alone[node], own = advance(alone[node], prob, rule)
            for name in ("raised", "cleared", "lost", "regained"):
                assert bool(getattr(transitions, name)[node]) == bool(getattr(own, name))
            for name in ("active", "votes", "quiet", "silent", "onset"):
                assert getattr(together, name)[node] == getattr(alone[node], name)


@pytest.mark.parametrize(
    ("probs", "expected"),
    [
        pytest.param([0.95] * 3, [(2, "raised")], id="three-votes-raise"),
        pytest.param([0.95, 0.1, 0.95, 0.1, 0.95], [(4, "raised")], id="three-of-five-raise"),
        pytest.param([0.95, 0.1, 0.1, 0.95, 0.1, 0.95], [], id="three-of-six-do-not"),
        pytest.param([0.95] * 3 + [0.7] * 20, [(2, "raised")], id="between-the-thresholds-holds"),
        pytest.param([0.95] * 3 + [0.1] * 2, [(2, "raised"), (4, "cleared")], id="two-low-clear"),
        pytest.param([0.95] * 3 + [0.1, 0.6, 0.1], [(2, "raised")], id="a-rise-restarts-the-off-delay"),
        pytest.param([0.95] * 3 + [0.1, NAN, 0.1], [(2, "raised")], id="unknown-restarts-the-off-delay"),
        pytest.param([0.95] * 3 + [NAN] * 50, [(2, "raised")], id="unknown-never-clears"),
        pytest.param([0.95, NAN, 0.95, NAN, NAN, NAN, 0.95], [(6, "raised")], id="votes-wait-while-unknown"),
        pytest.param([0.95, 0.95, *[NAN] * 5, 0.95], [], id="votes-are-forgotten-after-a-window-of-unknown"),
        pytest.param([0.95] * 3 + [0.1] * 2 + [0.95] * 2, [(2, "raised"), (4, "cleared")], id="on-delay-starts-anew"),
    ],
)
def test_alarms_change_only_on_enough_known_readings(probs, expected):
    assert run(probs)[0] == expected


def test_a_node_is_unknown_until_the_first_reading_and_shows_when_it_is_lost_and_regained():
    state = AlarmState.start(2)
    assert state.unknown.all()
    state, first = advance(state, [0.1, NAN], RULE)
    assert (first.regained.tolist(), first.lost.tolist(), state.unknown.tolist()) == (
        [True, False],
        [False] * 2,
        [False, True],
    )
    state, second = advance(state, [NAN, NAN], RULE)
    assert (second.lost.tolist(), bool(second)) == ([True, False], True)
    _, third = advance(state, [NAN, NAN], RULE)
    assert not third


def test_an_alarm_knows_when_its_evidence_began():
    _, state = run([0.1, 0.95, 0.1, 0.95, 0.95, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7])
    assert (bool(state.active), int(state.onset)) == (True, 1)
    _, state = run([0.1, 0.95, 0.1, 0.1, 0.1, 0.1, 0.1, 0.95])
    assert int(state.onset) == 7
    _, state = run([0.95] * 3 + [0.1] * 2)
    assert int(state.onset) == NONE


def test_a_probability_swinging_round_the_threshold_raises_once():
    seen, _ = run([0.89, 0.91] * 200)
    assert [name for _, name in seen] == ["raised"]


def test_the_state_fed_is_left_as_it_was():
    state, _ = advance(AlarmState.start(1), [0.95], RULE)
    votes = state.votes.copy()
    advance(state, [0.95], RULE)
    assert (state.votes == votes).all() and state.step == 1


@given(st.lists(st.floats(0, 1), max_size=60), st.floats(0.6, 0.95))
def test_a_lower_raise_threshold_never_raises_later(probs, raise_at):
    first = {
        at: next((step for step, name in run(probs, AlarmRule(raise_at=at, clear_at=0.1))[0]), 99)
        for at in (raise_at, raise_at - 0.05)
    }
    assert first[raise_at - 0.05] <= first[raise_at]


def test_several_thresholds_can_run_side_by_side():
    state, probs = AlarmState.start((2, 3)), np.array([0.95, 0.2, 0.95])
    for _ in range(3):
        state, _ = advance(state, np.broadcast_to(probs, (2, 3)), RULE)
    assert state.active.tolist() == [[True, False, True]] * 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"raise_at": 1.1}, "raise_at"),
        ({"raise_at": NAN}, "raise_at"),
        ({"clear_at": 0.9}, "below raise_at"),
        ({"clear_at": 0.0}, "clear_at"),
        ({"votes": 6}, "votes"),
        ({"votes": 0}, "votes"),
        ({"window": 65}, "window"),
        ({"clear_after": 0}, "clear_after"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, *value.items())),
)
def test_impossible_rules_are_refused(change, words):
    with pytest.raises(ConfigError, match=words):
        AlarmRule(**change)
