"""The set of suspects of a zone, from scores in which the leading node has the probability of its zone."""

import numpy as np
import pytest

from graphghha.alarms import node_shares, suspects

ZONE = 0.96
SHARES = np.array([0.02, 0.2, 0.7, 0.08])


def scored(shares, zone=ZONE):
    attack = zone * np.array(shares)
    attack[np.argmax(shares)] = zone
    return attack


def test_shares_are_those_the_scores_were_made_from():
    np.testing.assert_allclose(node_shares(scored(SHARES)), SHARES)
    np.testing.assert_allclose(node_shares(scored(SHARES, zone=0.01)), SHARES)


@pytest.mark.parametrize(
    ("least", "expected"), [(0.05, [2, 1, 3]), (0.5, [2]), (0.9, [2]), (1e-3, [2, 1, 3, 0])], ids=str
)
def test_suspects_have_at_least_the_share_and_the_root_is_always_among_them(least, expected):
    assert suspects(scored(SHARES), 2, least) == expected


def test_a_root_that_no_longer_leads_stays_a_suspect():
    assert suspects(scored(SHARES), 0, 0.05) == [2, 1, 3, 0]
    assert suspects(scored(SHARES), 0, 0.5) == [2, 0]


def test_unknown_nodes_are_no_suspects():
    attack = scored(SHARES)
    attack[1] = np.nan
    assert suspects(attack, 2, 0.05) == [2, 3]
    assert suspects(np.full(3, np.nan), 1, 0.05) == [1]
