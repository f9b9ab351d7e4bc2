"""The 48 faults of the public data set as hook settings, by mechanism and severity.

All cases of a mechanism share one law, so that severities without published statistics follow from it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from graphghha._util.suggest import did_you_mean
from graphghha.errors import NotFoundError
from graphghha.plants.fcu.attacks.effects import Attack, Bias, SetHooks, Span, Together
from graphghha.plants.fcu.attacks.hooks import MINUTES, Day, DayHooks

FAULT_FREE = "FCU_FaultFree"
_SEVERITIES = {"Minor": 0.1, "Moderate": 0.3, "Severe": 0.5}  # blocked share of a passage


@dataclass(frozen=True, slots=True)
class Setting:
    """Constant hook values and reading offsets (SI) of one fault."""

    hooks: Mapping[str, float] = field(default_factory=dict)
    offsets: Mapping[str, float] = field(default_factory=dict)


def throttled_flow(blocked: float, *, part: float, power: float) -> float:
    """Return the share of a flow that is left when a passage with `part` of the path's resistance is blocked."""
    resistance = 1.0 + part * ((1.0 - blocked) ** -power - 1.0)
    return float(resistance**-0.5)


def filter_restriction(percent: float) -> Setting:
    """Return a clogged filter: in the data, 10 % and 50 % leave 92.3 % and 56.8 % of the air flow."""
    return Setting({"airflow_factor": throttled_flow(percent / 100, part=0.804, power=1.85)})


def airside_fouling(blocked: float) -> Setting:
    """Return dirt between the fins, which throttles the air of the whole unit on either coil (data: 96.5 %, 64.3 %)."""
    return Setting({"airflow_factor": throttled_flow(blocked, part=0.2, power=3.0)})


def waterside_fouling(coil: str, blocked: float) -> Setting:
    """Return scale in the tubes, which insulates and narrows them: above all the small heating coil."""
    part = {"cooling": 0.013, "heating": 0.19}[coil]
    return Setting(
        {
            f"{coil}_water_ua": 1.0 - 0.66 * blocked,
            f"{coil}_water_flow": throttled_flow(blocked, part=part, power=5.0),
        }
    )


def _settings() -> dict[str, Setting]:
    cases = {
        FAULT_FREE: Setting(),
        "FCU_Control_CoolingReverse": Setting({"cooling_reverse": 1.0}),
        "FCU_Control_HeatingReverse": Setting({"heating_reverse": 1.0}),
        # Gain: fit. It makes the valves swing between shut and full, as the spread of their commands in the data
        # shows (0.14 and 0.18 against 0.08 and 0.07 without fault). Leak: data. Outdoor air is 36 % of discharge air,
        # as in the run with the damper stuck at 50 %, although the damper reads normal: 0.9 * 2.5 on top of the minimum
        # is the opening of a half-open damper, (0.5 / 0.3) ** 2.32.
        "FCU_Control_Unstable": Setting({"gain_factor": 65.0, "damper_leak": 2.5}),
        # data: 9.25 CFM per rev/s against 40.8 without fault, a share of 22.7 % over all speeds, 21.5 % at the lowest
        "FCU_FanOutletBlockage": Setting({"outlet_blockage": 0.785}),
        # data: 1.52 CFM in the annual mean, of which the floor is 0.88; over the third of the year with the fan on the
        # rest makes 2.8 CFM against 42
        "FCU_OABlockage": Setting({"outdoor_factor": 0.07}),
    }
    percent: dict[str, tuple[tuple[int, ...], Callable[[float], Setting]]] = {
        "OADMPRStuck": ((0, 30, 50, 80, 100), lambda x: Setting({"damper_stuck": x / 100})),
        "OADMPRLeak": ((20, 50, 80), lambda x: Setting({"damper_leak": x / 100})),
        "VLVStuck_Cooling": ((0, 20, 50, 80, 100), lambda x: Setting({"cooling_stuck": x / 100})),
        "VLVStuck_Heating": ((0, 20, 50, 80, 100), lambda x: Setting({"heating_stuck": x / 100})),
        "VLVLeak_Cooling": ((20, 50, 80), lambda x: Setting({"cooling_leak": x / 100})),
        "VLVLeak_Heating": ((20, 50, 80), lambda x: Setting({"heating_leak": x / 100})),
    }
    for mechanism, (severities, setting) in percent.items():
        cases |= {f"FCU_{mechanism}_{severity}": setting(severity) for severity in severities}
    cases |= {f"FCU_FilterRestriction_{severity}%": filter_restriction(severity) for severity in (10, 20, 50)}
    cases |= {f"FCU_SensorBias_RMTemp_{b:+d}C": Setting(offsets={"RM_TEMP": float(b)}) for b in (-4, -2, 2, 4)}
    for name, blocked in _SEVERITIES.items():
        for coil in ("Cooling", "Heating"):
            cases[f"FCU_Fouling_{coil}_Airside_{name}"] = airside_fouling(blocked)
            cases[f"FCU_Fouling_{coil}_Waterside_{name}"] = waterside_fouling(coil.lower(), blocked)
    return cases


SETTINGS: Mapping[str, Setting] = _settings()


def build_attack(case: str) -> Attack:
    """Return a fault of the data set as an attack."""
    if case not in SETTINGS:
        hint = did_you_mean(case, SETTINGS) or ";"
        raise NotFoundError(f"no case {case!r} in the data set{hint} `graphghha cases` lists them")
    setting = SETTINGS[case]
    return Together((SetHooks(setting.hooks), *(Bias(signal, amount) for signal, amount in setting.offsets.items())))


@dataclass(frozen=True, slots=True)
class WholeRun:
    """A fault of the data set on one zone from the first minute to the last, as in the original runs."""

    case: str
    zone: int = 0

    def apply(self, hooks: DayHooks, day: Day) -> None:
        elapsed = day.number * MINUTES + np.arange(MINUTES, dtype=np.float64)
        build_attack(self.case).edit(hooks.zone(self.zone), Span(day, slice(0, MINUTES), elapsed, np.ones(MINUTES)))
