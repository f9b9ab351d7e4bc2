import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.plants.fcu.physics.psychro import (
    dew_point,
    enthalpy,
    humidity_ratio,
    humidity_ratios,
    relative_humidity,
    saturation_pressure,
    saturation_ratio,
)

temperatures = st.floats(-40, 60)


@pytest.mark.parametrize(("celsius", "pascal"), [(0.0, 611.2), (20.0, 2339.0), (40.0, 7384.0)])
def test_saturation_pressure_matches_steam_tables(celsius, pascal):
    assert saturation_pressure(celsius) == pytest.approx(pascal, rel=0.005)


def test_humidity_ratio_of_a_usual_room_matches_the_chart():
    # 25 degC and 50 % at 98 kPa: vapour pressure 1584 Pa, 0.622 * 1584 / 96416
    assert humidity_ratio(25.0, 50.0) == pytest.approx(0.01022, rel=0.01)


def test_enthalpy_of_moist_air_matches_the_chart():
    assert enthalpy(25.0, 0.010) == pytest.approx(50.6e3, rel=0.005)


@given(temperatures, st.floats(1, 100))
def test_relative_humidity_undoes_humidity_ratio(celsius, percent):
    assert relative_humidity(celsius, humidity_ratio(celsius, percent)) == pytest.approx(percent, rel=1e-9)


@given(temperatures)
def test_dew_point_of_saturated_air_is_its_temperature(celsius):
    assert dew_point(saturation_ratio(celsius)) == pytest.approx(celsius, abs=1e-6)


@given(temperatures, st.floats(0, 1))
def test_relative_humidity_never_exceeds_saturation(celsius, ratio):
    assert 0.0 <= relative_humidity(celsius, ratio) <= 100.0


def test_arrays_agree_with_scalars():
    celsius, percent = np.linspace(-40, 50, 19), np.linspace(0, 100, 19)
    expected = [humidity_ratio(t, h) for t, h in zip(celsius, percent, strict=True)]
    np.testing.assert_allclose(humidity_ratios(celsius, percent), expected, rtol=1e-12)
