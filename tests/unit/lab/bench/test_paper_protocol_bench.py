"""Detection studies train, score, keep what is done, and write their page beside the printed figures."""

import json
import re

import numpy as np
import pytest
import torch

from graphghha.classes import CLASSES
from graphghha.errors import ConfigError
from graphghha.lab.baselines import BASELINES as DEPLOY_BASELINES
from graphghha.lab.bench.detection import studies
from graphghha.lab.bench.detection.attacker import AttackerConfig, Defender, attacked_zones, evade
from graphghha.lab.bench.detection.paper_protocol import (
    QUICK,
    DetectionEffort,
    PaperBench,
    by_family,
    detection,
    pooled,
    unseen_families,
)
from graphghha.lab.bench.detection.variants import ABLATIONS, BASELINES, GRAPHGHHA, METHODS, Variant
from graphghha.lab.bench.pages.comparison import comparison_page
from graphghha.lab.bench.pages.detection import detection_page
from graphghha.lab.paper.fit import PaperFit, _Draw
from graphghha.lab.paper.protocol import NORMAL, Year
from graphghha.models import load_model
from graphghha.models.shipped import shipped_model
from graphghha.plants import load_plant
from graphghha.windows.features import FEATURE_NAMES, FEATURE_RANGE

pytestmark = pytest.mark.slow

TINY = DetectionEffort(days=1, stride_min=240, steps=3, normal_years=1, extra_years=0, most_samples=1, batch_zones=4)

CASES = ("FCU_OADMPRStuck_100", "FCU_VLVStuck_Heating_100", "FCU_SensorBias_RMTemp_+4C", "FCU_FilterRestriction_50%")


@pytest.fixture(scope="module")
def model():
    return load_model(shipped_model("fcu"))


@pytest.fixture(scope="module")
def bench(tmp_path_factory, model):
    return PaperBench(tmp_path_factory.mktemp("work"), TINY, preprocessing=model.preprocessing, cases=CASES)


@pytest.fixture(scope="module")
def found(bench):
    return detection(bench, METHODS, [32, 64], [0, 1])


def test_every_method_is_scored_at_every_size_with_its_spread(found):
    assert [(row["method"], row["nodes"]) for row in found["rows"]] == [(m.name, n) for m in METHODS for n in (32, 64)]
    for row in found["rows"]:
        assert 0 <= row["f1"] <= 1 and row["f1_std"] >= 0 and row["seeds"] == 2 and row["protocol"] == "paper"
        assert set(row) >= {"p", "r", "f1_raw", "f1_ceiling"} and row["event_recall"] is None is row["brier_skill"]
    names = {name for family in found["families"][0]["families"].values() for name in family["cases"]}
    assert names and names <= set(CASES)


def test_the_quantized_method_is_the_vanilla_one_in_half_precision(bench, found):
    assert not list(bench.work.glob("weights-quantized*")) and list(bench.work.glob("weights-vanilla_gat-0*"))


def test_what_is_done_is_kept(bench, found):
    scores = bench.work / "scores-graphghha-0.json"
    before = scores.read_text()
    changed = json.loads(before)
    changed["32"]["f1"] = 0.123
    scores.write_text(json.dumps(changed))
    assert bench.run(GRAPHGHHA, 0, [32])[32]["f1"] == 0.123
    scores.write_text(before)


def test_a_family_left_out_is_never_drawn_and_is_judged_all_the_same(bench):
    draw = _Draw(bench.plant, bench.training, PaperFit(batch_zones=32), ["FCU_SensorBias_RMTemp_+4C"])
    labels = {int(label) for step in range(40) for label in draw(np.random.default_rng(step))[1].unique()}
    assert labels == {CLASSES.index(name) for name in ("normal", "actuator")}
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


@pytest.mark.parametrize("variant", ABLATIONS, ids=lambda variant: variant.name)
def test_every_variant_can_be_built(variant: Variant):
    assert variant.build(load_plant("fcu")).config.layer == "graphghha"


class _Unstable(Variant):
    """Its first weights are no numbers, as those of a network that did not train."""

    def build(self, plant):
        adu = Variant.build(self, plant)
        with torch.no_grad():
            next(adu.parameters()).fill_(float("nan"))
        return adu


def test_a_variant_that_does_not_train_is_a_row_that_says_so(bench, tmp_path):
    unstable = _Unstable("unstable", GRAPHGHHA.adu)
    found = detection(bench, [GRAPHGHHA, unstable], [32], [0])
    row = found["rows"][1]
    assert row["diverged_at"] == 1 and row["f1"] is None and row["seeds"] == 1
    assert not list(bench.work.glob("weights-unstable*")) and found["families"][1]["families"] == {}
    attacker = {"config": {"restarts": 1, "steps": 1}, "zones": 1, "raise_at": 0.5}
    attacker |= {when: {"zone": 1.0, "node": 1.0} for when in ("plain", "evaded")}
    result = {"bench": "ablation", "machine": {"packages": {}}, **found, "attacker": attacker}
    table_ii = found | {"machine": {"packages": {}}}
    page = detection_page({"ablation": result, "detection": table_ii}, tmp_path).read_text()
    assert "| unstable | does not train: loss no number at step 1 |" in page
    beside = comparison_page([result | {"machine": {"cpu": "some"}}], tmp_path).read_text()
    assert "| unstable | 32 | does not train |" in beside
    assert "`graphghha bench ablation --seeds 1` on some" in beside, "the command that gives these very rows"


