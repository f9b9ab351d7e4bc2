"""Intervals against published values and, for rates, against scipy's quantiles."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from graphghha.lab.metrics.intervals import poisson_interval, wilson_interval


def test_wilson_intervals_of_known_shares():
    assert wilson_interval(274, 279) == pytest.approx((0.9588, 0.9923), abs=1e-4)
    assert wilson_interval(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)


@given(st.integers(0, 400), st.floats(0.5, 400.0))
def test_poisson_intervals_are_those_of_the_chi_squared_distribution(count, exposure):
    low = 0.0 if count == 0 else chi2.ppf(0.025, 2 * count) / 2
    high = chi2.ppf(0.975, 2 * count + 2) / 2
    assert poisson_interval(count, exposure) == pytest.approx((low / exposure, high / exposure), rel=1e-6, abs=1e-9)


def test_nothing_counted_has_no_interval():
    assert all(map(math.isnan, (*wilson_interval(0, 0), *poisson_interval(0, 0.0))))
