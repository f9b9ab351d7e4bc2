from datetime import datetime

import pytest

from graphghha.plants.fcu.lbnl.writer import LbnlWriter, note_simulated
from graphghha.plants.fcu.physics.building import Building
from lbnl_builders import DAYS, FAULT_FREE


@pytest.fixture(scope="module")
def simulated():
    building = Building(zones=1, seed=2, start=datetime(2018, 12, 30))
    return list(building.days(DAYS))


@pytest.fixture
def folder(tmp_path, simulated):
    with LbnlWriter(tmp_path / f"{FAULT_FREE}.csv") as writer:
        for day in simulated:
            writer.write(day.times, day.telemetry[0])
    note_simulated(tmp_path / f"{FAULT_FREE}.csv", rows=DAYS * 1440, about={"seed": 2})
    return tmp_path
