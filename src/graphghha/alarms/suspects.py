"""The set of suspects: which nodes of an anomalous zone may be the attacked one. Pure.

n nodes of one zone. A model that judges zones gives the leading node the probability of its zone, and every other node
its share of that.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


def node_shares(attack: Floats) -> NDArray[np.float64]:
    """Return how the probability of a zone is divided among its nodes [n]; 0 where a node is unknown."""
    known = np.nan_to_num(attack.astype(np.float64))
    leading = int(known.argmax())
    total = known[leading]
    if total <= 0:
        return np.zeros(len(known))
    shares: NDArray[np.float64] = known / total
    shares[leading] = max(0.0, 2.0 - float(shares.sum()))  # what the others leave
    return shares


def suspects(attack: Floats, root: int, least_share: float) -> list[int]:
    """Return the nodes that have at least this share of the probability, and the root; the likeliest come first."""
    shares = node_shares(attack)
    chosen = np.flatnonzero((shares >= least_share) | (np.arange(len(shares)) == root))
    order = np.lexsort((chosen, chosen != root, -shares[chosen]))
    return [int(node) for node in chosen[order]]
