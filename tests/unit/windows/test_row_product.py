"""A row of a product does not depend on the rows beside it, on any processor."""

import numpy as np
import pytest

from graphghha.windows.row_product import TILE, padded, row_product


@pytest.mark.parametrize(("inputs", "outputs"), [(145, 696), (87, 100), (24, 24), (24, 2), (10, 3), (1, 1)])
def test_a_row_gives_the_same_bytes_at_every_place(inputs, outputs):
    rng = np.random.default_rng(inputs)
    weights = rng.normal(size=(inputs, outputs)).astype(np.float32)
    row = rng.normal(size=inputs).astype(np.float32)
    found = set()
    for count in (1, 3, TILE, 5 * TILE + 1):
        for place in range(count):
            rows = rng.normal(size=(count, inputs)).astype(np.float32)
            rows[place] = row
            found.add(row_product(padded(rows), weights)[place].tobytes())
    assert len(found) == 1


def test_products_of_several_matrices_agree_with_those_of_one():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4 * TILE, 3, 5)).astype(np.float32).transpose(1, 0, 2)  # as the networks hand them over
    weights = rng.normal(size=(3, 5, 7)).astype(np.float32)
    each = [row_product(np.ascontiguousarray(one), of) for one, of in zip(rows, weights, strict=True)]
    assert np.array_equal(row_product(rows, weights), np.stack(each))
    np.testing.assert_allclose(np.stack(each), rows @ weights, rtol=0, atol=1e-5)


def test_padding_adds_rows_of_zeros_only():
    rows = np.ones((TILE + 1, 2), np.float32)
    assert padded(rows).shape == (2 * TILE, 2) and padded(rows).sum() == rows.sum()
    assert padded(rows[:0]).shape == (0, 2)
