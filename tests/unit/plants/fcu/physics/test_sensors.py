from datetime import datetime

import numpy as np
import pytest

from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.physics.design import Design
from graphghha.plants.fcu.physics.sensors import IS_TEMPERATURE, SensorErrors
from graphghha.plants.fcu.signals import INDEX, NAMES, NOISE

START = datetime(2018, 7, 2)


def day(errors: SensorErrors, days: int = 1, zones: int = 2) -> np.ndarray:
    building = Building(zones=zones, seed=4, start=START, design=Design(sensors=errors))
    return [chunk.telemetry for chunk in building.days(days)][-1]


def test_an_offset_is_read_by_the_controller_too():
    """The controller holds the reading at its setpoint, so the room itself is off by the offset."""
    building = Building(seed=8, start=START, design=Design(sensors=SensorErrors(temperature_offset=1.0)), noise=False)
    offset = building.sensors[0].offsets[INDEX["RM_TEMP"]]
    assert abs(offset) > 0.3
    plain = Building(seed=8, start=START, noise=False).step().telemetry[0, 900:1000, INDEX["FCU_MAT"]].mean()
    shifted = building.step().telemetry[0, 900:1000, INDEX["FCU_MAT"]].mean()
    own = building.sensors[0].offsets[INDEX["FCU_MAT"]]
    assert np.sign(shifted - own - plain) == -np.sign(offset)


def test_outdoor_sensors_are_shared_by_all_zones_and_others_are_not():
    sensors = Building(
        zones=3, seed=4, start=START, design=Design(sensors=SensorErrors(temperature_offset=0.5))
    ).sensors
    outdoor, room = (np.array([each.offsets[INDEX[name]] for each in sensors]) for name in ("FCU_OAT", "RM_TEMP"))
    assert (outdoor == outdoor[0]).all() and len(set(room.tolist())) == 3


def test_noise_scales_with_its_factor():
    quiet, loud = (np.diff(day(SensorErrors(noise=factor))[0, :, INDEX["FCU_CLG_EWT"]]).std() for factor in (1.001, 3))
    assert loud / quiet == pytest.approx(3, rel=0.05)


def test_drift_grows_with_the_days():
    errors = SensorErrors(temperature_drift=3.0)
    first, last = (day(errors, days)[0, :, INDEX["FCU_CLG_EWT"]].mean() for days in (1, 11))
    drift = Building(zones=2, seed=4, start=START, design=Design(sensors=errors)).sensors[0].drifts
    assert last - first == pytest.approx(10 * drift[INDEX["FCU_CLG_EWT"]], abs=0.02)


def test_one_sensor_of_every_zone_is_off():
    sensors = Building(zones=6, seed=4, start=START, design=Design(sensors=SensorErrors(single_offset=0.6))).sensors
    wrong = [np.flatnonzero(each.offsets).tolist() for each in sensors]
    assert all(len(each) == 1 and IS_TEMPERATURE[each[0]] for each in wrong) and len({each[0] for each in wrong}) > 1


def test_meters_have_slopes_and_setpoints_have_no_errors():
    errors = SensorErrors(temperature_offset=1.0, slope=0.1, position_bias=0.01, humidity_offset=2.0)
    sensors = Building(seed=4, start=START, design=Design(sensors=errors)).sensors[0]
    exact = [INDEX[name] for name in NAMES if NOISE[INDEX[name]] == 0]
    assert (sensors.offsets[exact] == 0).all() and (sensors.slopes[exact] == 1).all()
    assert sensors.slopes[INDEX["FCU_DA_CFM"]] != 1 and sensors.offsets[INDEX["FCU_CVLV"]] != 0
