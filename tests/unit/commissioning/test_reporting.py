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


def test_points_that_hardly_change_are_told_as_such():
    assert set(reported(lambda values: np.full_like(values, 20.0)).values()) == {"without any change"}
    once = reported(lambda values: np.where(np.arange(len(values)) < 400, 20.0, 21.0)[:, None, None] + 0 * values)
    assert set(once.values()) == {"with few changes, 2 in all"}


def test_a_point_that_was_never_heard_is_left_out():
    assert reported(lambda values: np.full_like(values, np.nan)) == {}


def repeated(values):
    """Changes by 1 at irregular times; after a quarter of an hour of silence the newest value, a little different."""
    rng = np.random.default_rng(2)
    sent = np.empty_like(values)
    for zone, signal in np.ndindex(values.shape[1:]):
        value, age = 20.0, 15
        for row in range(len(values)):
            age += 1
            if (changed := rng.random() < 0.01) or age >= 15:
                value += 1.0 if changed else 0.01 * rng.normal()
                age = 0
            sent[row, zone, signal] = value
    return sent


def test_repetitions_after_a_silence_are_no_samples():
    assert set(reported(repeated).values()) == {"by change, repeated after 15 minutes"}


def test_jumps_between_two_settings_are_no_resolution():
    def switched(values):
        rng = np.random.default_rng(3)
        return 20 + 5.0 * (np.cumsum(rng.random(values.shape) < 0.03, axis=0) % 2)

    assert set(reported(switched).values()) == {"by change"}


def test_a_schedule_is_no_interval_of_samples():
    def scheduled(values):
        return 20 + 5.0 * (np.arange(len(values)) // 80 % 2)[:, None, None] + 0 * values

    assert set(reported(scheduled).values()) == {"by change"}
