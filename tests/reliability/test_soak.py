"""A short soak runs to its end in bounded memory, and its figures stand on the page. Speed is not tested here."""

from faults.effort import QUICK
from faults.rig import TOY_RIG
from faults.trials import run
from graphghha.lab.bench.pages.index import write_pages


def test_a_soak_completes_in_bounded_memory_and_makes_a_page(mosquitto, tmp_path):
    result = run(TOY_RIG, QUICK, only=["soak"])
    page, _ = write_pages([result], tmp_path)
    holds = {row["figure"]: row["holds"] for row in result["rows"]}
    assert holds["memory growth after the first quarter"]
    assert all(figure in page.read_text() for figure in holds)
