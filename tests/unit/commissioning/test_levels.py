"""Levels of a site: offsets are learned away, quiet signals get narrow levels, and days judge what others taught."""

from datetime import UTC, datetime

import numpy as np
import pytest

from builders import loop_template
from graphghha.commissioning.commission import commission, episodes_above, shipped_view, thresholds_at
from graphghha.commissioning.levels import DayCollector, dead_bands, fit_levels, rests, summarize_days, without_rows
from graphghha.commissioning.threshold import episodes, own_threshold
from graphghha.errors import DataError
from graphghha.models import Thresholds
from graphghha.windows import EvidenceFeaturizer
from graphghha.windows.evidence import FEATURES
from model_builders import LIMITS, small_model, small_zone_model, small_zone_preprocessing

TEMPLATE = loop_template()
SIGNALS = len(TEMPLATE.points)
DAY = 1440
TEMP = TEMPLATE.points.index("temp")


def site(days, zones=3, seed=0, offset=0.0, rows_per_day=DAY):
    """Readings around 20 with noise; the temperature of the first zone is off by `offset`."""
    rng = np.random.default_rng(seed)
    values = 20 + rng.normal(0, 0.3, (days * rows_per_day, zones, SIGNALS))
    values[:, 0, TEMP] += offset
    return values.reshape(len(values), -1)


def compared(values, zones=3, preprocessing=None):
    preprocessing = preprocessing or small_zone_preprocessing(scale=0.0)
    collector = DayCollector(TEMPLATE.replicate(zones), TEMPLATE, preprocessing)
    for part in np.array_split(values, 5):
        collector.push(part, np.isfinite(part))
    return collector.days(DAY)


def test_an_offset_of_one_sensor_is_learned_away():
    preprocessing = small_zone_preprocessing(scale=0.0)
    days = compared(site(4, offset=6.0))
    raw = days.compared.residuals[:, 0, TEMP].mean()
    fitted = fit_levels(days, preprocessing, TEMPLATE)
    assert raw > 2 and abs(fitted.residuals[:, 0, TEMP].mean()) < 0.1
    gap = fitted.levels.gap[0, TEMP, 0]
    assert gap == pytest.approx(6.0 / preprocessing.scaler.scale[TEMP], rel=0.05)
    new = site(2, seed=1, offset=6.0)
    for levels, least, most in ((preprocessing.levels, 1.0, 9.0), (fitted.levels, 0.0, 0.5)):
        made = EvidenceFeaturizer(TEMPLATE.replicate(3), TEMPLATE, preprocessing.with_levels(levels))
        last = made.push(new, np.isfinite(new), np.arange(len(new)) == len(new) - 1).features[0]
        evidence = abs(last[TEMPLATE.index("temp"), FEATURES.index("gap_1h")])
        assert least <= evidence <= most


def test_a_quiet_building_gets_narrow_levels_but_no_zone_much_narrower_than_the_others():
    preprocessing = small_zone_preprocessing(scale=0.0)
    values = site(4).reshape(-1, 3, SIGNALS)
    values[:, 1, TEMP] = 20.0  # one zone does not move at all
    levels = fit_levels(compared(values.reshape(len(values), -1)), preprocessing, TEMPLATE).levels
    assert (levels.width >= 0.3 * preprocessing.levels.width - 1e-6).all()
    spans = levels.spans[:, TEMP, 2]
    assert spans[1] == pytest.approx(0.7 * np.median(spans), rel=1e-5)
    assert levels.num_zones == 3 and levels.fits(3) and not levels.fits(4)


