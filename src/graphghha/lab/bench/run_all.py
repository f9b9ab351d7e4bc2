"""All experiments in a row: what has a fresh result is skipped, so a killed run goes on where it stopped."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphghha._version import __version__
from graphghha.errors import ConfigError, DataError, GraphGHHAError, NotFoundError
from graphghha.lab.bench.experiments import EXPERIMENTS, Experiment, Scope
from graphghha.lab.bench.pages.index import read_result, write_pages
from graphghha.lab.markdown import Result
from graphghha.models import load_model

DATA = "data"


@dataclass(frozen=True, slots=True)
class Done:
    """What became of every experiment, and the pages that were written."""

    ran: tuple[str, ...]
    skipped: tuple[str, ...]
    failed: dict[str, str]  # name -> why
    pages: tuple[Path, ...]


def run_everything(
    directory: Path,
    scope: Scope,
    *,
    only: Sequence[str] = (),
    again: bool = False,
    experiments: Sequence[Experiment] = EXPERIMENTS,
) -> Done:
    """Measure into `directory/data`, then write all pages from whatever results lie there, older runs included."""
    known = {experiment.name: experiment for experiment in experiments}
    if strange := [name for name in only if name not in known]:
        raise NotFoundError(f"bench paper: no experiment {strange[0]!r}; there are: {', '.join(known)}")
    data = directory / DATA
    data.mkdir(parents=True, exist_ok=True)
    ran, skipped, failed = [], [], {}
    for experiment in [known[name] for name in only] or experiments:
        path, stamp = data / f"{experiment.name}.json", _stamp(experiment, scope)
        if not again and _is_fresh(path, stamp):
            skipped.append(experiment.name)
            continue
        if scope.quick and _is_measured(path):
            raise ConfigError(f"{path}: a quick look would replace a whole measurement; choose another folder")
        scope.say(f"== {experiment.shows}")
        try:
            result = experiment.run(scope)
        except GraphGHHAError as exc:  # the others are still worth having
            failed[experiment.name] = str(exc)
            scope.say(f"failed: {exc}")
            continue
        _store(path, {**result, "stamp": stamp})
        ran.append(experiment.name)
    results = [read_result(path) for path in sorted(data.glob("*.json"))]
    return Done(tuple(ran), tuple(skipped), failed, tuple(write_pages(results, directory)))


def _stamp(experiment: Experiment, scope: Scope) -> dict[str, Any]:
    """What a result depends on, as far as it can be told beforehand."""
    model = load_model(scope.model).fingerprint if experiment.uses_model else None
    return {"version": __version__, "model": model, "quick": scope.quick, "seed": scope.seed}


def _is_fresh(path: Path, stamp: dict[str, Any]) -> bool:
    try:
        return read_result(path).get("stamp") == stamp
    except (OSError, DataError):
        return False


def _is_measured(path: Path) -> bool:
    """A result that is no quick look; one without a stamp was measured by its own command."""
    try:
        return not read_result(path).get("stamp", {}).get("quick", False)
    except (OSError, DataError):
        return False


def _store(path: Path, result: Result) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)
