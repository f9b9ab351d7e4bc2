"""Patterns of names agree with the regular expressions that define them; hostile names cost no more."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from graphghha.sources.patterns import NamePattern, fill_in, placeholders

TEXTS = st.text("ab./", max_size=3)


@st.composite
def patterns(draw):
    texts = draw(st.lists(TEXTS, min_size=1, max_size=4))
    return "".join(text + (f"{{w{at}}}" if at < len(texts) - 1 else "") for at, text in enumerate(texts))


def slow_match(pattern, name):
    """The same by a regular expression, whose words take as much as they can from left to right."""
    parts = re.split(r"\{(\w+)\}", pattern)
    expression = "".join(f"(?P<{part}>[^/]+)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
    match = re.fullmatch(expression, name, re.DOTALL)
    return None if match is None else match.groupdict()


@given(patterns(), st.text("ab./\n", max_size=12))
@example("bms/{w0}.{w1}", "bms/zone-01.RM.TEMP")
@example("{w0}{w1}", "ab")
@example("{w0}..{w1}", "a...b")
def test_words_are_those_of_a_regular_expression(pattern, name):
    assert NamePattern(pattern).match(name) == slow_match(pattern, name)


def test_a_name_made_to_be_tried_in_every_way_is_answered():
    """With a regular expression this would take hours."""
    assert NamePattern("bms/{a}.{b}.{c}.{d}").match("bms/" + "." * 900_000 + "/") is None
    assert NamePattern("{a}ab{b}ab{c}").match("ab" * 100_000) is not None


def test_words_may_have_names_that_no_regular_expression_allows():
    assert NamePattern("x{1}y{1a}").match("x2y3") == {"1": "2", "1a": "3"}
    assert fill_in("{1}/{1a}", {"1": "a", "1a": "b"}) == "a/b" and placeholders("{1}/{}") == ["1"]