def test_a_resting_point_may_stop_anywhere_in_its_dead_band():
    """A closed valve that reports changes of 0.1 only is no closer to the truth than that, whatever two weeks show."""
    preprocessing = small_zone_preprocessing(scale=0.0)
    values = site(4).reshape(-1, 3, SIGNALS)
    values[:, :, TEMP] = 20.0
    values[:DAY, 1, TEMP] = 20.1  # the only change of four days
    setpoint = (TEMP + 1) % SIGNALS
    values[:, :, setpoint] = np.where(np.arange(len(values)) % DAY < DAY // 2, 15.0, 20.0)[:, None]
    days = compared(values.reshape(len(values), -1))
    share = np.full(SIGNALS, 0.01 * preprocessing.scaler.scale[TEMP], np.float32)  # a range of 100
    summary, kept = summarize_days(days.compared.residuals, days.compared)
    resting = rests(summary.restlessness[..., 0], days.compared.fresh[kept])
    assert resting[:, [TEMP, setpoint]].all() and resting.sum() == 6
    band = dead_bands(days.compared, resting, share)
    assert band[:, TEMP] * preprocessing.scaler.scale[TEMP] == pytest.approx(0.1, rel=1e-3)
    moving = [at for at in range(SIGNALS) if at != TEMP]
    assert not band[:, moving].any(), "points that move all the time have none, nor has a setpoint with its schedule"
    levels = fit_levels(days, preprocessing, TEMPLATE).levels
    spread = np.median(days.compared.spreads[:, 0, TEMP])
    assert (levels.spans[0, TEMP] * levels.width[0, TEMP] * spread >= 0.9 * band[0, TEMP]).all()
    assert levels.gap[0, TEMP, 1] >= band[0, TEMP] * 0.99


def test_points_that_are_never_heard_keep_the_shipped_levels_and_are_marked():
    preprocessing = small_zone_preprocessing(scale=0.0)
    values = site(3).reshape(-1, 3, SIGNALS)
    values[:, 2, TEMP] = np.nan
    levels = fit_levels(compared(values.reshape(len(values), -1)), preprocessing, TEMPLATE).levels
    assert not levels.heard[2, TEMP] and levels.heard.sum() == 3 * SIGNALS - 1
    assert levels.spans[2, TEMP].tolist() == preprocessing.levels.spans[0, TEMP].tolist()
    assert np.isfinite(levels.slopes).all() and not levels.slopes[2, TEMP].any()


def test_own_days_are_judged_by_a_correction_that_was_not_fitted_on_them():
    """A day that is unlike the others must stand out even in commissioning."""
    values = site(4).reshape(-1, 3, SIGNALS)
    values[2 * DAY : 3 * DAY, 0, TEMP] += 4
    fitted = fit_levels(compared(values.reshape(len(values), -1)), small_zone_preprocessing(scale=0.0), TEMPLATE)
    daily = fitted.residuals[:, 0, TEMP].reshape(4, DAY).mean(axis=1)
    assert np.abs(daily).argmax() == 2 and abs(daily[2]) > 2 * np.abs(daily[[0, 1, 3]]).max()


def test_rows_that_are_left_out_do_not_widen_the_levels():
    preprocessing, values = small_zone_preprocessing(scale=0.0), site(6).reshape(-1, 3, SIGNALS)
    quiet = fit_levels(compared(values.reshape(len(values), -1)), preprocessing, TEMPLATE).levels
    values[3 * DAY : 3 * DAY + 300, 0, TEMP] += 8
    attacked = compared(values.reshape(len(values), -1))
    left_out = np.zeros((len(values), 3), np.bool_)
    left_out[3 * DAY - 10 : 3 * DAY + 310, 0] = True
    learned, spared = (
        fit_levels(days, preprocessing, TEMPLATE).levels.spans[0, TEMP, 0]
        for days in (attacked, without_rows(attacked, left_out))
    )
    assert learned > 2 * quiet.spans[0, TEMP, 0] and spared == pytest.approx(quiet.spans[0, TEMP, 0], rel=0.1)


def test_an_episode_lasts_until_the_zone_is_well_below_the_threshold():
    odds = np.array([[1.0, 5.0, 3.5, np.nan, 3.1, 2.9, 3.5, 4.9]]).T
    assert episodes_above(odds, 5.0)[:, 0].tolist() == [False, True, True, True, True, False, False, False]


def test_summaries_are_of_every_fifth_row():
    days = compared(site(2))
    summary, kept = summarize_days(days.compared.residuals, days.compared)
    assert kept.sum() == 2 * DAY // 5 == len(summary.spans) and kept[4] and not kept[:4].any()


def test_the_threshold_is_the_least_that_keeps_the_budget():
    odds = np.full((288 * 10, 12), -5.0)
    odds[100, 3] = odds[104, 3] = 6.05  # one episode: twenty minutes apart
    odds[500, 3] = 4.05
    assert episodes(odds, 6.0) == 1 and episodes(odds, 4.0) == 2 and episodes(odds, 7.0) == 0
    assert own_threshold(odds, 0.1, 288) == pytest.approx(4.1)
    assert own_threshold(odds, 0.05, 288) == pytest.approx(6.1)
    odds[:, 0] = np.nan
    assert own_threshold(odds, 0.2, 288) == 0.0


def test_a_commissioned_model_says_where_it_comes_from():
    model, graph = small_zone_model(scale=0.0), TEMPLATE.replicate(3)
    values = site(8).reshape(-1, 3, SIGNALS)
    values[:, 1, TEMP] = np.nan
    days = compared(values.reshape(len(values), -1), preprocessing=model.zone_preprocessing)
    first, last = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 9, tzinfo=UTC)
    derived = commission(model, graph, days, data="sha", first=first, last=last)
    record = derived.commissioning
    assert record.base == model.fingerprint != derived.fingerprint
    assert record.days == 8 and record.zones == graph.zone_names and record.missing_points == ("zone-02/temp",)
    assert LIMITS.floor <= record.threshold <= LIMITS.cap
    rule = derived.thresholds.rule
    assert rule.raise_at == pytest.approx(1 / (1 + np.exp(-record.threshold))) and rule.clear_at < rule.raise_at
    assert record.expected_false_per_day == (pytest.approx(0.05), pytest.approx(0.2)), "per 12 zones, and there are 3"
    assert shipped_view(model, graph, days).odds.shape[1] == 3
    assert derived.zone_preprocessing.typical is None, "three zones are too few for a typical one"


