"""Limits and commissioning records survive a model directory, and damaged ones are named."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from graphghha.errors import CheckpointError, SchemaError
from graphghha.models import CommissioningRecord, Limits, StandingFault, load_model, save_model
from model_builders import LIMITS, small_zone_model

RECORD = CommissioningRecord(
    base="b",
    data="d",
    first="2026-01-01T00:00:00+00:00",
    last="2026-01-15T00:00:00+00:00",
    days=14,
    zones=("zone-01", "zone-02"),
    threshold=4.2,
    own_threshold=9.9,
    expected_false_per_day=(0.1, 0.6),
    standing=(StandingFault(zone="zone-02", node="valve", share_of_time=0.4),),
    missing_points=("zone-01/flow",),
    out_of_limits={"zone-01/flow": 12},
    short_zones={"zone-02": 3},
)


def test_a_model_that_judges_zones_survives_its_directory(tmp_path):
    model = replace(small_zone_model(), commissioning=RECORD)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.limits == LIMITS and loaded.commissioning == RECORD and loaded.judges_zones
    assert loaded.fingerprint == model.fingerprint and loaded.feature_names == model.feature_names
    for name, array in model.zone_preprocessing.levels.to_arrays().items():
        assert getattr(loaded.zone_preprocessing.levels, name).tobytes() == array.tobytes()
    assert {"levels.safetensors", "limits.json", "commissioning.json"} <= {f.name for f in (tmp_path / "m").iterdir()}
    with pytest.raises(CheckpointError, match="judges single nodes"):
        _ = loaded.norm


def test_the_levels_of_the_typical_zone_survive_and_must_be_of_one_zone(tmp_path):
    model = small_zone_model()
    own = model.zone_preprocessing
    typical = replace(own.levels, width=3 * own.levels.width)
    site = replace(model, preprocessing=own.with_levels(own.levels, typical))
    save_model(site, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.zone_preprocessing.typical.width.tobytes() == typical.width.tobytes()
    assert loaded.fingerprint == site.fingerprint != model.fingerprint
    two = type(typical)(**{name: np.concatenate([array, array]) for name, array in typical.to_arrays().items()})
    save_model(replace(model, preprocessing=own.with_levels(own.levels, two)), tmp_path / "two")
    with pytest.raises(CheckpointError, match="typical zone are of 2 zones"):
        load_model(tmp_path / "two")


def test_the_fingerprint_depends_on_the_levels():
    model = small_zone_model()
    levels = model.zone_preprocessing.levels
    wider = replace(model, preprocessing=model.zone_preprocessing.with_levels(replace(levels, width=2 * levels.width)))
    assert wider.fingerprint != model.fingerprint


def test_thresholds_stay_within_their_limits():
    assert LIMITS.clamp(1.0) == 3.5 and LIMITS.clamp(5.0) == 5.0 and LIMITS.clamp(14.0) == 8.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"floor": 9.0}, "must lie between"),
        ({"set_share": 0.0}, "set_share"),
        ({"cap": "high"}, "cap must be a finite number"),
        ({"format": "graphghha-limits/9"}, "this version reads"),
        ({"extra": 1}, "unknown field 'extra'"),
    ],
)
def test_limits_that_do_not_fit_are_refused(change, message):
    with pytest.raises(SchemaError, match=message):
        Limits.from_dict({**LIMITS.to_dict(), **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"days": 1.5}, "days must be a whole number"),
        ({"expected_false_per_day": [1]}, "commissioning record"),
        ({"standing": [{"zone": "z"}]}, "'node'"),
        ({"format": "x"}, "this version reads"),
        ({"out_of_limits": {"zone-01/flow": "many"}}, "zone-01/flow must be a whole number"),
    ],
)
def test_records_that_do_not_fit_are_refused(change, message):
    with pytest.raises(SchemaError, match=message):
        CommissioningRecord.from_dict({**RECORD.to_dict(), **change})
    assert CommissioningRecord.from_dict(RECORD.to_dict()) == RECORD and asdict(RECORD)["days"] == 14


def test_features_of_the_evidence_kind_need_a_binary_head():
    model = small_zone_model()
    with pytest.raises(CheckpointError, match="binary head"):
        replace(model, adu_config={**model.adu_config, "head": "classes"}, weights=_four_classes(model))


def _four_classes(model):
    import numpy as np

    weights = dict(model.weights)
    weights["classifier.weight"] = np.repeat(weights["classifier.weight"], 2, axis=0)
    weights["classifier.bias"] = np.repeat(weights["classifier.bias"], 2)
    return weights


def test_a_record_without_left_out_times_and_rejected_readings_is_one_of_an_earlier_version():
    later = {"left_out": (), "out_of_limits": {}, "short_zones": {}}
    former = {name: value for name, value in RECORD.to_dict().items() if name not in later}
    assert CommissioningRecord.from_dict(former) == replace(RECORD, **later)
