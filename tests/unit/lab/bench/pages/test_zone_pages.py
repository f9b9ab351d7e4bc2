"""The pages of the comparisons say what was measured, and where the model does not win."""

from graphghha.lab.bench.pages.attacker import attacker_page
from graphghha.lab.bench.pages.commissioning import commissioning_page
from graphghha.lab.bench.pages.diets import diets_page
from graphghha.lab.bench.pages.shift import shift_page
from graphghha.lab.bench.pages.whether_where import whether_where_page


def whether(method, found):
    row = {"question": "whether", "group": "29 points", "method": method, "found": found, "events": 40, "days": 12.0}
    return row | {"quiet_false_alarms_per_day": 0.2, "event_recall": found / 40, "threshold": 4.0}


def where(method, named):
    row = {"question": "where", "group": "29 points", "method": method, "named_first": named, "named_third": named + 2}
    return row | {"found": 36, "events": 40}


def test_a_method_that_beats_the_model_is_named(tmp_path):
    lesson = {"windows": 352000, "passes": 5}
    result = {
        "config": {
            "seed": 3,
            "days": 6,
            "commission_days": 14,
            "quiet_per_day": 0.25,
            "name": "fcu-zones",
            "taught": {"graphghha": lesson, "zone_mlp": lesson, "zone_boosting": {"windows": 9, "passes": None}},
            "groups": [{"name": "29 points", "zones": 12, "points": [29, 29], "buildings": 5}],
        },
        "rows": [
            whether("graphghha", 36),
            whether("gumbel_tail", 30),
            whether("graphghha-seed-2", 35),
            whether("graphghha-falsified-1", 34),
            where("graphghha", 30),
            where("zone_mlp", 32),
        ],
    }
    text = whether_where_page(result, tmp_path).read_text(encoding="utf-8")
    assert "the model finds 36 of 40 and leads Gumbel tail of the largest evidence (30)" in text
    assert "the model names 30 of 40 and **does not win** against zone-wide MLP (32)" in text
    assert "`graphghha bench whether-where --model fcu-zones --buildings 5 --seed 3`" in text
    assert "| GraphGHHA, trained anew with seed 2 |" in text
    assert "| GraphGHHA, trained anew with seed 1, with another share of falsified readings |" in text
    assert "0.90 [0.77, 0.96]" in text and "352,000 windows, 5 passes" in text


def test_the_family_left_out_stands_beside_the_same_family_taught(tmp_path):
    rows = [
        {"diet": diet, "exam": exam, "windows": 4000, "events": 20, "event_recall": recall, "hit_at_1": hit}
        for diet, exam, recall, hit in (
            ("all families", "swings", 0.9, 0.8),
            ("without swings", "swings", 0.6, 0.1),
        )
    ]
    config = {
        "buildings": 30,
        "fits": 3,
        "exam_buildings": 2,
        "zones": 12,
        "days": 6,
        "commission_days": 14,
        "quiet_per_day": 0.25,
    }
    config |= {"seed": 0, "families": {"swings": ["noise", "swing"]}, "name": "fcu-zones"}
    text = diets_page({"config": config, "rows": rows}, tmp_path).read_text(encoding="utf-8")
    assert "| swings | 20 | 0.90 to 0.60 | 0.80 to 0.10 |" in text and "**0.60**" in text
    assert "bench diets --model fcu-zones --buildings 30 --fits 3 --exams 2 --seed 0" in text


def test_an_aim_that_is_not_met_is_said(tmp_path):
    def row(held, defence, alarms, above=0.0):
        return {
            "held_nodes": held,
            "defence": defence,
            "zones_in_alarm": alarms,
            "zones_attacked": 10,
            "share_in_alarm": alarms / 10,
            "threshold_above": above,
            "false_alarms_per_day": 0.1,
            "hidden_kelvin_hours_per_day": 3.0,
            "most_hidden_kelvin_hours_per_day": 9.0,
            "hidden_kwh_per_day": 1.0,
            "most_hidden_kwh_per_day": 4.0,
        }

    config = {"effort": {"steps": 10}, "seed": 1, "buildings": 2, "zones": 8, "attacks": 5, "hours": 6}
    config |= {"commission_days": 14, "defences": ["none", "evidence_witness"], "model": "fcu-zones"}
    rows = [row(0, "none", 9), row(1, "none", 5), row(3, "none", 2), row(1, "evidence_witness", 7)]
    result = {"config": config, "rows": rows, "impact": [row(1, "none", 6, -1.0)]}
    text = attacker_page(result, tmp_path).read_text(encoding="utf-8")
    assert "met by: the largest evidence as a witness" in text and "none: 0.20" in text
    assert "| 1 | -1 | 0.60 [0.31, 0.83] | 0.10 | 3.0, 9.0 | 1.0, 4.0 |" in text
    text = attacker_page({**result, "rows": rows[:3]}, tmp_path).read_text(encoding="utf-8")
    assert "**not met** by any defence" in text and "smoke run" not in text
    smoke = {**result, "config": {**config, "quick": True}}
    text = attacker_page(smoke, tmp_path).read_text(encoding="utf-8")
    assert "smoke run" in text and "bench attacker --model fcu-zones --quick --seed 1`" in text


def shift_result(model, found):
    """One network in one condition, or in two: 20 attacks and 12 days each."""
    rows = [
        {"condition": name, "commissioned": False, "events": 20, "event_recall": each / 20, "hit_at_1": 0.5}
        | {"false_alarms_per_day": 0.25, "quiet_false_alarms_per_day": 0.0, "days": 12.0, "precision": 0.9}
        for name, each in found.items()
    ]
    schedule = {"mean_gap_days": 2.5}
    return {"bench": "shift", "config": {"seed": 9, "model": model, "zones": 12, "days": 6, "schedule": schedule}} | {
        "rows": rows
    }


def test_other_seeds_of_training_stand_beside_the_model_where_both_were_measured(tmp_path):
    results = [shift_result("fcu-zones", {"reference": 20, "cov": 2}), shift_result("seed-1", {"reference": 10})]
    text = shift_page(results, tmp_path).read_text(encoding="utf-8")
    _, _, section = text.partition("### fcu-zones, trained with other seeds")
    assert "## seed-1" not in text and "Over the 1 conditions" in section
    assert "| fcu-zones, as shipped | 0.25, 0.25 | 0.00, 0.00 | 1.00 [0.84, 1.00] | 0.50" in section
    assert "| seed-1, as shipped | 0.25, 0.25 | 0.00, 0.00 | 0.50" in section
    assert "| reference | 0.25 [0.09, 0.54] | 0.00 | 0.75" in section  # 30 of 40 together
    assert "cov" not in section


def test_buildings_of_one_kind_that_were_measured_twice_stand_under_one_heading(tmp_path):
    def result(seed, found):
        row = {"trial": "14 days", "buildings": 4, "zones": 12, "days": 24.0, "events": 20, "event_recall": found / 20}
        row |= {"hit_at_1": 0.5, "false_alarms_per_day": 0.25, "quiet_false_alarms_per_day": 0.0, "zone_ece": None}
        config = {"seed": seed, "model": "fcu-zones", "trials": [], "conditions": ["reference"]}
        return {"config": config | {"schedule": {"mean_gap_days": 2.5}}, "rows": [row]}

    text = commissioning_page([result(3, 20), result(5, 10)], tmp_path).read_text(encoding="utf-8")
    assert text.count("## Buildings of the conditions reference") == 1
    assert (
        text.index("--seed 3")
        < text.index("| 1.00 [")
        < text.index("--seed 5")
        < text.index("| 0.50 [0.30, 0.70] | 20 |")
    )
