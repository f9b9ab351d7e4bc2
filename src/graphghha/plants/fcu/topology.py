"""The template of a fan-coil unit: 29 nodes with a signal, 3 pieces of equipment without, a reason for every edge."""

from graphghha.graph import CpsGraph, Edge, EdgeKind, Node, NodeKind
from graphghha.plants.fcu.signals import NAMES, SIGNALS

COOLING_COIL, HEATING_COIL, AIR_PATH = "Cooling_coil", "Heating_coil", "Air_path"
EQUIPMENT: dict[str, str] = {
    COOLING_COIL: "cooling coil: tubes and fins between chilled water and air",
    HEATING_COIL: "heating coil: tubes and fins between hot water and air",
    AIR_PATH: "air path: outdoor inlet, filter, fan housing, outlet and the room they serve",
}

CONTROLLERS = ("FCU_CTRL", "FAN_CTRL", "RMCLGSPT", "RMHTGSPT", "FCU_CVLV_DM", "FCU_HVLV_DM", "FCU_DMPR_DM")
ACTUATORS = ("FCU_CVLV", "FCU_HVLV", "FCU_DMPR", "FCU_SPD")

# source -> {target: reason}. Sensors and controllers send to controllers and actuators.
_COMM: dict[str, dict[str, str]] = {
    "FCU_CTRL": {
        "FAN_CTRL": "shutdown switches the fan mode to off",
        "RMCLGSPT": "the mode selects the occupied or the setback cooling setpoint",
        "RMHTGSPT": "the mode selects the occupied or the setback heating setpoint",
        "FCU_CVLV_DM": "shutdown ends a cooling call",
        "FCU_HVLV_DM": "shutdown ends a heating call",
        "FCU_DMPR_DM": "the damper is commanded to its minimum in operate, shut otherwise",
    },
    "FAN_CTRL": {
        "FCU_SPD": "fan mode off stops the fan, auto lets the calls stage it",
        "FCU_CVLV_DM": "no cooling call while the fan is off",
        "FCU_HVLV_DM": "no heating call while the fan is off",
    },
    "FCU_MAT": {"FCU_CTRL": "low limit: mixed air near freezing shuts the unit down"},
    "RM_TEMP": {
        "FCU_CVLV_DM": "the cooling loop acts on room temperature minus setpoint",
        "FCU_HVLV_DM": "the heating loop acts on setpoint minus room temperature",
        "FCU_SPD": "a call by the room temperature starts the fan",
    },
    "RMCLGSPT": {
        "FCU_CVLV_DM": "the setpoint the cooling loop tracks",
        "FCU_SPD": "the band around it decides when a cooling call starts the fan",
    },
    "RMHTGSPT": {
        "FCU_HVLV_DM": "the setpoint the heating loop tracks",
        "FCU_SPD": "the band around it decides when a heating call starts the fan",
    },
    "FCU_CVLV_DM": {
        "FCU_CVLV": "the cooling valve follows its command",
        "FCU_SPD": "the cooling demand stages the fan speed",
        "FCU_HVLV_DM": "a cooling call excludes a heating call",
    },
    "FCU_HVLV_DM": {
        "FCU_HVLV": "the heating valve follows its command",
        "FCU_SPD": "the heating demand stages the fan speed",
        "FCU_CVLV_DM": "a heating call excludes a cooling call",
    },
    "FCU_DMPR_DM": {"FCU_DMPR": "the damper follows its command"},
}

