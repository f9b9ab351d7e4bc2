import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics as sk

from graphghha.errors import DataError, SchemaError
from graphghha.lab.metrics.classification import (
    Scores,
    average_precision,
    balanced_scores,
    binary_scores,
    class_scores,
    confusion,
    detection,
    macro_over_cases,
    thin_pr_curve,
)

labels = hnp.arrays(np.int64, st.integers(1, 40), elements=st.integers(0, 3))
# few distinct values: ties are where curves go wrong
scores = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5000001, 0.9, 1.0])


@given(labels, st.data(), st.sampled_from([0.0, 1.0]))
def test_scores_per_class_are_those_of_scikit_learn(truth, draw, zero_division):
    predicted = draw.draw(hnp.arrays(np.int64, len(truth), elements=st.integers(0, 3)))
    ours = class_scores(confusion(truth, predicted, 4), zero_division=zero_division)
    theirs = sk.precision_recall_fscore_support(truth, predicted, labels=range(4), zero_division=zero_division)
    for mine, other in zip((ours.p, ours.r, ours.f1, ours.support), theirs, strict=True):
        np.testing.assert_allclose(mine, other)
    macro = sk.precision_recall_fscore_support(
        truth, predicted, labels=range(4), average="macro", zero_division=zero_division
    )
    np.testing.assert_allclose([ours.macro().p, ours.macro().r, ours.macro().f1], macro[:3])


@given(labels, st.data())
def test_binary_scores_are_those_of_scikit_learn(truth, draw):
    alarmed = draw.draw(hnp.arrays(np.bool_, len(truth)))
    ours = binary_scores(truth > 0, alarmed, zero_division=0.0)
    theirs = sk.precision_recall_fscore_support(truth > 0, alarmed, average="binary", zero_division=0.0)
    assert (ours.p, ours.r, ours.f1) == pytest.approx(theirs[:3])


@given(hnp.arrays(np.bool_, st.integers(1, 60)).filter(lambda a: a.any()), st.data())
def test_average_precision_is_that_of_scikit_learn(truth, draw):
    score = draw.draw(hnp.arrays(np.float64, len(truth), elements=scores))
    assert average_precision(truth, score) == pytest.approx(sk.average_precision_score(truth, score))


def test_the_thin_curve_lies_on_the_curve_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth = rng.random(5000) < 0.2
    score = rng.normal(truth, 1.0)
    precision, recall, thresholds = thin_pr_curve(truth, score, points=50)
    theirs = sk.precision_recall_curve(truth, score)
    at = np.searchsorted(theirs[2], thresholds)
    np.testing.assert_allclose(precision, theirs[0][at])
    np.testing.assert_allclose(recall, theirs[1][at])
    assert len(recall) == 50 and recall[-1] == 1 and np.diff(recall).max() < 0.03


@given(hnp.arrays(np.bool_, st.integers(1, 60)).filter(lambda a: a.any()), st.data(), st.randoms(use_true_random=False))
def test_average_precision_knows_only_the_order_of_scores(truth, draw, random):
    score = draw.draw(hnp.arrays(np.float64, len(truth), elements=scores))
    shuffled = list(range(len(truth)))
    random.shuffle(shuffled)
    expected = average_precision(truth, score)
    assert average_precision(truth[shuffled], score[shuffled]) == pytest.approx(expected)
    assert average_precision(truth, np.sqrt(score) * 3 - 7) == pytest.approx(expected)


@given(labels, st.permutations(range(4)), st.data())
def test_renaming_classes_renames_their_scores(truth, names, draw):
    predicted = draw.draw(hnp.arrays(np.int64, len(truth), elements=st.integers(0, 3)))
    names = np.array(names)
    plain = class_scores(confusion(truth, predicted, 4), zero_division=0.0)
    renamed = class_scores(confusion(names[truth], names[predicted], 4), zero_division=0.0)
    np.testing.assert_allclose(renamed.f1[names], plain.f1)


def test_unknown_scores_rank_last():
    truth = np.array([True, False, True])
    assert average_precision(truth, np.array([0.9, 0.5, np.nan])) == pytest.approx(0.5 + 0.5 * 2 / 3)
    assert average_precision(truth, np.array([0.9, np.nan, np.nan])) == pytest.approx(0.5 + 0.5 * 2 / 3)


def test_unknown_predictions_are_misses_and_never_false():
    counts = confusion(np.array([0, 1, 1, 2]), np.array([-1, -1, 1, 2]), 3)
    result = class_scores(counts, zero_division=0.0)
    assert result.p.tolist() == [0.0, 1.0, 1.0]
    assert result.r.tolist() == [0.0, 0.5, 1.0]


