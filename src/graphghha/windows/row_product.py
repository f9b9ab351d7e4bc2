"""Matrix products in which a row gives the same bytes wherever it stands and whatever stands beside it.

A BLAS takes the rows of a product in tiles, and on some processors the last tiles round differently from the others.
A product of eight rows is a single tile on all of them, so a row is scored alike in a file and live.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

TILE = 8  # rows


def padded(rows: Floats) -> Floats:
    """Return rows [n k], followed by rows of zeros up to whole tiles."""
    whole = np.zeros((-(-len(rows) // TILE) * TILE, rows.shape[1]), rows.dtype)
    whole[: len(rows)] = rows
    return whole


def row_product(rows: Floats, weights: Floats) -> Floats:
    """Return the product [.. n m] of rows [.. n k], which are whole tiles, and weights [.. k m]."""
    tiles = rows.reshape(*rows.shape[:-2], -1, TILE, rows.shape[-1])
    product: Floats = tiles @ weights[..., None, :, :]
    return product.reshape(*rows.shape[:-1], weights.shape[-1])
