"""Many times real time for a few seconds, and the page that tells all figures. How fast it is, the bench tells."""

from faults.effort import QUICK
from faults.rig import PLAIN_RIG
from faults.trials import run
from graphghha.lab.bench.pages.index import write_pages


def test_a_soak_comes_to_its_end_in_bounded_memory_and_makes_a_page(mosquitto, tmp_path):
    result = run(PLAIN_RIG, QUICK, only=["soak"])
    page, _ = write_pages([result], tmp_path)
    holds = {row["figure"]: row["holds"] for row in result["rows"]}
    assert holds["memory grown after the first quarter"]
    assert all(figure in page.read_text() for figure in holds)
