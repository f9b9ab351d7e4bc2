"""How points are reported is read from the site's own days."""

import numpy as np
import pytest

from builders import loop_template
from graphghha.commissioning.reporting import reporting_of
from graphghha.windows.evidence import Comparer
from model_builders import small_zone_preprocessing

TEMPLATE = loop_template()
SIGNALS = len(TEMPLATE.points)


def reported(change):
    values = 20 + np.random.default_rng(0).normal(0, 0.3, (900, 2, SIGNALS))
    preprocessing = small_zone_preprocessing(scale=0.0)
    flat = change(values).reshape(len(values), -1)
    compared = Comparer(TEMPLATE.replicate(2), TEMPLATE, preprocessing).push(flat, np.isfinite(flat))
    return reporting_of(compared, preprocessing, TEMPLATE)


def rarely(values):
    """Values that change at irregular times, in steps of 0.5."""
    rng = np.random.default_rng(1)
    changes = np.where(rng.random(values.shape) < 0.03, rng.choice([-0.5, 0.5], values.shape), 0.0)
    return 20 + np.cumsum(changes, axis=0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda values: values, "every minute"),
        (lambda values: values[np.arange(len(values)) // 5 * 5], "every 5 minutes"),
        (rarely, "by change, in steps of 0.5"),
    ],
)
def test_rhythm_and_steps_are_recognised(change, words):
    found = reported(change)
    assert len(found) == SIGNALS and set(found.values()) == {words}


def test_nothing_is_said_about_points_that_hardly_change():
    assert reported(lambda values: np.full_like(values, 20.0)) == {}
