"""The attacker on readings: he sees what the detector sees, and changes only what he holds."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
import torch

from builders import loop_template
from graphghha.engine import ZoneScorer
from graphghha.engine.zone_scorer import zone_odds as scorer_odds
from graphghha.errors import CheckpointError, ConfigError
from graphghha.lab.bench.detection.attacker_study import QUICK, StudyConfig, _changes, attacker_study
from graphghha.lab.bench.detection.reading_attacker import Effort, Target, hide, rank_signals
from graphghha.lab.bench.detection.recorded_zone import RecordedBuilding, RecordedZone
from graphghha.lab.bench.detection.zone_defences import DEFENCES
from graphghha.lab.runs import Run
from graphghha.plants import CaseSpec, load_plant
from graphghha.windows import EvidenceFeaturizer
from model_builders import small_model, small_zone_model, untrained_zone_model

pytestmark = pytest.mark.slow

WINDOW = slice(1500, 1620)
ZONE = 1


@pytest.fixture(scope="module")
def building():
    """Three zones over a day, with missing points, and a shift of one reading in the window."""
    rng = np.random.default_rng(0)
    values = 20 + rng.normal(0, 1, (3, 7)) + np.cumsum(rng.normal(0, 0.02, (WINDOW.stop, 3, 7)), axis=0)
    values[rng.random(values.shape) < 0.03] = np.nan
    values[WINDOW, ZONE, 2] += 4
    return RecordedBuilding(small_zone_model(), loop_template().replicate(3), values)


@pytest.fixture(scope="module")
def target(building):
    zone = RecordedZone(building, ZONE, WINDOW, every=10)
    whole = torch.zeros(7, dtype=torch.bool)
    limits = torch.tensor([[0.0, 50.0]] * 7, dtype=torch.float64)
    nodes = tuple(loop_template().signal_nodes.tolist())
    return Target(zone, zone, 0.0, limits, whole, nodes)


def test_the_differentiable_zone_has_the_features_of_the_detector(building):
    zone = RecordedZone(building, ZONE, WINDOW)
    with torch.no_grad():
        x, known = zone.features(zone.readings)
    rows, values = WINDOW.stop, building.values.reshape(WINDOW.stop, -1)
    featurizer = EvidenceFeaturizer(building.graph, building.model.template, building.model.zone_preprocessing)
    wanted = np.zeros(rows, bool)
    wanted[zone.rows.numpy() + WINDOW.start] = True
    windows = featurizer.push(values, np.isfinite(values), wanted)
    own = slice(ZONE * 8, ZONE * 8 + 8)
    np.testing.assert_array_equal(known.numpy(), windows.known[:, own])
    np.testing.assert_allclose(x.numpy(), windows.features[:, own], atol=2e-3)


def test_scores_without_a_defence_are_those_of_the_scorer(building, target):
    rows, values = WINDOW.stop, building.values.reshape(WINDOW.stop, -1)
    scorer = ZoneScorer(building.model, building.graph)
    wanted = np.zeros(rows, bool)
    wanted[target.commissioned.rows.numpy() + WINDOW.start] = True
    windows = scorer.featurizer.push(values, np.isfinite(values), wanted)
    nodes = scorer.odds(windows)[:, ZONE * 8 : ZONE * 8 + 8]
    total = [
        np.nanmean(np.where(np.isnan(nodes[at]), np.nan, nodes[max(0, at - 2) : at + 1]), axis=0) for at in range(12)
    ]
    with torch.no_grad():
        found = DEFENCES["none"](target.views(target.readings), None)
    np.testing.assert_allclose(found.numpy(), scorer_odds(np.stack(total)), atol=5e-3)


@pytest.mark.parametrize("defence", list(DEFENCES))
def test_the_attacker_changes_what_he_holds_and_lowers_the_score(target, defence):
    score = DEFENCES[defence]
    held = rank_signals(target, score)[:2]
    after = hide(target, score, held, Effort(steps=6))
    others = [at for at in range(7) if at not in held]
    np.testing.assert_array_equal(after[:, others].numpy(), target.readings[:, others].numpy())
    known = target.readings.isfinite()
    assert (after.isfinite() == known).all() and after[known].min() >= 0 and after[known].max() <= 50
    with torch.no_grad():
        before, hidden = (float(score(target.views(each), None).max()) for each in (target.readings, after))
    # what the readings of nodes he does not hold show against him, he cannot hide from the evidence
    assert hidden <= before if defence == "evidence_witness" else hidden < before


def test_a_witness_and_a_node_left_out_never_score_lower_than_the_model_alone(target):
    with torch.no_grad():
        views = target.views(target.readings)
        plain = DEFENCES["none"](views, None)
        assert (DEFENCES["leave_one_out"](views, None) >= plain).all()
        assert (DEFENCES["shipped_witness"](views, None) >= plain).all()
        assert (DEFENCES["evidence_witness"](views, None) >= plain).all()


def test_a_study_has_a_row_for_every_number_of_nodes_and_every_defence():
    config = replace(QUICK, days=1, zones=2, attacks=1, held=(1, 2), effort=Effort(steps=1))
    result = attacker_study(untrained_zone_model(load_plant("fcu")), config, room=("RM_TEMP", "FCU_RAT"))
    rows = result["rows"]
    assert [(row["held_nodes"], row["defence"]) for row in rows] == [(k, name) for k in (0, 1, 2) for name in DEFENCES]
    assert all(row["zones_attacked"] == 1 and row["zones_in_alarm"] in (0, 1) for row in rows)
    assert {row["threshold_above"] for row in result["impact"]} == {-2, -1, 0, 1, 2}


def test_impact_is_read_from_sensors_that_nobody_attacks():
    plant, start = load_plant("fcu"), datetime(2018, 7, 10)
    cases = [("FCU_VLVStuck_Cooling_100", "1"), ("generic:bias:1", "2")]
    specs = tuple(CaseSpec(name=name, zone=zone, start=start + timedelta(hours=2)) for name, zone in cases)
    run = Run(seed=3, start=start, days=1, zones=3, cases=specs, condition="points-14")
    changes, window = _changes(plant, run, ("RM_TEMP", "FCU_RAT")), slice(120, 480)
    stuck, elsewhere = changes.impact(0, window, ()), changes.impact(2, window, ())
    assert stuck.kelvin_hours_per_day > 1 and stuck.kwh_per_day > 5  # though the site has no meter of water
    assert elsewhere.kelvin_hours_per_day == 0 and elsewhere.kwh_per_day == 0
    room, flow = (plant.template.point_signals.index(name) for name in ("RM_TEMP", "FCU_CLG_GPM"))
    assert changes.impact(0, window, (room,)).kelvin_hours_per_day > 1  # of the return air
    assert np.isnan(changes.impact(0, window, (flow,)).kwh_per_day)


def test_other_models_and_unknown_defences_are_refused():
    with pytest.raises(CheckpointError, match="judges single nodes"):
        attacker_study(small_model(), QUICK, room=())
    with pytest.raises(ConfigError, match="no defence is named 'hope'"):
        StudyConfig(defences=("hope",))
