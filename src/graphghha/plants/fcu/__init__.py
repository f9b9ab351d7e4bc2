"""The fan-coil plant: a 32-node template, 29 signals at one minute, and its attack catalogue."""

from graphghha.plants.base import Plant
from graphghha.plants.fcu.advice import ADVICE
from graphghha.plants.fcu.catalog import CASES
from graphghha.plants.fcu.scene import SCENE
from graphghha.plants.fcu.signals import SIGNALS
from graphghha.plants.fcu.topology import TEMPLATE

PLANT = Plant(
    name="fcu",
    title="Fan-coil unit of a building zone (LBNL)",
    template=TEMPLATE,
    signals=SIGNALS,
    step_s=60.0,
    cases=CASES,
    scene=SCENE,
    advice=ADVICE,
)
