"""The fan-coil plant: a template of 32 nodes, 29 signals read once a minute, and an attack catalogue."""

from datetime import datetime
from typing import Any

from graphghha.plants.base import CaseSpec, Dialect, Plant, Showcase
from graphghha.plants.fcu.advice import ADVICE
from graphghha.plants.fcu.attacks.catalog import CASES
from graphghha.plants.fcu.signals import NAMES, SIGNALS, SOURCE_UNITS, TIME_COLUMN, TIME_FORMAT
from graphghha.plants.fcu.topology import TEMPLATE

# a summer day with one attack of each of six families, each in a zone of its own
SHOWCASE = Showcase(
    zones=12,
    day=datetime(2018, 7, 10),
    begin_min=9 * 60,
    cases=tuple(
        CaseSpec.parse(text)
        for text in (
            "FCU_VLVStuck_Cooling_100@7,start=2018-07-10T09:15,for=2h",
            "FCU_SensorBias_RMTemp_+4C@3,start=2018-07-10T10:00,for=2h",
            "FCU_OADMPRStuck_80@10,start=2018-07-10T10:45,for=2h",
            "FCU_FanOutletBlockage@5,start=2018-07-10T11:30,for=2h",
            "FCU_Control_CoolingReverse@1,start=2018-07-10T12:15,for=2h",
            "FCU_Fouling_Cooling_Airside_Severe@12,start=2018-07-10T13:00,for=3h",
        )
    ),
)

PLANT = Plant(
    name="fcu",
    title="Fan-coil unit of a building zone (LBNL)",
    template=TEMPLATE,
    signals=SIGNALS,
    step_s=60.0,
    cases=CASES,
    showcase=SHOWCASE,
    dialects=(
        Dialect(time_column=TIME_COLUMN, time_format=TIME_FORMAT, units=dict(zip(NAMES, SOURCE_UNITS, strict=True))),
    ),
    advice=ADVICE,
    main_value=("RM_TEMP", "RMCLGSPT", "RMHTGSPT"),
)


def __getattr__(name: str) -> Any:
    """Import the parts that need pyarrow or numba on first use."""
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
