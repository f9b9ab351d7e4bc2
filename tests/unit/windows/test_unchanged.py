"""A point that reports changes only is known while its zone is heard, and unknown when the whole zone is silent."""

import numpy as np

from graphghha.windows.grid import Rows
from graphghha.windows.unchanged import HEARD_WITHIN_ROWS, Unchanged, is_sparse

POINTS = ("a/temp", "a/mode", "b/temp")


def rows(values):
    values = np.array(values, np.float32)
    fresh = np.isfinite(values)
    return Rows(np.arange(len(values)) * 60_000, values, fresh, fresh.any(axis=1))


def test_a_silent_point_keeps_its_value_while_its_zone_is_heard():
    table = np.full((200, 3), np.nan)
    table[0] = (20.0, 1.0, 5.0)
    table[10:100:10, 0] = 21.0  # only the temperature of zone a speaks, until row 90
    found = Unchanged(POINTS).push(rows(table))
    assert found.values[50].tolist() == [21.0, 1.0, 5.0]
    assert found.fresh[90 + HEARD_WITHIN_ROWS, :2].all() and not found.fresh[91 + HEARD_WITHIN_ROWS, :2].any()
    assert found.fresh[HEARD_WITHIN_ROWS, 2] and not found.fresh[HEARD_WITHIN_ROWS + 1, 2], "zone b was silent"


def test_portions_of_any_size_give_the_same_rows():
    rng = np.random.default_rng(0)
    table = np.where(rng.random((300, 3)) < 0.02, rng.normal(0, 1, (300, 3)), np.nan)
    whole, parts = Unchanged(POINTS).push(rows(table)), Unchanged(POINTS)
    pieces = [parts.push(rows(table[at : at + 7])) for at in range(0, 300, 7)]
    assert np.concatenate([p.values for p in pieces]).tobytes() == whole.values.tobytes()
    assert np.concatenate([p.fresh for p in pieces]).tobytes() == whole.fresh.tobytes()
    assert not whole.fresh[:, 0].all() and whole.fresh.any()


def test_a_point_that_was_never_heard_stays_unknown():
    found = Unchanged(POINTS).push(rows([[np.nan, 1.0, 2.0]] * 5))
    assert not found.fresh[:, 0].any() and np.isnan(found.values[:, 0]).all()


def test_a_site_is_sparse_by_the_points_it_has():
    assert is_sparse(np.array([10, 10, 10, 0]), 100)
    assert is_sparse(np.array([70] * 18 + [1, 2]), 100), "noise keeps most points talking, but settings fall silent"
    assert not is_sparse(np.array([100] * 20 + [3]), 100), "a single silent point may be broken"
    assert not is_sparse(np.array([100] * 40 + [3, 3]), 100), "so may two of forty"
    assert not is_sparse(np.zeros(4, int), 100)
