"""The detection page shows our figures beside the printed ones."""

import re

import pytest

from graphghha.lab.bench.pages.detection import detection_page

pytestmark = pytest.mark.slow


def test_the_page_shows_ours_beside_the_printed(study, tmp_path):
    machine = {"packages": {"torch": "0"}}
    heads = {**study, "machine": machine, "rows": [{**study["rows"][0], "method": "2 heads"}]}
    evaded = {"config": {"restarts": 1, "steps": 2}, "zones": 3, "raise_at": 0.5}
    shares = {"plain": {"zone": 0.9, "node": 0.8}, "evaded": {"zone": 0.7, "node": 0.1}}
    residual = {"method": "largest_residual", "nodes": 64, "families": {"damper": {"f1": 0.75}}}
    results = {
        "detection": {**study, "machine": machine, "families": [*study["families"], residual]},
        "scenarios": {**study, "unseen": [{"family": "damper", "f1": 0.25}]},
        "heads": {**heads, "latency": [{"heads": 2, "ms": 1.0}]},
        "ablation": {**study, "machine": machine, "attacker": evaded | shares},
    }
    text = detection_page(results, tmp_path).read_text()
    assert re.search(r"\| damper \| [\d.]+ % \| 97.8 % \| 25.0 % \| 75.0 % \|", text)
    assert (
        "(0.876)" in text and "97.8 %" in text and "| 2 | " in text and "| the attacked node | 0.800 | 0.100 |" in text
    )
    for figure in ("detection.svg", "families.svg", "heads.svg"):
        assert (tmp_path / figure).stat().st_size > 1000
