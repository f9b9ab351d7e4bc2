"""Column numbers of the arrays in compiled code: a zone's state, its hooks, and a minute of telemetry."""

from graphghha.plants.fcu.attacks.hooks import HOOK_INDEX
from graphghha.plants.fcu.signals import INDEX

# the state of a zone
S_AIR, S_MASS, S_RATIO, S_COIL, S_DISCHARGE, S_HOT, S_CALL, S_COOL_INT, S_HEAT_INT = range(9)
S_COOL_POS, S_HEAT_POS, S_DAMPER, S_TRIPPED, S_MODE, S_SPEED, S_MIXED, S_CORE, S_STORED, S_DEEP = range(9, 19)
NUM_STATE = 19

H_DAMPER_STUCK, H_COOL_STUCK, H_HEAT_STUCK = (HOOK_INDEX[n] for n in ("damper_stuck", "cooling_stuck", "heating_stuck"))
H_DAMPER_LEAK, H_COOL_LEAK, H_HEAT_LEAK = (HOOK_INDEX[n] for n in ("damper_leak", "cooling_leak", "heating_leak"))
H_AIRFLOW, H_OUTLET, H_OUTDOOR = (HOOK_INDEX[n] for n in ("airflow_factor", "outlet_blockage", "outdoor_factor"))
H_COOL_FLOW, H_HEAT_FLOW = HOOK_INDEX["cooling_water_flow"], HOOK_INDEX["heating_water_flow"]
H_COOL_WATER, H_HEAT_WATER = HOOK_INDEX["cooling_water_ua"], HOOK_INDEX["heating_water_ua"]
H_COOL_REVERSE, H_HEAT_REVERSE = HOOK_INDEX["cooling_reverse"], HOOK_INDEX["heating_reverse"]
H_GAIN, H_INTERLOCK = HOOK_INDEX["gain_factor"], HOOK_INDEX["interlock_off"]
H_COOL_SET, H_HEAT_SET = HOOK_INDEX["cooling_setpoint_offset"], HOOK_INDEX["heating_setpoint_offset"]
H_COOL_CMD, H_HEAT_CMD = HOOK_INDEX["cooling_command_offset"], HOOK_INDEX["heating_command_offset"]
H_DAMPER_CMD, H_FAN_CMD = HOOK_INDEX["damper_command_offset"], HOOK_INDEX["fan_speed_offset"]

# a minute of telemetry
T_MODE, T_FAN_MODE = INDEX["FCU_CTRL"], INDEX["FAN_CTRL"]
T_ROOM, T_COOL_SET, T_HEAT_SET = INDEX["RM_TEMP"], INDEX["RMCLGSPT"], INDEX["RMHTGSPT"]
T_MIXED, T_DISCHARGE, T_RETURN, T_OUTDOOR = (INDEX[n] for n in ("FCU_MAT", "FCU_DAT", "FCU_RAT", "FCU_OAT"))
T_COOL_POS, T_COOL_CMD, T_COOL_FLOW = INDEX["FCU_CVLV"], INDEX["FCU_CVLV_DM"], INDEX["FCU_CLG_GPM"]
T_COOL_IN, T_COOL_OUT = INDEX["FCU_CLG_EWT"], INDEX["FCU_CLG_RWT"]
T_HEAT_POS, T_HEAT_CMD, T_HEAT_FLOW = INDEX["FCU_HVLV"], INDEX["FCU_HVLV_DM"], INDEX["FCU_HTG_GPM"]
T_HEAT_IN, T_HEAT_OUT = INDEX["FCU_HTG_EWT"], INDEX["FCU_HTG_RWT"]
T_AIR_FLOW, T_OUTDOOR_FLOW = INDEX["FCU_DA_CFM"], INDEX["FCU_OA_CFM"]
T_DAMPER, T_DAMPER_CMD, T_SPEED, T_POWER = (INDEX[n] for n in ("FCU_DMPR", "FCU_DMPR_DM", "FCU_SPD", "FCU_WAT"))
T_MIXED_RH, T_OUTDOOR_RH = INDEX["FCU_MA_HUMD"], INDEX["FCU_OA_HUMD"]
T_DISCHARGE_RH, T_RETURN_RH = INDEX["FCU_DA_HUMD"], INDEX["FCU_RA_HUMD"]
