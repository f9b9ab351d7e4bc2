"""Plants by name. A plant is imported only when it is asked for, so that one plant's needs do not burden another."""

import difflib
from collections.abc import Callable
from importlib import import_module
from typing import Any

from graphghha.errors import NotFoundError
from graphghha.plants.base import CaseInfo, CaseSpec, Plant, Signal
from graphghha.plants.rules import Rule
from graphghha.plants.testbed import LabelledDay, Testbed

_MODULES = {"fcu": "graphghha.plants.fcu"}
_SIMULATORS = {"fcu": "graphghha.plants.fcu.simulate"}
_TESTBEDS = {"fcu": "graphghha.plants.fcu.testbed"}
_RULES = {"fcu": "graphghha.plants.fcu.rules"}

__all__ = [
    "CaseInfo",
    "CaseSpec",
    "LabelledDay",
    "Plant",
    "Rule",
    "Signal",
    "Testbed",
    "known_plants",
    "load_plant",
    "load_rules",
    "load_simulator",
    "load_testbed",
]


def known_plants() -> tuple[str, ...]:
    """The names `load_plant` takes."""
    return tuple(_MODULES)


def load_plant(name: str) -> Plant:
    """The built-in plant of this name."""
    if name not in _MODULES:
        near = difflib.get_close_matches(name, _MODULES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ";"
        raise NotFoundError(f"no plant is named {name!r}{hint} known plants: {', '.join(_MODULES)}")
    plant: Plant = import_module(_MODULES[name]).PLANT
    return plant


def load_simulator(name: str) -> Callable[..., dict[str, Any]]:
    """The function that simulates this plant into files; `graphghha simulate` shows what it takes."""
    load_plant(name)
    if name not in _SIMULATORS:
        raise NotFoundError(f"plant {name!r} has no simulator; these have one: {', '.join(_SIMULATORS)}")
    simulate: Callable[..., dict[str, Any]] = import_module(_SIMULATORS[name]).simulate
    return simulate


def load_testbed(name: str) -> Testbed:
    """The plant's testbed: labelled telemetry under attack, in memory."""
    load_plant(name)
    if name not in _TESTBEDS:
        raise NotFoundError(f"plant {name!r} has no testbed; these have one: {', '.join(_TESTBEDS)}")
    testbed: Testbed = import_module(_TESTBEDS[name])
    return testbed


def load_rules(name: str) -> tuple[Rule, ...]:
    """What an engineer of this plant would watch for; a plant without rules has none."""
    load_plant(name)
    rules: tuple[Rule, ...] = import_module(_RULES[name]).RULES if name in _RULES else ()
    return rules
