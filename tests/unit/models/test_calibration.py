import json

import numpy as np
import pytest

from graphghha.errors import SchemaError
from graphghha.models import Calibration
from graphghha.windows import Fingerprint, Span

CALIBRATION = Calibration(1.5, (0.0, -1.0, 0.5), Fingerprint((Span("validation", 0, 100),), "0"))


def test_logits_are_scaled_shifted_and_normalized():
    logits = np.array([[1.0, 2.0, -1.0]])
    raised = np.exp(1.5 * logits + [0.0, -1.0, 0.5])
    np.testing.assert_allclose(CALIBRATION(logits), raised / raised.sum())


def test_huge_logits_stay_finite():
    probs = CALIBRATION(np.array([[1e4, -1e4, 0.0], [-1e300, 1e300, 0.0]]))
    assert np.isfinite(probs).all() and probs.sum(axis=1).tolist() == [1.0, 1.0]


def test_logits_of_other_classes_are_refused():
    with pytest.raises(SchemaError, match="calibration: the logits have 4 classes"):
        CALIBRATION(np.zeros((2, 4)))


def test_it_survives_json():
    assert Calibration.from_dict(json.loads(json.dumps(CALIBRATION.to_dict()))) == CALIBRATION


@pytest.mark.parametrize(
    "change",
    [{"format": "x"}, {"inverse_temperature": -1}, {"bias": [0.0]}, {"bias": ["a"]}, {"bias": [0.0, float("nan")]}]
    + [{"inverse_temperature": 1e9}, {"bias": [0.0, -1e3]}, {"bias": [0.0] * 10_000}, {"inverse_temperature": 10**400}],
    ids=["format", "negative", "one-class", "text", "nan", "steep", "silencing", "long", "huge"],
)
def test_a_damaged_file_is_refused(change):
    with pytest.raises(SchemaError, match="calibration"):
        Calibration.from_dict(CALIBRATION.to_dict() | change)