def test_the_typical_zone_of_a_larger_site_is_learned_as_well():
    model, graph = small_zone_model(scale=0.0), TEMPLATE.replicate(6)
    values = np.concatenate([site(8), site(8)], axis=1)
    days = compared(values, zones=6, preprocessing=model.zone_preprocessing)
    when = datetime(2026, 1, 1, tzinfo=UTC)
    derived = commission(model, graph, days, data="sha", first=when, last=when)
    assert derived.zone_preprocessing.typical.num_zones == 1 and derived.zone_preprocessing.levels.num_zones == 6


def test_too_few_days_and_other_models_are_refused():
    model, graph = small_zone_model(scale=0.0), TEMPLATE.replicate(3)
    when = datetime(2026, 1, 1, tzinfo=UTC)
    days = compared(site(3), preprocessing=model.zone_preprocessing)
    with pytest.raises(DataError, match="covers 3 days"):
        commission(model, graph, days, data="", first=when, last=when)
    with pytest.raises(DataError, match="use a model that judges zones"):
        commission(small_model(), graph, days, data="", first=when, last=when)


def test_thresholds_follow_the_calibration():
    model = small_zone_model()
    rules = thresholds_at(Thresholds(), model.calibration, 0.0)
    assert rules.rule.raise_at == pytest.approx(0.5) and rules.rule.clear_at == pytest.approx(1 / (1 + np.exp(2)))


def test_a_threshold_that_certainty_itself_would_not_reach_is_one_that_a_model_may_store():
    for threshold in (10.0, 11.0, 14.9):
        stored = thresholds_at(Thresholds(), small_zone_model().calibration, threshold).to_dict()
        rule = Thresholds.from_dict(stored).rule
        assert rule.clear_at < rule.raise_at <= 0.99995
