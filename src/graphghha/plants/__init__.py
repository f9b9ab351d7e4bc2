"""Plants by name. Files of telemetry are read and written by `graphghha.plants.telemetry`, which needs pyarrow.

A plant is a module with the attribute `PLANT` and, if it has them, `SIMULATOR` (a function that writes files),
`TESTBED` (labelled telemetry in memory) and `RULES` (what an engineer would watch for). To add a plant, write the
module and list it in `_PLANTS`. A plant is imported on first use; heavy imports (pyarrow, numba) wait
until one of its optional attributes is used.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from graphghha._util.suggest import did_you_mean
from graphghha.errors import NotFoundError
from graphghha.plants.base import (
    Advice,
    CaseInfo,
    CaseSpec,
    Dialect,
    Plant,
    Reporting,
    Showcase,
    Signal,
    choose_cases,
)
from graphghha.plants.own import parse_plant, read_plant
from graphghha.plants.points import Points
from graphghha.plants.rules import Rule
from graphghha.plants.testbed import NO_EVENT, LabelledDay, Testbed

_PLANTS = {"fcu": "graphghha.plants.fcu"}

__all__ = [
    "NO_EVENT",
    "Advice",
    "CaseInfo",
    "CaseSpec",
    "Dialect",
    "LabelledDay",
    "Plant",
    "Points",
    "Reporting",
    "Rule",
    "Showcase",
    "Signal",
    "Testbed",
    "choose_cases",
    "known_plants",
    "load_plant",
    "load_rules",
    "load_simulator",
    "load_testbed",
    "parse_plant",
    "read_plant",
]


def known_plants() -> tuple[str, ...]:
    """Return the names that `load_plant` takes."""
    return tuple(_PLANTS)


def load_plant(name: str | Path) -> Plant:
    """Return the built-in plant of this name, or the plant that a TOML file describes."""
    if isinstance(name, Path) or name.endswith(".toml"):
        return read_plant(Path(name))
    plant: Plant = _module(name).PLANT
    return plant


def load_simulator(name: str) -> Callable[..., dict[str, Any]]:
    """Return the function that simulates this plant into files; `graphghha simulate --help` shows what it takes."""
    simulator: Callable[..., dict[str, Any]] = _part(name, "SIMULATOR")
    return simulator


def load_testbed(name: str) -> Testbed:
    """Return the plant's testbed, which simulates labelled telemetry under attack in memory."""
    testbed: Testbed = _part(name, "TESTBED")
    return testbed


def load_rules(name: str) -> tuple[Rule, ...]:
    """Return the rules that an engineer of this plant would watch; empty if the plant has none."""
    rules: tuple[Rule, ...] = getattr(_module(name), "RULES", ())
    return rules


def _module(name: str) -> ModuleType:
    if name not in _PLANTS:
        hint = did_you_mean(name, _PLANTS)
        raise NotFoundError(
            f"no plant is named {name!r}{hint or ';'} known plants: {', '.join(_PLANTS)}, or the path of a plant.toml"
        )
    return import_module(_PLANTS[name])


def _part(name: str, attribute: str) -> Any:
    part = getattr(_module(name), attribute, None)
    if part is None:
        what = attribute.lower()
        raise NotFoundError(f"plant {name!r} has no {what}; use recorded data of it, or a plant that has a {what}")
    return part
