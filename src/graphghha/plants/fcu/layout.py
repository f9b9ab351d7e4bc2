"""Where things lie in the arrays the compiled code works on: a zone's state, and its hooks."""

from graphghha.plants.fcu.imposition import HOOK_INDEX

# the state of a zone
S_AIR, S_MASS, S_RATIO, S_COIL, S_DISCHARGE, S_HOT, S_CALL, S_COOL_INT, S_HEAT_INT = range(9)
S_COOL_POS, S_HEAT_POS, S_DAMPER, S_TRIPPED, S_MODE, S_SPEED, S_MIXED, S_CORE, S_STORED, S_DEEP = range(9, 19)
NUM_STATE = 19

H_DAMPER_STUCK, H_COOL_STUCK, H_HEAT_STUCK = (HOOK_INDEX[n] for n in ("damper_stuck", "cooling_stuck", "heating_stuck"))
H_DAMPER_LEAK, H_COOL_LEAK, H_HEAT_LEAK = (HOOK_INDEX[n] for n in ("damper_leak", "cooling_leak", "heating_leak"))
H_AIRFLOW, H_OUTLET, H_OUTDOOR = (HOOK_INDEX[n] for n in ("airflow_factor", "outlet_blockage", "outdoor_factor"))
H_COOL_AIR, H_COOL_WATER = HOOK_INDEX["cooling_air_ua"], HOOK_INDEX["cooling_water_ua"]
H_COOL_FLOW, H_HEAT_FLOW = HOOK_INDEX["cooling_water_flow"], HOOK_INDEX["heating_water_flow"]
H_HEAT_AIR, H_HEAT_WATER = HOOK_INDEX["heating_air_ua"], HOOK_INDEX["heating_water_ua"]
H_COOL_REVERSE, H_HEAT_REVERSE = HOOK_INDEX["cooling_reverse"], HOOK_INDEX["heating_reverse"]
H_GAIN, H_INTERLOCK = HOOK_INDEX["gain_factor"], HOOK_INDEX["interlock_off"]
H_COOL_SET, H_HEAT_SET = HOOK_INDEX["cooling_setpoint_offset"], HOOK_INDEX["heating_setpoint_offset"]
H_COOL_CMD, H_HEAT_CMD = HOOK_INDEX["cooling_command_offset"], HOOK_INDEX["heating_command_offset"]
H_DAMPER_CMD, H_FAN_CMD = HOOK_INDEX["damper_command_offset"], HOOK_INDEX["fan_speed_offset"]
H_CHILLED, H_HOT = HOOK_INDEX["chilled_water_offset"], HOOK_INDEX["hot_water_offset"]