def test_undefined_classes_can_be_left_out_of_the_macro_mean():
    counts = confusion(np.array([0, 1]), np.array([0, 1]), 4)
    assert class_scores(counts, zero_division=np.nan).macro().f1 == 1.0
    assert class_scores(counts, zero_division=0.0).macro().f1 == 0.5
    assert class_scores(counts, zero_division=0.0).macro([1, 2]).f1 == 0.5
    assert np.isnan(class_scores(counts, zero_division=np.nan).macro([2, 3]).f1)


def marks(**kinds: int) -> tuple[np.ndarray, ...]:
    """(truth, alarmed, observable, recovering) with so many node-minutes of each kind."""
    rows = {
        "hit": (True, True, True, False),
        "missed": (True, False, True, False),
        "hidden": (True, False, False, False),
        "hidden_hit": (True, True, False, False),
        "false": (False, True, False, False),
        "normal": (False, False, False, False),
        "recovering": (False, False, False, True),
        "recovering_alarmed": (False, True, False, True),
        "attacked_again": (True, True, True, True),
    }
    table = np.array([rows[kind] for kind, count in kinds.items() for _ in range(count)])
    return tuple(table.T)


def test_unobservable_minutes_leave_f1_but_not_f1_raw():
    result = detection(*marks(hit=8, missed=2, hidden=10, false=2, normal=100))
    assert result.scores == Scores(0.8, 0.8, pytest.approx(0.8))
    assert result.raw == Scores(0.8, 0.4, pytest.approx(16 / 30))
    assert result.f1_ceiling == pytest.approx(2 * 10 / (10 + 20))
    assert (result.unobservable, result.prevalence) == (10, pytest.approx(20 / 122))


def test_recovery_counts_apart():
    clean = marks(hit=8, missed=2, normal=50)
    after = marks(hit=8, missed=2, normal=50, recovering=30, recovering_alarmed=10)
    with_recovery, without = detection(*after), detection(*clean)
    assert (with_recovery.scores, with_recovery.raw) == (without.scores, without.raw)
    assert (with_recovery.recovering, with_recovery.recovering_alarmed) == (40, 0.25)
    assert np.isnan(without.recovering_alarmed)


def test_an_attack_during_recovery_is_an_attack():
    assert detection(*marks(attacked_again=3, normal=3)).raw.r == 1.0


@given(hnp.arrays(np.bool_, (4, 30)))
def test_no_detector_of_the_observable_beats_the_ceiling(table):
    truth, guesses, observable, recovering = table
    result = detection(truth, guesses & truth & observable, observable, recovering)
    assert result.raw.f1 <= result.f1_ceiling + 1e-12 or np.isnan(result.f1_ceiling)


def test_one_shape_is_asked_for():
    with pytest.raises(SchemaError, match="same shape"):
        detection(np.ones(2, bool), np.ones(3, bool), np.ones(2, bool), np.ones(2, bool))


@given(hnp.arrays(np.bool_, st.integers(1, 20)), hnp.arrays(np.bool_, st.integers(1, 20)))
def test_balanced_scores_are_those_of_repeated_samples(case, normal):
    """Each sample repeated until both sides are equally many."""
    truth = np.repeat([True, False], case.size * normal.size)
    alarmed = np.concatenate([np.repeat(case, normal.size), np.repeat(normal, case.size)])
    ours, plain = balanced_scores(case, normal), binary_scores(truth, alarmed, zero_division=0.0)
    assert (ours.p, ours.r, ours.f1) == pytest.approx((plain.p, plain.r, plain.f1))


def test_always_alarming_scores_two_thirds_when_balanced():
    assert balanced_scores(np.ones(5, bool), np.ones(70, bool)).f1 == pytest.approx(2 / 3)


def test_cases_weigh_the_same():
    assert macro_over_cases({"a": Scores(1.0, 0.5, 0.6), "b": Scores(0.0, 0.5, 0.2)}) == Scores(
        0.5, 0.5, pytest.approx(0.4)
    )


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (DataError, lambda: balanced_scores(np.ones(0, bool), np.ones(3, bool))),
        (DataError, lambda: thin_pr_curve(np.zeros(3, bool), np.zeros(3))),
        (SchemaError, lambda: confusion(np.array([0, 4]), np.array([0, 1]), 4)),
        (SchemaError, lambda: confusion(np.array([0, -1]), np.array([0, 1]), 4)),
        (SchemaError, lambda: confusion(np.array([0]), np.array([0, 1]), 4)),
    ],
    ids=["no-case-samples", "no-attack", "class-too-high", "unknown-truth", "lengths"],
)
def test_what_cannot_be_scored_is_refused(error, make):
    with pytest.raises(error, match="metrics"):
        make()


def test_average_precision_without_attacks_is_undefined():
    assert np.isnan(average_precision(np.zeros(3, bool), np.zeros(3)))
