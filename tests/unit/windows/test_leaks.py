import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.errors import DataError, LeakError, SchemaError
from graphghha.windows import Fingerprint, Span, check_held_out, check_parts, check_seen, fingerprint

PARTS = {
    "train": [Span("seed 1", 0, 100), Span("seed 1", 300, 400)],
    "validation": [Span("seed 1", 100, 200)],
    "test": [Span("seed 1", 200, 300), Span("seed 2", 0, 50)],
}
CLEAN = Fingerprint((Span("seed 1", 0, 100),), "ab" * 32)
spans = st.builds(
    lambda source, start, length: Span(source, start, start + length),
    st.sampled_from(["x", "y"]),
    st.integers(0, 30),
    st.integers(1, 8),
)


def test_clean_parts_fits_and_cases_pass():
    check_parts(PARTS)
    check_seen("scaler", CLEAN, PARTS["test"], ["ef" * 32])
    check_held_out("cases", ["leak_50"], ["leak_20"])


def test_parts_that_share_rows_fail_with_the_rows():
    with pytest.raises(LeakError, match="windows of validation and train overlap"):
        check_parts(PARTS | {"train": [Span("seed 1", 150, 201)]})


@pytest.mark.parametrize(
    ("what", "seen", "words"),
    [
        ("scaler", Fingerprint((Span("seed 1", 0, 250),), ""), "scaler was fitted on test data"),
        ("threshold", Fingerprint((Span("seed 2", 49, 60),), ""), "threshold was fitted on test data"),
        ("scaler", Fingerprint((Span("copy", 0, 9),), "ef" * 32), "digest efef"),
    ],
    ids=["scaler-span", "threshold-span", "scaler-digest"],
)
def test_a_fit_on_test_data_fails_with_its_proof(what, seen, words):
    with pytest.raises(LeakError, match=words):
        check_seen(what, seen, PARTS["test"], ["ef" * 32])


def test_a_held_out_case_in_training_fails_by_name():
    with pytest.raises(LeakError, match="held-out cases in training: leak_20"):
        check_held_out("cases", ["leak_20", "leak_50"], ["leak_20"])


@given(st.dictionaries(st.sampled_from(["train", "validation", "test"]), st.lists(spans, max_size=5)))
def test_overlap_is_found_exactly_when_two_parts_share_a_row(parts):
    rows = {part: {(s.source, row) for s in owned for row in range(s.start, s.stop)} for part, owned in parts.items()}
    shared = any(rows[a] & rows[b] for a in rows for b in rows if a < b)
    if shared:
        with pytest.raises(LeakError):
            check_parts(parts)
    else:
        check_parts(parts)


def test_a_short_span_does_not_hide_a_long_one_before_it():
    with pytest.raises(LeakError, match="rows 0 to 100"):
        check_parts({"train": [Span("x", 0, 100), Span("x", 10, 20)], "test": [Span("x", 50, 60)]})


def test_a_leak_is_a_data_error():
    assert issubclass(LeakError, DataError) and LeakError.exit_code == 3


def test_names_seen_nowhere_are_no_leak():
    check_held_out("cases", ["a"], [])
    check_seen("scaler", CLEAN, [])


def test_a_fingerprint_knows_values_not_memory():
    values = np.arange(12.0).reshape(3, 4)
    one = fingerprint([Span("x", 0, 3)], values)
    assert fingerprint([Span("x", 0, 3)], np.asfortranarray(values)) == one
    assert fingerprint([Span("x", 0, 3)], values.astype(">f8")) == one
    assert fingerprint([Span("x", 0, 3)], values.reshape(4, 3)).digest != one.digest
    assert fingerprint([], np.zeros((0, 2))).digest != fingerprint([], np.zeros((2, 0))).digest
    assert Fingerprint.from_dict(one.to_dict()) == one


@pytest.mark.parametrize("rows", [(3, 3), (-1, 2), (5, 4)], ids=["empty", "negative", "backwards"])
def test_a_span_must_be_a_range(rows):
    with pytest.raises(SchemaError, match="not a range"):
        Span("x", *rows)
