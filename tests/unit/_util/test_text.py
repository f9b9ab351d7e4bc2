"""Text from strangers: nothing that acts on a terminal remains, and JSON loses nothing."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from graphghha._util.text import clean, encodable, safe_json

UNSAFE = "\x1b]0;title\x07\x1b[2J\x9b31m\u202egnp.exe\u2066\u2028\x00\x7f\ufeff\udcff"


def is_safe(text, allowed=""):
    return not any(
        (ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u061c\u200e\u200f\u2028\u2029\ufeff")
        or "\u202a" <= c <= "\u202e"
        or "\u2066" <= c <= "\u2069"
        or "\ud800" <= c <= "\udfff"
        for c in text
        if c not in allowed
    )


@given(st.text(st.characters(exclude_categories=())))
@example(UNSAFE)
def test_no_character_that_acts_on_a_terminal_remains(text):
    assert is_safe(clean(text))
    assert is_safe(clean(text, keep_newlines=True), "\n")
    assert is_safe(safe_json({text: [text]}))
    encodable(text).encode()


@given(st.recursive(st.text(st.characters(exclude_categories=())) | st.integers(), st.lists))
@example(UNSAFE)
def test_json_holds_all_that_was_in_it(data):
    assert json.loads(safe_json(data)) == data


def test_letters_that_are_read_from_right_to_left_stay():
    assert clean("غرفة 7 °C") == "غرفة 7 °C"
    assert clean("x" * 10, 5) == "xxxx…"
