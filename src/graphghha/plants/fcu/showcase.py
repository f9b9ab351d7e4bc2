"""A summer day on which one attack of each family happens, each in a zone of its own."""

from datetime import datetime

from graphghha.plants.base import CaseSpec, Scene

SCENE = Scene(
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
