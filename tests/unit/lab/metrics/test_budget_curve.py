"""Methods are compared at one price, whatever the scale of their scores."""

from datetime import datetime

import numpy as np
import pytest

from evaluation_builders import DAY, building
from graphghha.alarms import AlarmRule, GroupRule, Proximity
from graphghha.lab.evaluation.report import at_equal_price, baseline_row, findings
from graphghha.lab.metrics.breakdown import by_attack, minutes_to_detect, of_cases, off_by
from graphghha.lab.metrics.budget_curve import best_within, budget_curve, heights, rule_within
from graphghha.lab.metrics.card import card_of, examine
from graphghha.lab.runs.recording import AttackEvent, Recording
from graphghha.lab.runs.run import Run
from graphghha.windows.provenance import Span

NEAR = Proximity(building(2))
RULE, GROUP = AlarmRule(raise_at=0.5, clear_at=0.3, votes=1, window=1, clear_after=5), GroupRule(linger=5)
RUN = Run(seed=0, start=datetime(2018, 7, 2), days=1, zones=2)
EASY = AttackEvent(case="easy", family="bold", targets=(1,), start=300, stop=400, observable_from=310)
HARD = AttackEvent(case="hard", family="sly", targets=(6,), start=900, stop=1000, observable_from=900)


def recording(attack, attacks=(EASY, HARD)):
    """Class 1 carries all of P(attack)."""
    probs = np.zeros((DAY, 8, 4), np.float32)
    probs[..., 0], probs[..., 1] = 1 - attack, attack
    truth, observable = np.zeros((DAY, 8), np.uint8), np.zeros((DAY, 8), bool)
    for event in attacks:
        truth[event.start : event.stop, list(event.targets)] = 1
        observable[event.observable_from : event.stop, list(event.targets)] = True
    return Recording(RUN, NEAR, probs, truth, observable, np.zeros((DAY, 8), bool), attacks)


@pytest.fixture
def watched():
    """The easy attack scores 0.9 at its node, the hard one 0.6 one hop off; two false blips of 0.7 and 0.3."""
    attack = np.full((DAY, 8), 0.01, np.float32)
    attack[320:400, 1] = 0.9
    attack[930:1000, 5] = 0.6
    attack[100, 2], attack[600, 7] = 0.7, 0.3
    return recording(attack)


def test_a_curve_pays_with_false_alarms_for_what_it_finds(watched):
    curve = budget_curve([watched], RULE, GROUP, most_per_day=10, price_per_day=1.0)
    price = [point.false_alarms_per_day for point in curve]
    assert [point.raise_at for point in curve] == sorted((point.raise_at for point in curve), reverse=True)
    assert price[0] == 0 and price == sorted(price)
    assert best_within(curve, 0).event_recall == 0.5 and best_within(curve, 0).hit_at_1 == 0.5
    # the hard one is found with its root misplaced, which is a false alarm as well
    assert best_within(curve, 1).event_recall == 0.5 and best_within(curve, 2).event_recall == 1.0
    assert best_within(curve[-1:], -1) is None


def test_the_curve_knows_only_the_order_of_scores(watched):
    squeezed = recording((1 - watched.probs[..., 0]) ** 3)
    for one, other in zip(heights([watched]), heights([squeezed]), strict=True):
        assert other == pytest.approx(one**3, rel=1e-3, abs=1e-6)


def test_a_method_that_keeps_no_budget_is_left_at_its_highest():
    quiet, loud = (recording(np.full((DAY, 8), value, np.float32), ()) for value in (0.2, 1.0))
    search = {"budget_per_day": 1.0, "spans": [Span("normal", 0, DAY)]}
    rule, kept = rule_within([loud], RULE, GROUP, **search)
    assert not kept and rule.raise_at == 1.0
    blip = recording(np.where(np.arange(DAY)[:, None] == 7, 0.9, quiet.attack), ())
    rule, kept = rule_within([blip], RULE, GROUP, **search | {"budget_per_day": 20.0})
    assert kept and rule.raise_at == pytest.approx(0.2)


def test_the_search_is_fine_where_scores_are_rare():
    """Nothing but a few high scores: quantiles alone would leave the threshold at the highest of them."""
    scores = np.full((DAY, 8), 0.01, np.float32)
    scores[100:130, 1], scores[700:730, 1] = 0.99, 0.5
    search = {"budget_per_day": 1.0, "spans": [Span("normal", 0, DAY)]}
    rule, kept = rule_within([recording(scores, ())], RULE, GROUP, **search)
    assert kept and 0.5 < rule.raise_at < 0.56


def test_the_card_comes_apart_by_family_case_and_distance(watched):
    examined = [examine(watched, RULE, GROUP)]
    families = by_attack(examined, "family")
    assert families["bold"]["event_recall"] == 1 and families["bold"]["p"] == 1
    assert families["bold"]["r"] == pytest.approx(80 / 90)
    assert families["sly"]["hit_at_1"] == 0 and families["sly"]["f1"] == 0
    assert of_cases(examined, ["hard"])["observable_events"] == 1
    assert off_by(examined) == {"0": 1, "1": 1, "2": 0, "3": 0, "4+": 0, "missed": 0}
    assert minutes_to_detect(examined) == [10, 30]
    assert card_of(examined).seeds == 1 and np.isnan(card_of(examined).f1_std)
    assert card_of(examined * 2).f1_std == 0


def test_a_quiet_day_without_a_claim_has_no_f1_and_no_place_in_the_spread(watched):
    quiet = examine(recording(np.full((DAY, 8), 0.01, np.float32), ()), RULE, GROUP)
    alone, both = card_of([quiet]), card_of([examine(watched, RULE, GROUP), quiet])
    assert all(np.isnan([alone.p, alone.r, alone.f1, alone.f1_raw, alone.f1_ceiling])), "nothing to find is not a zero"
    assert alone.events.false_alarms_per_day == 0 and both.seeds == 2 and np.isnan(both.f1_std)
    assert 0 < both.f1 < 1


def test_rivals_stand_at_the_price_of_the_model(watched):
    words = {"method": "ours", "protocol": "deploy"}
    found = findings([watched], RULE, GROUP, **words, held_out={"cases": ["hard"]})
    assert found["held_out"]["cases"]["event_recall"] == 1
    price = found["card"]["false_alarms_per_day"]
    blind = recording(np.full((DAY, 8), 0.0, np.float32))
    row, curve = baseline_row([blind], RULE, GROUP, method="blind", protocol="deploy", price_per_day=price)
    found["rows"].append(row)
    found["curves"]["budget"]["blind"] = curve
    at_equal_price(found, price)
    assert [row["event_recall_at_equal"] for row in found["rows"]] == [1.0, 0.0]
    assert all(row["equal_false_alarms_per_day"] == price == 2 for row in found["rows"])


def test_at_equal_price_every_method_has_its_best_threshold(watched):
    high = AlarmRule(raise_at=0.95, clear_at=0.3, votes=1, window=1, clear_after=5)
    found = findings([watched], high, GROUP, method="ours", protocol="deploy", held_out={})
    row, curve = baseline_row([watched], high, GROUP, method="twin", protocol="deploy", price_per_day=0.0)
    found["rows"].append(row)
    found["curves"]["budget"]["twin"] = curve
    at_equal_price(found, 0.0)
    assert [row["event_recall"] for row in found["rows"]] == [0.0, 0.0]
    assert [row["event_recall_at_equal"] for row in found["rows"]] == [0.5, 0.5]
