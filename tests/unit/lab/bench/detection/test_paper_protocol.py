"""The paper's protocol trains, scores, and keeps what is done."""

import json

import pytest
import torch

from graphghha.lab.bench.detection.paper_protocol import by_family, detection, pooled, unseen_families
from graphghha.lab.bench.detection.variants import GRAPHGHHA, METHODS, Variant
from graphghha.lab.bench.pages.comparison import comparison_page
from graphghha.lab.bench.pages.detection import detection_page
from graphghha.plants import load_plant

pytestmark = pytest.mark.slow


def test_every_method_is_scored_at_every_size_with_its_spread(bench, study):
    assert [(row["method"], row["nodes"]) for row in study["rows"]] == [(m.name, n) for m in METHODS for n in (32, 64)]
    for row in study["rows"]:
        assert 0 <= row["f1"] <= 1 and row["f1_std"] >= 0 and row["seeds"] == 2 and row["protocol"] == "paper"
        assert set(row) >= {"p", "r", "f1_raw", "f1_ceiling"} and row["event_recall"] is None is row["brier_skill"]
    names = {name for family in study["families"][0]["families"].values() for name in family["cases"]}
    assert names and names <= set(bench.cases)


def test_the_quantized_method_is_the_vanilla_one_in_half_precision(bench, study):
    assert not list(bench.work.glob("weights-quantized*")) and list(bench.work.glob("weights-vanilla_gat-0*"))


def test_what_is_done_is_kept(bench, study):
    scores = bench.work / "scores-graphghha-0.json"
    before = scores.read_text()
    changed = json.loads(before)
    changed["32"]["f1"] = 0.123
    scores.write_text(json.dumps(changed))
    assert bench.run(GRAPHGHHA, 0, [32])[32]["f1"] == 0.123
    scores.write_text(before)


def test_a_family_that_is_left_out_of_training_is_scored_all_the_same(bench):
    (row,) = unseen_families(bench, ["sensor_bias"], 32, 0)
    assert row["family"] == "sensor_bias" and set(row["cases"]) == {"FCU_SensorBias_RMTemp_+4C"}
    assert (bench.work / "weights-without-sensor_bias-0.pt").exists()


def test_seeds_are_pooled_and_cases_gathered_by_family():
    rows = [
        {
            "p": 1.0,
            "r": r,
            "f1": f1,
            "f1_raw": f1,
            "f1_ceiling": 1.0,
            "false_rate": 0.0,
            "samples": 5,
            "by_case": by_case,
        }
        for r, f1, by_case in ((0.5, 0.6, {"FCU_OABlockage": 0.4}), (0.7, 0.8, {"FCU_OABlockage": 0.8}))
    ]
    assert pooled(rows)["r"] == pytest.approx(0.6) and pooled(rows)["f1_std"] == pytest.approx(0.2 / 2**0.5)
    assert pooled(rows[:1])["f1_std"] is None
    assert by_family(load_plant("fcu"), rows)["airflow_obstruction"]["f1"] == pytest.approx(0.6)


class _Unstable(Variant):
    """A network whose initial weights are NaN, so that its training diverges."""

    def build(self, plant):
        adu = Variant.build(self, plant)
        with torch.no_grad():
            next(adu.parameters()).fill_(float("nan"))
        return adu


def test_a_variant_that_does_not_train_is_a_row_that_says_so(bench, tmp_path):
    unstable = _Unstable("unstable", GRAPHGHHA.adu)
    study = detection(bench, [GRAPHGHHA, unstable], [32], [0])
    row = study["rows"][1]
    assert row["diverged_at"] == 1 and row["f1"] is None and row["seeds"] == 1
    assert not list(bench.work.glob("weights-unstable*")) and study["families"][1]["families"] == {}
    attacker = {"config": {"restarts": 1, "steps": 1}, "zones": 1, "raise_at": 0.5}
    attacker |= {when: {"zone": 1.0, "node": 1.0} for when in ("plain", "evaded")}
    result = {"bench": "ablation", "machine": {"packages": {}}, **study, "attacker": attacker}
    table_ii = study | {"machine": {"packages": {}}}
    page = detection_page({"ablation": result, "detection": table_ii}, tmp_path).read_text()
    assert "| unstable | does not train: loss not finite at step 1 |" in page
    beside = comparison_page([result | {"machine": {"cpu": "some"}}], tmp_path).read_text()
    assert "| unstable | 32 | does not train |" in beside
    assert "`graphghha bench ablation --seeds 1` on some" in beside, "the command that gives these very rows"
