"""What the detection benchmarks compare."""

import pytest

from graphghha.lab.baselines import BASELINES as DEPLOY_BASELINES
from graphghha.lab.bench.detection.variants import ABLATIONS, BASELINES, Variant
from graphghha.plants import load_plant


@pytest.mark.parametrize("variant", ABLATIONS, ids=lambda variant: variant.name)
def test_every_variant_can_be_built(variant: Variant):
    assert variant.build(load_plant("fcu")).config.layer == "graphghha"


def test_a_name_in_the_tables_of_both_protocols_is_one_algorithm():
    assert {variant.name for variant in BASELINES} & set(DEPLOY_BASELINES) == {"random"}
