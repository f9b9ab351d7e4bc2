"""Data in another unit than the model knows are refused with the unit that would fit."""

import numpy as np
import pytest

from graphghha.errors import SchemaError
from graphghha.exports.other_units import refuse_other_units
from graphghha.exports.recordings import Recording
from graphghha.plants import parse_plant

PLANT = parse_plant(
    """
[plant]
step_s = 60
[[template]]
name = "room"
[[template.signal]]
name = "temperature"
unit = "degC"
columns = "ZN-T"
[[template.signal]]
name = "level"
unit = "m"
columns = "LIT"
"""
)
LOW, HIGH = np.array([19.0, 0.5]), np.array([25.0, 1.5])


def recording(temperature, level):
    values = np.column_stack([temperature, level])
    return Recording("d.csv", ("d.csv",), 60_000 * np.arange(len(values), dtype=np.int64), values)


def test_readings_that_fit_in_another_unit_only_are_refused():
    room = np.linspace(20, 24, 200)
    with pytest.raises(SchemaError, match=r"ZN-T: .*19 to 25 degC, and inside of it if they are in degF.*`ZN-T \[degF"):
        refuse_other_units(PLANT, [recording(room * 1.8 + 32, np.ones(200))], LOW, HIGH)
    with pytest.raises(SchemaError, match=r"LIT: .*in mm"):
        refuse_other_units(PLANT, [recording(room, np.linspace(600, 1400, 200))], LOW, HIGH)


def test_a_sensor_that_reads_wrong_is_judged():
    room = np.linspace(20, 24, 200)
    forged = np.where(np.arange(200) < 120, room * 1.8 + 32, room)  # an attack, not a unit
    refuse_other_units(PLANT, [recording(forged, np.full(200, 9.0))], LOW, HIGH)
    refuse_other_units(PLANT, [recording(np.full(200, np.nan), np.ones(200))], LOW, HIGH)
