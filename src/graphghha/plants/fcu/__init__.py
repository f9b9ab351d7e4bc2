"""The fan-coil plant: a 32-node template, 29 signals at one minute, and its attack catalogue."""

from typing import Any

from graphghha.plants.base import Dialect, Plant
from graphghha.plants.fcu.advice import ADVICE
from graphghha.plants.fcu.attacks.catalog import CASES
from graphghha.plants.fcu.showcase import SCENE
from graphghha.plants.fcu.signals import NAMES, SIGNALS, SOURCE_UNITS, TIME_COLUMN, TIME_FORMAT
from graphghha.plants.fcu.topology import TEMPLATE

PLANT = Plant(
    name="fcu",
    title="Fan-coil unit of a building zone (LBNL)",
    template=TEMPLATE,
    signals=SIGNALS,
    step_s=60.0,
    cases=CASES,
    scene=SCENE,
    dialects=(
        Dialect(time_column=TIME_COLUMN, time_format=TIME_FORMAT, units=dict(zip(NAMES, SOURCE_UNITS, strict=True))),
    ),
    advice=ADVICE,
)


def __getattr__(name: str) -> Any:
    """Import the parts that need pyarrow or numba when they are first asked for."""
    if name == "SIMULATOR":
        from graphghha.plants.fcu.simulate import simulate

        return simulate
    if name == "TESTBED":
        from graphghha.plants.fcu import testbed

        return testbed
    if name == "RULES":
        from graphghha.plants.fcu.rules import RULES

        return RULES
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