# source -> {target: reason}. Actuators, equipment included, change what sensors read.
_PHYS: dict[str, dict[str, str]] = {
    "FCU_CVLV": {
        "FCU_CLG_GPM": "the valve opening sets the chilled water flow",
        "FCU_CLG_EWT": "the valve draws the water whose temperature is read here",
        "FCU_CLG_RWT": "less flow means longer contact and warmer return water",
        "FCU_DAT": "chilled water flow cools the discharge air",
        "FCU_DA_HUMD": "colder discharge air is closer to saturation",
        "RM_TEMP": "cooling brings the room temperature down",
        "FCU_RAT": "the room's air returns to the unit",
        "FCU_RA_HUMD": "a wet coil dries the room",
    },
    "FCU_HVLV": {
        "FCU_HTG_GPM": "the valve opening sets the hot water flow",
        "FCU_HTG_EWT": "the valve draws the water whose temperature is read here",
        "FCU_HTG_RWT": "less flow means longer contact and cooler return water",
        "FCU_DAT": "hot water flow warms the discharge air",
        "FCU_DA_HUMD": "warmer discharge air is farther from saturation",
        "RM_TEMP": "heating brings the room temperature up",
        "FCU_RAT": "the room's air returns to the unit",
    },
    "FCU_DMPR": {
        "FCU_OA_CFM": "the damper opening sets the outdoor air flow",
        "FCU_MAT": "outdoor and return air mix in the ratio the damper sets",
        "FCU_MA_HUMD": "so does their moisture",
        "FCU_OAT": "the air it lets in is the air this sensor reads",
        "FCU_OA_HUMD": "the air it lets in is the air this sensor reads",
        "RM_TEMP": "outdoor air is a heat load of the room",
        "FCU_RA_HUMD": "outdoor air is the room's only exchange of moisture with outdoors",
    },
    "FCU_SPD": {
        "FCU_DA_CFM": "air flow is proportional to fan speed",
        "FCU_OA_CFM": "the fan's suction draws the outdoor air",
        "FCU_WAT": "fan power grows with the cube of its speed",
        "FCU_MAT": "a running fan mixes by flow, a standing one leaves half and half",
        "FCU_MA_HUMD": "a running fan mixes by flow, a standing one leaves half and half",
        "FCU_DAT": "air flow decides how far the coils change the air",
        "FCU_CLG_RWT": "air flow over the coil warms its return water",
        "FCU_HTG_RWT": "air flow over the coil cools its return water",
        "RM_TEMP": "the fan carries the coils' heat or cold into the room",
        "FCU_RAT": "the fan draws the room's air back",
    },
    COOLING_COIL: {
        "FCU_CLG_GPM": "scale inside the tubes throttles the water",
        "FCU_CLG_EWT": "read at the coil's water inlet",
        "FCU_CLG_RWT": "read at the coil's water outlet: what the air gave to the water",
        "FCU_MAT": "read at the coil's air inlet; a standing coil and this air drift together",
        "FCU_MA_HUMD": "moist entering air wets the coil and loads it with latent heat",
        "FCU_DAT": "heat transfer of the coil sets the discharge temperature",
        "FCU_DA_HUMD": "read behind the coil",
        "FCU_DA_CFM": "dirty fins resist the air",
        "FCU_HTG_RWT": "the heating coil stands in the air that leaves the cooling coil",
        "FCU_RA_HUMD": "condensation on the coil dries the room",
    },
    HEATING_COIL: {
        "FCU_HTG_GPM": "scale inside the tubes throttles the water",
        "FCU_HTG_EWT": "read at the coil's water inlet",
        "FCU_HTG_RWT": "read at the coil's water outlet: what the water gave to the air",
        "FCU_CLG_RWT": "a standing heating coil and the cooling coil before it drift together",
        "FCU_MAT": "the air it heats; both coils shut, discharge equals mixed air",
        "FCU_DAT": "heat transfer of the coil sets the discharge temperature",
        "FCU_DA_HUMD": "read behind the coil",
        "FCU_DA_CFM": "dirty fins resist the air",
    },
    AIR_PATH: {
        "FCU_DA_CFM": "filter, housing and outlet resist the air the fan moves",
        "FCU_WAT": "a blocked path changes the fan's work",
        "FCU_OA_CFM": "a blocked inlet or filter lets in less outdoor air",
        "FCU_OAT": "outdoor air enters at the inlet",
        "FCU_OA_HUMD": "outdoor air enters at the inlet",
        "FCU_MAT": "outdoor and return air meet in the mixing box",
        "FCU_MA_HUMD": "outdoor and return air meet in the mixing box",
        "FCU_DAT": "less air is changed further by the same coil",
        "FCU_DA_HUMD": "discharge air leaves at the outlet",
        "RM_TEMP": "the outlet feeds the room",
        "FCU_RAT": "the room's air returns through the inlet: it reads what the room sensor reads",
        "FCU_RA_HUMD": "the room's air returns through the inlet",
    },
}


def _kind(name: str) -> NodeKind:
    if name in CONTROLLERS:
        return NodeKind.CONTROLLER
    return NodeKind.ACTUATOR if name in ACTUATORS or name in EQUIPMENT else NodeKind.SENSOR


TEMPLATE = CpsGraph(
    [Node(name, _kind(name), signal=name) for name in NAMES] + [Node(name, _kind(name)) for name in EQUIPMENT],
    [
        Edge(source, target, kind, reason)
        for kind, table in ((EdgeKind.COMM, _COMM), (EdgeKind.PHYS, _PHYS))
        for source, targets in table.items()
        for target, reason in targets.items()
    ],
)
MEANINGS: dict[str, str] = {signal.name: signal.meaning for signal in SIGNALS} | EQUIPMENT
