"""The attacks of the threat model that the public data set lacks: targets, how to build them, meaning."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from graphghha.plants.fcu.attacks.effects import (
    Attack,
    Bias,
    Drift,
    FalseCommand,
    Oscillate,
    Replay,
    Saturate,
    SetHooks,
    Together,
)

_SETPOINTS = ("RMCLGSPT", "RMHTGSPT")
_SETPOINT_HOOKS = ("cooling_setpoint_offset", "heating_setpoint_offset")
STEALTHY_RAMP = timedelta(hours=4)
TEMPORARY_DURATION = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class Threat:
    """One case of the threat model. The first target is the root and gives the case its class; amounts are in SI."""

    targets: tuple[str, ...]
    build: Callable[[], Attack]
    meaning: str
    severity: str = ""


# family -> case -> threat
THREATS: Mapping[str, Mapping[str, Threat]] = {
    "sensor_ramp": {
        "SensorRamp_DA_CFM": Threat(
            ("FCU_DA_CFM",),
            lambda: Drift("FCU_DA_CFM", -6.0, 60.0),
            "discharge flow reads 6 L/s less every hour, at most 60 L/s",
            "-6 L/s/h",
        ),
        "SensorRamp_OA_CFM": Threat(
            ("FCU_OA_CFM",),
            lambda: Drift("FCU_OA_CFM", 1.5, 12.0),
            "outdoor flow reads 1.5 L/s more every hour, at most 12 L/s",
            "+1.5 L/s/h",
        ),
        "SensorRamp_CLG_GPM": Threat(
            ("FCU_CLG_GPM",),
            lambda: Drift("FCU_CLG_GPM", 0.01, 0.1),
            "chilled water flow reads 0.01 L/s more every hour, at most 0.1 L/s",
            "+0.01 L/s/h",
        ),
    },
    "sensor_saturated": {
        "SensorSaturated_RM_TEMP_High": Threat(
            ("RM_TEMP",),
            lambda: Saturate("RM_TEMP", 60.0),
            "room sensor at the top of its range: full cooling",
            "60 C",
        ),
        "SensorSaturated_RM_TEMP_Low": Threat(
            ("RM_TEMP",),
            lambda: Saturate("RM_TEMP", -40.0),
            "room sensor at the bottom of its range: full heating",
            "-40 C",
        ),
        "SensorSaturated_FCU_MAT_Low": Threat(
            ("FCU_MAT",),
            lambda: Saturate("FCU_MAT", -50.0),
            "mixed-air sensor at the bottom of its range: trips the low limit",
            "-50 C",
        ),
        "SensorSaturated_FCU_DA_HUMD_High": Threat(
            ("FCU_DA_HUMD",),
            lambda: Saturate("FCU_DA_HUMD", 100.0),
            "discharge humidity reads saturated",
            "100 %RH",
        ),
    },
    "command_offset": {
        "CommandOffset_Cooling_+30": Threat(
            ("FCU_CVLV",),
            lambda: FalseCommand("cooling_command_offset", "FCU_CVLV_DM", 0.3),
            "cooling valve gets a command 30 % above its controller's",
            "+30 %",
        ),
        "CommandOffset_Heating_+30": Threat(
            ("FCU_HVLV",),
            lambda: FalseCommand("heating_command_offset", "FCU_HVLV_DM", 0.3),
            "heating valve gets a command 30 % above its controller's",
            "+30 %",
        ),
        "CommandOffset_Damper_+30": Threat(
            ("FCU_DMPR",),
            lambda: FalseCommand("damper_command_offset", "FCU_DMPR_DM", 0.3),
            "damper gets a command 30 % above its controller's",
            "+30 %",
        ),
        "CommandOffset_Fan_+4": Threat(
            ("FCU_SPD",),
            lambda: SetHooks({"fan_speed_offset": 4.0}),
            "fan runs 4 rev/s faster than commanded, even when it should be off",
            "+4 rev/s",
        ),
    },
    "setpoint": {
        "SetpointOscillation_2K": Threat(
            _SETPOINTS,
            lambda: Oscillate(_SETPOINT_HOOKS, 2.0, 60.0),
            "both setpoints swing by 2 K once an hour",
            "2 K",
        ),
        "SetpointOscillation_5K": Threat(
            _SETPOINTS,
            lambda: Oscillate(_SETPOINT_HOOKS, 5.0, 120.0),
            "both setpoints swing by 5 K every two hours",
            "5 K",
        ),
    },
    "interlock": {
        "InterlockOff": Threat(
            ("FCU_CTRL",),
            lambda: SetHooks({"interlock_off": 1.0}),
            "low limit disabled: visible only when it should have tripped",
        ),
    },
    "replay": {
        "Replay_Room": Threat(
            ("RM_TEMP", "FCU_RAT"),
            lambda: Replay(("RM_TEMP", "FCU_RAT")),
            "room and return temperature repeat an earlier day (`Replay` with on=RM_TEMP+.. takes any sensors)",
        ),
        "Replay_Air": Threat(
            ("FCU_DAT", "FCU_MAT", "FCU_DA_CFM"),
            lambda: Replay(("FCU_DAT", "FCU_MAT", "FCU_DA_CFM")),
            "discharge and mixed temperature and discharge flow repeat an earlier day",
        ),
    },
    "coordinated": {
        "Coordinated_BothValvesOpen": Threat(
            ("FCU_CVLV", "FCU_HVLV"),
            lambda: SetHooks({"cooling_stuck": 1.0, "heating_stuck": 1.0}),
            "both valves held open: they heat and cool at once",
        ),
        "Coordinated_FreezeCoil": Threat(
            ("FCU_DMPR", "FCU_CTRL"),
            lambda: SetHooks({"damper_stuck": 1.0, "interlock_off": 1.0}),
            "damper held open with the low limit disabled",
        ),
        "Coordinated_HiddenValve": Threat(
            ("FCU_HVLV", "FCU_DAT", "FCU_HTG_RWT", "FCU_HTG_GPM"),
            lambda: Together(
                (SetHooks({"heating_stuck": 0.5}), Replay(("FCU_HVLV", "FCU_DAT", "FCU_HTG_RWT", "FCU_HTG_GPM")))
            ),
            "heating valve held half open behind replayed readings of valve, discharge and water",
        ),
        "Coordinated_BiasAndSetpoint": Threat(
            ("RM_TEMP", "RMCLGSPT"),
            lambda: Together((Bias("RM_TEMP", -2.0), SetHooks({"cooling_setpoint_offset": -2.0}))),
            "room reads 2 K low and the cooling setpoint is lowered by as much: the loop sees no error",
        ),
    },
    "stealthy": {
        "Stealthy_RM_TEMP_Drift": Threat(
            ("RM_TEMP",),
            lambda: Drift("RM_TEMP", -0.15, 1.0),
            "room reads 0.15 K less every hour, at most 1 K",
            "-0.15 K/h",
        ),
        "Stealthy_CommandOffset_Cooling": Threat(
            ("FCU_CVLV",),
            lambda: FalseCommand("cooling_command_offset", "FCU_CVLV_DM", 0.08),
            "cooling valve gets a command 8 % too high, hidden by its dead band while shut",
            "+8 %",
        ),
        "Stealthy_DA_CFM_Bias": Threat(
            ("FCU_DA_CFM",),
            lambda: Bias("FCU_DA_CFM", 8.0),
            "discharge flow reads 8 L/s more",
            "+8 L/s",
        ),
        "Stealthy_HiddenSetpoint": Threat(
            _SETPOINTS,
            lambda: Together(
                (
                    SetHooks({"cooling_setpoint_offset": -0.8, "heating_setpoint_offset": 0.8}),
                    Bias("RMCLGSPT", 0.8),
                    Bias("RMHTGSPT", -0.8),
                )
            ),
            "setpoints 0.8 K closer than they report: energy is wasted",
            "0.8 K",
        ),
    },
}
# cases of the data set that also exist as a short attack
TEMPORARY = ("FCU_VLVStuck_Cooling_100", "FCU_VLVStuck_Heating_100", "FCU_SensorBias_RMTemp_+4C", "FCU_OADMPRStuck_80")
