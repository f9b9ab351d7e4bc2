"""Writes all results pages from stored results."""

from collections.abc import Sequence
from pathlib import Path

from graphghha.errors import DataError
from graphghha.lab.bench.pages.attacker import attacker_page
from graphghha.lab.bench.pages.commissioning import commissioning_page
from graphghha.lab.bench.pages.comparison import comparison_page
from graphghha.lab.bench.pages.detection import STUDIES, detection_page
from graphghha.lab.bench.pages.diets import diets_page
from graphghha.lab.bench.pages.effects import effects_page
from graphghha.lab.bench.pages.incremental import events_page
from graphghha.lab.bench.pages.latency import SPEED_BENCHES, latency_page
from graphghha.lab.bench.pages.plants import plants_page
from graphghha.lab.bench.pages.precision import precision_page
from graphghha.lab.bench.pages.reliability import reliability_page
from graphghha.lab.bench.pages.shift import shift_page
from graphghha.lab.bench.pages.whether_where import whether_where_page
from graphghha.lab.bench.results import is_paper_protocol
from graphghha.lab.markdown import Result

_SINGLE = {
    "precision": precision_page,
    "events": events_page,
    "reliability": reliability_page,
    "whether-where": whether_where_page,
    "diets": diets_page,
    "effects": effects_page,
    "attacker": attacker_page,
}


def write_pages(results: Sequence[Result], directory: Path) -> list[Path]:
    """Write every page that has results, and the comparison with the paper; return the paths of the pages.

    The comparison shows the last one of several results of an experiment.
    """
    try:
        return _write(results, directory)
    except KeyError as exc:
        raise DataError(f"bench page: a result has no field {exc}; measure it again with this version") from exc


def _write(results: Sequence[Result], directory: Path) -> list[Path]:
    pages = []
    if any(result["bench"] in SPEED_BENCHES for result in results):
        pages.append(latency_page(results, directory))
    by_bench = {result["bench"]: result for result in results if is_paper_protocol(result)}
    if by_bench.keys() & set(STUDIES):
        retrained = [result for result in results if result["config"].get("retrain")]
        pages.append(detection_page(by_bench, directory, retrained[-1] if retrained else None))
    for name, write in _SINGLE.items():
        if own := [result for result in results if result["bench"] == name]:
            pages.append(write(own[-1], directory))
    if commissioned := [result for result in results if result["bench"] == "commissioning"]:
        pages.append(commissioning_page(commissioned, directory))
    if shifted := [result for result in results if result["bench"] == "shift"]:
        pages.append(shift_page(shifted, directory))
    if foreign := [result for result in results if result["bench"] == "plants"]:
        pages.append(plants_page(foreign, directory))
    return [*pages, comparison_page(results, directory)]