def test_the_page_shows_ours_beside_the_printed(found, tmp_path):
    machine = {"packages": {"torch": "0"}}
    heads = {**found, "machine": machine, "rows": [{**found["rows"][0], "method": "2 heads"}]}
    evaded = {"config": {"restarts": 1, "steps": 2}, "zones": 3, "raise_at": 0.5}
    shares = {"plain": {"zone": 0.9, "node": 0.8}, "evaded": {"zone": 0.7, "node": 0.1}}
    residual = {"method": "largest_residual", "nodes": 64, "families": {"damper": {"f1": 0.75}}}
    results = {
        "detection": {**found, "machine": machine, "families": [*found["families"], residual]},
        "scenarios": {**found, "unseen": [{"family": "damper", "f1": 0.25}]},
        "heads": {**heads, "latency": [{"heads": 2, "ms": 1.0}]},
        "ablation": {**found, "machine": machine, "attacker": evaded | shares},
    }
    text = detection_page(results, tmp_path).read_text()
    assert re.search(r"\| damper \| [\d.]+ % \| 97.8 % \| 25.0 % \| 75.0 % \|", text)
    assert (
        "(0.876)" in text and "97.8 %" in text and "| 2 | " in text and "| the attacked node | 0.800 | 0.100 |" in text
    )
    for figure in ("detection.svg", "families.svg", "heads.svg"):
        assert (tmp_path / figure).stat().st_size > 1000


def test_the_attacker_changes_only_what_he_holds_and_never_makes_it_worse_for_himself(model):
    config = AttackerConfig(steps=4, restarts=2, zones=12, days=4)
    features, held = attacked_zones(load_plant("fcu"), model, 1, config)
    defender = Defender(model)
    after = evade(defender, features, held, config, seed=0)
    assert (after[~held] == features[~held]).all() and after[held].abs().max() <= FEATURE_RANGE + 1e-6
    before_score, after_score = (defender.log_odds(x).amax(dim=1).detach().numpy() for x in (features, after))
    assert (after_score <= before_score + 1e-5).all() and np.mean(after_score < before_score - 1e-3) > 0.3


def test_the_studies_name_themselves_and_their_machine(bench, found):
    result = studies.table_ii(bench, [32, 64], [0, 1])
    assert result["bench"] == "detection" and result["machine"]["packages"]
    assert result["rows"][: len(found["rows"])] == found["rows"]
    assert {row["method"] for row in result["rows"]} == {variant.name for variant in (*METHODS, *BASELINES)}


def test_a_quick_look_keeps_to_the_sizes_that_were_asked_for(tmp_path):
    quick = PaperBench(tmp_path, QUICK)
    usual = ((32, 1024), (32, 128))
    assert studies._sizes(quick, [64], *usual) == [64] and studies._sizes(quick, None, *usual) == [32, 128]
    with pytest.raises(ConfigError, match="33 nodes are no multiple of the template's 32"):
        studies.table_ii(quick, [32, 33], [0])


@pytest.mark.parametrize("name", [variant.name for variant in BASELINES if variant.name != "random"])
def test_a_baseline_suspects_the_node_whose_features_lie_farthest_out(name):
    rng = np.random.default_rng(5)
    # readings of a unit that go together: all nodes follow one tide, with a little noise of their own
    normal = rng.normal(size=(400, 2, 1, 1)) + 0.05 * rng.normal(size=(400, 2, 32, len(FEATURE_NAMES)))
    year = Year((NORMAL, NORMAL), normal.astype(np.float16), np.zeros((400, 2), np.bool_))
    score = next(variant for variant in BASELINES if variant.name == name).baseline([year])
    features = np.zeros((2, 3, 32, len(FEATURE_NAMES)), np.float32)
    features[1, 2, 7] = -3.0
    attack = 1.0 - score(features)[..., 0]
    assert np.unravel_index(attack.argmax(), attack.shape) == (1, 2, 7) and attack[1, 2, 7] >= 0.7
    assert attack[0].max() < 0.1


def test_a_name_in_the_tables_of_both_protocols_is_one_algorithm():
    assert {variant.name for variant in BASELINES} & set(DEPLOY_BASELINES) == {"random"}


def test_random_scores_are_uniform():
    score = next(variant for variant in BASELINES if variant.name == "random").baseline([])
    attack = score(np.zeros((50, 3, 32, len(FEATURE_NAMES)), np.float32))[..., 1]
    assert 0.49 < attack.mean() < 0.51 and attack.std() == pytest.approx(12**-0.5, rel=0.02)
