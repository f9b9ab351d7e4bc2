"""What the catalogue says of a case is what its readings show, from the first minute on and at the size it names.

The claims are read from the names, severities and meanings that people see, not from the code that builds an attack.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from attack_runs import FIRST, LAST, NAMES_OF_CASES, Bools, Floats, Season
from graphghha.plants.fcu.attacks.catalog import ROWS
from graphghha.plants.fcu.attacks.hooks import MINUTES
from graphghha.plants.fcu.physics.parameters import REFERENCE
from graphghha.plants.fcu.signals import HIGH, INDEX, LOW, NOISE

pytestmark = pytest.mark.slow

SETTLED = 10  # minutes a drive needs
FAN_ON = 50.0  # L/s


@dataclass(frozen=True)
class View:
    """The attacked minutes of one case in one season."""

    attacked: Floats  # [minutes of two days, signals]
    clean: Floats
    severity: str

    @property
    def size(self) -> float:
        """The number in the severity."""
        found = re.search(r"[+-]?[\d.]+", self.severity)
        assert found is not None
        return float(found[0])

    def reading(self, name: str) -> Floats:
        return self.attacked[FIRST:LAST, INDEX[name]]

    def normal(self, name: str) -> Floats:
        return self.clean[FIRST:LAST, INDEX[name]]

    def off(self, name: str) -> Floats:
        """Attacked minus clean; the noise of both is the same."""
        return self.reading(name) - self.normal(name)

    def inside(self, name: str) -> Bools:
        """Minutes in which the clean reading is not at an end of its instrument, which would hide what is added."""
        inside = (self.normal(name) > LOW[INDEX[name]]) & (self.normal(name) < HIGH[INDEX[name]])
        assert inside.sum() > 300
        return inside


Claim = Callable[[View], None]


def stuck(*drives: str, at: float | None = None) -> Claim:
    def claim(view: View) -> None:
        for drive in drives:
            held = view.size / 100 if at is None else at
            assert np.abs(view.reading(drive)[SETTLED:] - held).max() < 6 * NOISE[INDEX[drive]]
            if abs(view.normal(drive)[0] - held) > 0.05:
                assert abs(view.off(drive)[0]) > 0.03, "it moves at once"

    return claim


def leaking(flow: str, full: float) -> Claim:
    def claim(view: View) -> None:
        least = view.size / 100 * full
        assert view.reading(flow).min() > least - 6 * NOISE[INDEX[flow]]
        assert view.off(flow)[0] > least / 2 or view.normal(flow)[0] > least / 2

    return claim


def biased(*signals: str, by: float | None = None) -> Claim:
    def claim(view: View) -> None:
        for signal in signals:
            assert view.off(signal)[0] == pytest.approx(view.size if by is None else by)

    return claim


def drifting(signal: str) -> Claim:
    def claim(view: View) -> None:
        limit = float(re.findall(r"at most ([\d.]+)", view.severity)[0])
        hours = (np.arange(LAST - FIRST) + 1) / 60
        offset = np.sign(view.size) * np.minimum(abs(view.size) * hours, limit)
        if signal == "RM_TEMP":  # the controller follows it, so that only the first minute compares
            assert view.off(signal)[0] == pytest.approx(offset[0])
            assert (view.reading(signal) - view.reading("FCU_RAT"))[-60:].mean() == pytest.approx(-limit, abs=0.1)
            return
        inside = view.inside(signal)
        expected = np.clip(view.normal(signal) + offset, LOW[INDEX[signal]], HIGH[INDEX[signal]])
        assert view.reading(signal)[inside] == pytest.approx(expected[inside])
        assert np.abs(view.off(signal)).max() > 3 * NOISE[INDEX[signal]]

    return claim


def saturated(signal: str, limit: Floats) -> Claim:
    def claim(view: View) -> None:
        assert (view.reading(signal) == view.size).all()
        assert view.size == limit[INDEX[signal]], "the end of the instrument's range"

    return claim


def replayed(*signals: str) -> Claim:
    def claim(view: View) -> None:
        for signal in signals:
            yesterday = view.attacked[FIRST - MINUTES : LAST - MINUTES, INDEX[signal]]
            assert (view.reading(signal) == yesterday).all()
            assert view.off(signal)[0] != 0

    return claim


def throttled(flow: str) -> Claim:
    """Less air from the first minute in which it flows, at the same speed of the fan."""

    def claim(view: View) -> None:
        flows = (view.normal("FCU_DA_CFM") > FAN_ON) & (view.normal(flow) > 10 * NOISE[INDEX[flow]])
        same_speed = flows & (np.abs(view.off("FCU_SPD")) < 1.0)
        assert same_speed.sum() >= 5
        lost = -view.off(flow)[same_speed]
        assert lost[0] > NOISE[INDEX[flow]]
        assert lost.mean() > NOISE[INDEX[flow]]

    return claim


def leaking_damper(view: View) -> None:
    blows = np.abs(view.off("FCU_DA_CFM")) < 1.0
    gained = view.off("FCU_OA_CFM")[blows & (view.normal("FCU_DA_CFM") > FAN_ON)]
    assert len(gained) > 30
    assert gained[0] > 3 * NOISE[INDEX["FCU_OA_CFM"]]
    assert gained.mean() > 3 * NOISE[INDEX["FCU_OA_CFM"]]


def reversed_drive(drive: str) -> Claim:
    def claim(view: View) -> None:
        command = view.reading(f"{drive}_DM")
        assert np.median(np.abs(view.reading(drive) - (1 - command))) < 0.02
        assert abs(view.off(drive)[0]) > 0.1 or abs(1 - 2 * command[0]) < 0.2

    return claim


def hunting(view: View) -> None:
    if (view.reading("FCU_CTRL") == 0).any():  # in frost the hunting trips the low limit, as in the published run
        assert (view.normal("FCU_CTRL") != 0).all()
        return
    valves = ("FCU_CVLV", "FCU_HVLV")
    attacked, normal = (
        sum(np.abs(np.diff(side(valve))).sum() for valve in valves) for side in (view.reading, view.normal)
    )
    assert attacked > 2 * normal


def false_command(drive: str) -> Claim:
    def claim(view: View) -> None:
        assert view.off(drive)[0] > view.size / 100 / 3, "it moves at once"
        gap = view.reading(drive) - view.reading(f"{drive}_DM")
        assert np.median(gap[SETTLED:]) == pytest.approx(view.size / 100, abs=0.01)

    return claim


def ramped_command(view: View) -> None:
    gap = view.reading("FCU_CVLV") - view.reading("FCU_CVLV_DM")
    assert np.median(gap[4 * 60 :]) == pytest.approx(view.size / 100, abs=0.01)
    assert gap[:30].mean() < 0.02


def faster_fan(view: View) -> None:
    assert view.off("FCU_SPD")[0] == pytest.approx(view.size)


def swinging(view: View) -> None:
    for setpoint in ("RMCLGSPT", "RMHTGSPT"):
        off = view.off(setpoint)
        assert off[0] != 0
        assert (off.max(), off.min()) == (pytest.approx(view.size, rel=0.01), pytest.approx(-view.size, rel=0.01))


def never_tripping(view: View) -> None:
    tripped = view.normal("FCU_CTRL") == 0
    assert tripped.sum() > 60, "the twin shows why it should trip"
    assert (view.reading("FCU_CTRL") != 0).all()


def ramped_bias(signal: str) -> Claim:
    def claim(view: View) -> None:
        off, inside = view.off(signal), view.inside(signal)
        assert 0 < off[0] < view.size / 100
        grown = off[4 * 60 :][inside[4 * 60 :]]
        assert grown == pytest.approx(np.full(len(grown), view.size))

    return claim


def hidden_setpoint(view: View) -> None:
    for setpoint in ("RMCLGSPT", "RMHTGSPT"):
        assert np.abs(view.off(setpoint)).max() < 1e-9
    assert np.abs(view.off("RM_TEMP")).max() > 3 * NOISE[INDEX["RM_TEMP"]]


COOLING, HEATING = REFERENCE.cooling_full_flow, REFERENCE.heating_full_flow
# names of cases (whole, as regular expressions) -> what they claim
CLAIMS: dict[str, Sequence[Claim]] = {
    r"(FCU|Temporary)_OADMPRStuck_\d+": [stuck("FCU_DMPR")],
    r"FCU_OADMPRLeak_\d+": [leaking_damper],
    r"(FCU|Temporary)_VLVStuck_Cooling_\d+": [stuck("FCU_CVLV")],
    r"(FCU|Temporary)_VLVStuck_Heating_\d+": [stuck("FCU_HVLV")],
    r"FCU_VLVLeak_Cooling_\d+": [leaking("FCU_CLG_GPM", COOLING)],
    r"FCU_VLVLeak_Heating_\d+": [leaking("FCU_HTG_GPM", HEATING)],
    r"(FCU|Temporary)_SensorBias_RMTemp_[+-]\dC": [biased("RM_TEMP")],
    r"FCU_Fouling_\w+_Airside_\w+": [throttled("FCU_DA_CFM")],
    r"FCU_FilterRestriction_\d+%": [throttled("FCU_DA_CFM")],
    r"FCU_FanOutletBlockage": [throttled("FCU_DA_CFM")],
    r"FCU_OABlockage": [throttled("FCU_OA_CFM")],
    r"FCU_Control_CoolingReverse": [reversed_drive("FCU_CVLV")],
    r"FCU_Control_HeatingReverse": [reversed_drive("FCU_HVLV")],
    r"FCU_Control_Unstable": [hunting],
    r"SensorRamp_DA_CFM": [drifting("FCU_DA_CFM")],
    r"SensorRamp_OA_CFM": [drifting("FCU_OA_CFM")],
    r"SensorRamp_CLG_GPM": [drifting("FCU_CLG_GPM")],
    r"SensorSaturated_RM_TEMP_High": [saturated("RM_TEMP", HIGH)],
    r"SensorSaturated_RM_TEMP_Low": [saturated("RM_TEMP", LOW)],
    r"SensorSaturated_FCU_MAT_Low": [saturated("FCU_MAT", LOW)],
    r"SensorSaturated_FCU_DA_HUMD_High": [saturated("FCU_DA_HUMD", HIGH)],
    r"CommandOffset_Cooling_\+30": [false_command("FCU_CVLV")],
    r"CommandOffset_Heating_\+30": [false_command("FCU_HVLV")],
    r"CommandOffset_Damper_\+30": [false_command("FCU_DMPR")],
    r"CommandOffset_Fan_\+4": [faster_fan],
    r"SetpointOscillation_\dK": [swinging],
    r"InterlockOff": [never_tripping],
    r"Replay_Room": [replayed("RM_TEMP", "FCU_RAT")],
    r"Replay_Air": [replayed("FCU_DAT", "FCU_MAT", "FCU_DA_CFM")],
    r"Coordinated_BothValvesOpen": [stuck("FCU_CVLV", "FCU_HVLV", at=1.0)],
    r"Coordinated_FreezeCoil": [stuck("FCU_DMPR", at=1.0)],
    r"Coordinated_HiddenValve": [replayed("FCU_HVLV", "FCU_DAT", "FCU_HTG_RWT", "FCU_HTG_GPM")],
    r"Coordinated_BiasAndSetpoint": [biased("RM_TEMP", "RMCLGSPT", by=-2.0)],
    r"Stealthy_RM_TEMP_Drift": [drifting("RM_TEMP")],
    r"Stealthy_CommandOffset_Cooling": [ramped_command],
    r"Stealthy_DA_CFM_Bias": [ramped_bias("FCU_DA_CFM")],
    r"Stealthy_HiddenSetpoint": [hidden_setpoint],
}
# scale in the tubes: the catalogue names no size, and its first effect depends on the flow of water
WITHOUT_SIZE = re.compile(r"FCU_Fouling_\w+_Waterside_\w+")


def claims_of(case: str) -> list[Claim]:
    return [claim for pattern, claims in CLAIMS.items() if re.fullmatch(pattern, case) for claim in claims]


def test_every_case_claims_something():
    assert [case for case in ROWS if not claims_of(case) and not WITHOUT_SIZE.fullmatch(case)] == []
    assert [pattern for pattern in CLAIMS if not any(re.fullmatch(pattern, case) for case in ROWS)] == []


@pytest.mark.parametrize("case", [case for case in ROWS if claims_of(case)])
@pytest.mark.parametrize("name", ["winter", "summer"])
def test_its_readings_show_what_it_claims(seasons: dict[str, Season], case: str, name: str) -> None:
    season, zone, info = seasons[name], NAMES_OF_CASES.index(case), ROWS[case].info
    view = View(season.attacked[zone], season.clean[zone], f"{info.severity} {info.meaning}")
    for claim in claims_of(case):
        claim(view)


@pytest.mark.parametrize("case", [case for case in ROWS if WITHOUT_SIZE.fullmatch(case)])
def test_scale_in_the_tubes_shows_in_the_water_as_soon_as_it_flows(seasons: dict[str, Season], case: str) -> None:
    side = "CLG" if "Cooling" in case else "HTG"
    shown = 0
    for season in seasons.values():
        zone = NAMES_OF_CASES.index(case)
        flow = season.clean[zone, FIRST:LAST, INDEX[f"FCU_{side}_GPM"]]
        changed = season.changed[zone, FIRST:LAST][:, [INDEX[f"FCU_{side}_GPM"], INDEX[f"FCU_{side}_RWT"]]].any(axis=1)
        flowing = np.flatnonzero(flow > 6 * NOISE[INDEX[f"FCU_{side}_GPM"]])
        if len(flowing):
            assert changed[flowing[0]]
            shown += 1
    assert shown
