"""The attack catalogue: the 48 cases of the public data set by their file names, and the threat model's own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from graphghha.errors import ConfigError
from graphghha.plants.base import CaseInfo
from graphghha.plants.fcu.attacks.effects import Attack, Replay
from graphghha.plants.fcu.attacks.threats import STEALTHY_RAMP, TEMPORARY, TEMPORARY_DURATION, THREATS
from graphghha.plants.fcu.lbnl.cases import build_attack
from graphghha.plants.fcu.topology import AIR_PATH, COOLING_COIL, HEATING_COIL, TEMPLATE


@dataclass(frozen=True, kw_only=True, slots=True)
class CatalogRow:
    """One case: its description, how to build its attack, and its duration and ramp unless an event sets others."""

    info: CaseInfo
    build: Callable[[], Attack]
    duration: timedelta | None = None  # None = sustained
    ramp: timedelta = timedelta(0)
    stealthy: bool = False


def node_class(node: str) -> str:
    """Return the class of an attack on a node, which is the kind of the node."""
    return str(TEMPLATE.nodes[TEMPLATE.index(node)].kind)


_GRADES = "Minor Moderate Severe"
_BLOCKED = "airflow_obstruction"
# mechanism, severities, family, target nodes, nodes with the same telemetry, meaning
_PUBLIC: tuple[tuple[str, str, str, tuple[str, ...], tuple[str, ...], str], ...] = (
    ("OADMPRStuck", "0 30 50 80 100", "damper", ("FCU_DMPR",), (), "outdoor-air damper held at {} %"),
    ("OADMPRLeak", "20 50 80", "damper", ("FCU_DMPR",), (), "outdoor-air damper leaks, severity {} %"),
    ("VLVStuck_Cooling", "0 20 50 80 100", "valve", ("FCU_CVLV",), (), "cooling valve held at {} %"),
    ("VLVStuck_Heating", "0 20 50 80 100", "valve", ("FCU_HVLV",), (), "heating valve held at {} %"),
    ("VLVLeak_Cooling", "20 50 80", "valve", ("FCU_CVLV",), (), "cooling valve leaks {} % of its full flow"),
    ("VLVLeak_Heating", "20 50 80", "valve", ("FCU_HVLV",), (), "heating valve leaks {} % of its full flow"),
    ("SensorBias_RMTemp", "-4C -2C +2C +4C", "sensor_bias", ("RM_TEMP",), (), "room sensor reads {} off"),
    (
        "Fouling_Cooling_Airside",
        _GRADES,
        "coil_fouling",
        (COOLING_COIL,),
        (HEATING_COIL,),
        "{} dirt, cooling coil fins",
    ),
    (
        "Fouling_Heating_Airside",
        _GRADES,
        "coil_fouling",
        (HEATING_COIL,),
        (COOLING_COIL,),
        "{} dirt, heating coil fins",
    ),
    ("Fouling_Cooling_Waterside", _GRADES, "coil_fouling", (COOLING_COIL,), (), "{} scale, cooling coil tubes"),
    ("Fouling_Heating_Waterside", _GRADES, "coil_fouling", (HEATING_COIL,), (), "{} scale, heating coil tubes"),
    ("FilterRestriction", "10% 20% 50%", _BLOCKED, (AIR_PATH,), (), "filter restricted by {}"),
    ("FanOutletBlockage", "", _BLOCKED, (AIR_PATH,), (), "fan outlet blocked"),
    ("OABlockage", "", _BLOCKED, (AIR_PATH,), (), "outdoor-air inlet blocked"),
    ("Control_CoolingReverse", "", "controller", ("FCU_CVLV_DM",), ("FCU_CVLV",), "cooling valve driven in reverse"),
    ("Control_HeatingReverse", "", "controller", ("FCU_HVLV_DM",), ("FCU_HVLV",), "heating valve driven in reverse"),
    ("Control_Unstable", "", "controller", ("FCU_CVLV_DM", "FCU_HVLV_DM"), (), "valve loops hunt"),
)
# cases whose equivalent nodes differ from those of their mechanism; a test measures all of them
_EQUIVALENT: dict[str, tuple[str, ...]] = {
    "FCU_VLVStuck_Cooling_100": ("FCU_CVLV_DM",),
    "FCU_VLVStuck_Heating_100": ("FCU_HVLV_DM",),
    # the same loss of air flow at these two severities
    "FCU_Fouling_Cooling_Airside_Moderate": (HEATING_COIL, AIR_PATH),
    "FCU_Fouling_Heating_Airside_Moderate": (COOLING_COIL, AIR_PATH),
    "FCU_FilterRestriction_20%": (COOLING_COIL, HEATING_COIL),
}
# dirt on the fins and a clogged filter reduce the air flow alike: how much is a matter of severity
_AIRSIDE = (COOLING_COIL, HEATING_COIL, AIR_PATH)
_AIRSIDE_MECHANISMS = ("Fouling_Cooling_Airside", "Fouling_Heating_Airside", "FilterRestriction")


def _public() -> Iterator[CatalogRow]:
    for mechanism, severities, family, targets, equivalent, meaning in _PUBLIC:
        for severity in severities.split() or [""]:
            name = f"FCU_{mechanism}_{severity}".rstrip("_")
            info = CaseInfo(
                name=name,
                family=family,
                attack_class=node_class(targets[0]),
                targets=targets,
                severity=severity,
                equivalent=_EQUIVALENT.get(name, equivalent),
                alike=tuple(n for n in _AIRSIDE if n not in targets) if mechanism in _AIRSIDE_MECHANISMS else (),
                meaning=meaning.format(severity.lower() if severity.isalpha() else severity),
            )
            yield CatalogRow(info=info, build=partial(build_attack, name))


def _threats() -> Iterator[CatalogRow]:
    for family, threats in THREATS.items():
        stealthy = family == "stealthy"
        for name, threat in threats.items():
            info = CaseInfo(
                name=name,
                family=family,
                attack_class=node_class(threat.targets[0]),
                targets=threat.targets,
                severity=threat.severity,
                meaning=threat.meaning,
            )
            ramp = STEALTHY_RAMP if stealthy else timedelta(0)
            yield CatalogRow(info=info, build=threat.build, ramp=ramp, stealthy=stealthy)


def _temporary() -> Iterator[CatalogRow]:
    for row in _public():
        if row.info.name in TEMPORARY:
            name = row.info.name.replace("FCU_", "Temporary_")
            meaning = f"{row.info.meaning}, for two hours"
            info = replace(row.info, name=name, family="temporary", meaning=meaning, same_as=row.info.name)
            yield CatalogRow(info=info, build=row.build, duration=TEMPORARY_DURATION)


REPLAY = "Replay"  # not listed in the catalogue: it has no targets until an event chooses them
REPLAYABLE = tuple(
    signal
    for signal, name in zip(TEMPLATE.signals, TEMPLATE.names, strict=True)
    if signal and node_class(name) == "sensor"
)


def replay_row(signals: tuple[str, ...]) -> CatalogRow:
    """Return the case that replays chosen sensors."""
    if wrong := [name for name in signals if name not in REPLAYABLE]:
        raise ConfigError(
            f"case {REPLAY}: {wrong[0]!r} is not a sensor that can be replayed; use {', '.join(REPLAYABLE)}"
        )
    if not signals or len(set(signals)) < len(signals):
        raise ConfigError(f"case {REPLAY}: name the sensors, each only once: on=RM_TEMP+FCU_RAT")
    info = CaseInfo(
        name=REPLAY,
        family="replay",
        attack_class="sensor",
        targets=signals,
        meaning="chosen sensors repeat their readings of an earlier day",
    )
    return CatalogRow(info=info, build=partial(Replay, signals))


ROWS: dict[str, CatalogRow] = {row.info.name: row for row in (*_public(), *_threats(), *_temporary())}
CASES: dict[str, CaseInfo] = {name: row.info for name, row in ROWS.items()}
