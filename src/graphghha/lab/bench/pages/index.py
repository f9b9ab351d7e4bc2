"""Results pages from stored JSON: nothing on them is typed by hand."""

import json
from collections.abc import Sequence
from pathlib import Path

from graphghha.errors import DataError
from graphghha.lab.bench.pages.comparison import comparison_page
from graphghha.lab.bench.pages.detection import STUDIES, detection_page
from graphghha.lab.bench.pages.incremental import events_page
from graphghha.lab.bench.pages.latency import SPEED_BENCHES, latency_page
from graphghha.lab.bench.pages.precision import precision_page
from graphghha.lab.bench.pages.reliability import reliability_page
from graphghha.lab.markdown import Result, of_paper

_FIELDS = {"bench": str, "rows": list, "machine": dict, "config": dict}
_SINGLE = {"precision": precision_page, "events": events_page, "reliability": reliability_page}


def read_result(path: Path) -> Result:
    """A stored result: a JSON file, or the output of a command that ends in one JSON line."""
    text = path.read_text(encoding="utf-8", errors="replace")
    for part in (text, text.strip().rpartition("\n")[2]):
        try:
            found = json.loads(part)
        except ValueError:
            continue
        if isinstance(found, dict) and all(isinstance(found.get(name), kind) for name, kind in _FIELDS.items()):
            result: Result = found
            return result
    raise DataError(f"{path}: is no benchmark result: expected a JSON object with {', '.join(_FIELDS)}")


def write_pages(results: Sequence[Result], directory: Path) -> list[Path]:
    """Every page there are results for, and the comparison with the paper; of several runs the last counts there."""
    try:
        return _write(results, directory)
    except KeyError as exc:
        raise DataError(f"bench page: a result has no {exc}; measure it again with this version") from exc


def _write(results: Sequence[Result], directory: Path) -> list[Path]:
    pages = []
    if any(result["bench"] in SPEED_BENCHES for result in results):
        pages.append(latency_page(results, directory))
    by_bench = {result["bench"]: result for result in results if of_paper(result)}
    if by_bench.keys() & set(STUDIES):
        retrained = [result for result in results if result["config"].get("retrain")]
        pages.append(detection_page(by_bench, directory, retrained[-1] if retrained else None))
    for name, write in _SINGLE.items():
        if found := [result for result in results if result["bench"] == name]:
            pages.append(write(found[-1], directory))
    return [*pages, comparison_page(results, directory)]
