"""Runs all experiments in a row and skips those with a fresh result, so that a killed run resumes where it stopped."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphghha._util.suggest import did_you_mean
from graphghha._version import __version__
from graphghha.errors import ConfigError, DataError, GraphGHHAError, NotFoundError
from graphghha.lab.bench.experiments import EXPERIMENTS, Experiment, Scope
from graphghha.lab.bench.pages.index import write_pages
from graphghha.lab.bench.results import read_result, write_result
from graphghha.models import load_model

DATA = "data"


@dataclass(frozen=True, slots=True)
class Summary:
    """The experiments that ran, were skipped or failed, and the pages that were written."""

    ran: tuple[str, ...]
    skipped: tuple[str, ...]
    failed: dict[str, str]  # name -> reason
    pages: tuple[Path, ...]


def run_all(
    directory: Path,
    scope: Scope,
    *,
    only: Sequence[str] = (),
    again: bool = False,
    experiments: Sequence[Experiment] = EXPERIMENTS,
) -> Summary:
    """Measure into `directory/data`, then write the pages from all results in that folder, older ones included."""
    known = {experiment.name: experiment for experiment in experiments}
    if unknown := [name for name in only if name not in known]:
        near = did_you_mean(unknown[0], known) or ";"
        raise NotFoundError(f"bench paper: unknown experiment {unknown[0]!r}{near} choose from {', '.join(known)}")
    data = directory / DATA
    ran, skipped, failed = [], [], {}
    for experiment in [known[name] for name in only] or experiments:
        path, stamp = data / f"{experiment.name}.json", _stamp(experiment, scope)
        if not again and _is_fresh(path, stamp):
            skipped.append(experiment.name)
            continue
        if scope.quick and _is_full_measurement(path):
            raise ConfigError(f"{path}: --quick would replace a full measurement; choose another folder")
        scope.progress(f"== {experiment.title}")
        try:
            result = experiment.run(scope)
        except GraphGHHAError as exc:  # run the others all the same
            failed[experiment.name] = str(exc)
            scope.progress(f"failed: {exc}")
            continue
        write_result({**result, "stamp": stamp}, path)
        ran.append(experiment.name)
    results = [read_result(path) for path in sorted(data.glob("*.json"))]
    return Summary(tuple(ran), tuple(skipped), failed, tuple(write_pages(results, directory)))


def _stamp(experiment: Experiment, scope: Scope) -> dict[str, Any]:
    """Return what a result depends on, as far as this is known before the run."""
    model = load_model(scope.model).fingerprint if experiment.uses_model else None
    return {"version": __version__, "model": model, "quick": scope.quick, "seed": scope.seed}


def _is_fresh(path: Path, stamp: dict[str, Any]) -> bool:
    try:
        return read_result(path).get("stamp") == stamp
    except (OSError, DataError):
        return False


def _is_full_measurement(path: Path) -> bool:
    """Return whether a result exists that is not a quick one. A result without a stamp comes from its own command."""
    try:
        return not read_result(path).get("stamp", {}).get("quick", False)
    except (OSError, DataError):
        return False
