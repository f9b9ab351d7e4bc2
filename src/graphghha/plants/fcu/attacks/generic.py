"""Attacks outside the catalogue: any mechanism of the threat model, on any node, of any size, drawn from a seed.

Detectors are trained on these, so that the catalogue remains a test set. A generic attack is named
`generic:MECHANISM:SEED`; the same name is always the same attack. Three mechanisms of the catalogue are left out on
purpose and never drawn: reversed valves, a disabled low limit, and setpoints that differ from what they report.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import numpy as np

from graphghha._util.suggest import did_you_mean
from graphghha.errors import NotFoundError
from graphghha.plants.base import CaseInfo
from graphghha.plants.fcu.attacks.catalog import CatalogRow, node_class
from graphghha.plants.fcu.attacks.effects import (
    Attack,
    Bias,
    Drift,
    Hold,
    Noise,
    Oscillate,
    Replay,
    Saturate,
    Scale,
    SetHooks,
    Swing,
    Together,
)
from graphghha.plants.fcu.signals import HIGH, INDEX, LOW, NAMES, SIGNALS
from graphghha.plants.fcu.topology import AIR_PATH, COOLING_COIL, HEATING_COIL, TEMPLATE

PREFIX = "generic:"
Rng = np.random.Generator
Drawn = tuple[Attack, tuple[str, ...], tuple[str, ...]]  # the attack, its nodes, and nodes that look the same

_UNIT_SIZE = {"degC": 3.0, "%RH": 12.0, "fraction": 0.3, "rev/s": 3.0, "W": 2.0, "mode": 1.0}
_SIZE = {"RM_TEMP": 2.0, "RMCLGSPT": 2.0, "RMHTGSPT": 2.0} | {
    "FCU_CLG_GPM": 0.15,
    "FCU_HTG_GPM": 0.03,
    "FCU_DA_CFM": 80.0,
    "FCU_OA_CFM": 15.0,
}
# How far a signal usually moves; falsifications are drawn in these units.
USUAL: Mapping[str, float] = {s.name: _SIZE.get(s.name) or _UNIT_SIZE[s.unit] for s in SIGNALS}
_MODES = tuple(signal.name for signal in SIGNALS if signal.states)
_NUMBERS = tuple(name for name in NAMES if name not in _MODES)
_DRIVES = {"cooling": "FCU_CVLV", "heating": "FCU_HVLV", "damper": "FCU_DMPR"}
_COILS = {"cooling": COOLING_COIL, "heating": HEATING_COIL}
_NODE_OF = {signal: name for signal, name in zip(TEMPLATE.signals, TEMPLATE.names, strict=True) if signal}
_SETPOINTS = ("RMCLGSPT", "RMHTGSPT")


def _bias(rng: Rng) -> Drawn:
    signal = _number(rng)
    return Bias(signal, _sign(rng) * _size(rng, signal)), (_NODE_OF[signal],), ()


def _ramp(rng: Rng) -> Drawn:
    signal = _number(rng)
    limit = _size(rng, signal)
    return Drift(signal, _sign(rng) * limit / _log_uniform(rng, 0.5, 24.0), limit), (_NODE_OF[signal],), ()


def _scale(rng: Rng) -> Drawn:
    signal = _number(rng)
    factor = _log_uniform(rng, 1.1, 3.0)
    return Scale(signal, factor if rng.random() < 0.5 else 1.0 / factor), (_NODE_OF[signal],), ()


def _hold(rng: Rng) -> Drawn:
    signal = _any(rng)
    return Hold(signal), (_NODE_OF[signal],), ()


def _noise(rng: Rng) -> Drawn:
    signal = _number(rng)
    return Noise(signal, _size(rng, signal), int(rng.integers(1 << 31))), (_NODE_OF[signal],), ()


def _swing(rng: Rng) -> Drawn:
    signal = _number(rng)
    return Swing(signal, _size(rng, signal), _log_uniform(rng, 8.0, 360.0)), (_NODE_OF[signal],), ()


def _replay(rng: Rng) -> Drawn:
    signals = _several(rng, NAMES, 1, 3)
    return Replay(signals), tuple(_NODE_OF[signal] for signal in signals), ()


def _extreme(rng: Rng) -> Drawn:
    signal = _number(rng)
    low, high = LOW[INDEX[signal]], HIGH[INDEX[signal]]
    place = rng.choice([0.0, 1.0, rng.uniform(0.0, 0.3), rng.uniform(0.7, 1.0)])
    return Saturate(signal, float(low + place * (high - low))), (_NODE_OF[signal],), ()


def _together(rng: Rng) -> Drawn:
    """Draw two or three readings, falsified by the same share of the usual movement of each."""
    signals = _several(rng, _NUMBERS, 2, 3)
    share, sign = _log_uniform(rng, 0.15, 1.5), _sign(rng)
    parts = tuple(Bias(signal, sign * share * USUAL[signal]) for signal in signals)
    return Together(parts), tuple(_NODE_OF[signal] for signal in signals), ()


def _stuck(rng: Rng) -> Drawn:
    drive = _choice(rng, tuple(_DRIVES))
    return SetHooks({f"{drive}_stuck": float(rng.choice([0.0, 1.0, rng.random()]))}), (_DRIVES[drive],), ()


def _leak(rng: Rng) -> Drawn:
    drive = _choice(rng, tuple(_DRIVES))
    return SetHooks({f"{drive}_leak": _log_uniform(rng, 0.08, 1.0)}), (_DRIVES[drive],), ()


def _command_offset(rng: Rng) -> Drawn:
    drive = _choice(rng, (*_DRIVES, "fan"))
    if drive == "fan":
        return SetHooks({"fan_speed_offset": _sign(rng) * _log_uniform(rng, 0.5, 6.0)}), ("FCU_SPD",), ()
    return SetHooks({f"{drive}_command_offset": _sign(rng) * _log_uniform(rng, 0.06, 0.7)}), (_DRIVES[drive],), ()


def _setpoint(rng: Rng) -> Drawn:
    size, which = _log_uniform(rng, 0.4, 6.0), int(rng.integers(3))
    hooks = {"cooling_setpoint_offset": _sign(rng) * size, "heating_setpoint_offset": _sign(rng) * size}
    chosen = [(hooks, _SETPOINTS), (_only(hooks, "cooling"), _SETPOINTS[:1]), (_only(hooks, "heating"), _SETPOINTS[1:])]
    settings, nodes = chosen[which]
    return SetHooks(settings), nodes, ()


def _setpoint_swing(rng: Rng) -> Drawn:
    hooks = ("cooling_setpoint_offset", "heating_setpoint_offset")
    chosen = (0, 1) if rng.random() < 0.5 else (int(rng.integers(2)),)
    swing = Oscillate(tuple(hooks[at] for at in chosen), _log_uniform(rng, 0.5, 6.0), _log_uniform(rng, 20.0, 400.0))
    return swing, tuple(_SETPOINTS[at] for at in chosen), ()


def _gains(rng: Rng) -> Drawn:
    factor = _log_uniform(rng, 3.0, 40.0) if rng.random() < 0.7 else _log_uniform(rng, 0.02, 0.3)
    return SetHooks({"gain_factor": factor}), ("FCU_CVLV_DM", "FCU_HVLV_DM"), ()


def _airflow(rng: Rng) -> Drawn:
    """Draw a loss of air flow. Filter and fins share one hook, so telemetry cannot tell them apart."""
    if rng.random() < 0.7:
        return SetHooks({"airflow_factor": rng.uniform(0.3, 0.95)}), (AIR_PATH,), (COOLING_COIL, HEATING_COIL)
    return SetHooks({"outlet_blockage": rng.uniform(0.2, 0.9)}), (AIR_PATH,), ()


def _outdoor_air(rng: Rng) -> Drawn:
    return SetHooks({"outdoor_factor": rng.uniform(0.02, 0.8)}), (AIR_PATH,), ()


def _heat_transfer(rng: Rng) -> Drawn:
    coil = _choice(rng, tuple(_COILS))
    what = _choice(rng, ("water_ua", "water_flow"))
    return SetHooks({f"{coil}_{what}": rng.uniform(0.1, 0.9)}), (_COILS[coil],), ()


_PHYSICAL: tuple[Callable[[Rng], Drawn], ...] = (_stuck, _leak, _command_offset, _airflow, _heat_transfer)


def _concealment(rng: Rng) -> Drawn:
    """Draw a physical change, with one to three neighboring readings played back from an earlier day."""
    attack, nodes, _ = _PHYSICAL[int(rng.integers(len(_PHYSICAL)))](rng)
    near = [name for name in _neighbors(nodes[0]) if TEMPLATE.signals[TEMPLATE.index(name)] not in (None, *_SETPOINTS)]
    own = [nodes[0]] if TEMPLATE.signals[TEMPLATE.index(nodes[0])] else []
    hidden = tuple(dict.fromkeys([*own, *_several(rng, tuple(near), 1, 3)]))
    signals = tuple(str(TEMPLATE.signals[TEMPLATE.index(name)]) for name in hidden)
    return Together((attack, Replay(signals))), tuple(dict.fromkeys((*nodes, *hidden))), ()


# mechanism -> how it is drawn, and how often against the others
MECHANISMS: Mapping[str, tuple[Callable[[Rng], Drawn], float]] = {
    "bias": (_bias, 14.0),
    "ramp": (_ramp, 12.0),
    "scale": (_scale, 5.0),
    "hold": (_hold, 8.0),
    "noise": (_noise, 5.0),
    "swing": (_swing, 5.0),
    "replay": (_replay, 6.0),
    "extreme": (_extreme, 7.0),
    "together": (_together, 6.0),
    "stuck": (_stuck, 9.0),
    "leak": (_leak, 6.0),
    "command_offset": (_command_offset, 6.0),
    "setpoint": (_setpoint, 5.0),
    "setpoint_swing": (_setpoint_swing, 3.0),
    "gains": (_gains, 4.0),
    "airflow": (_airflow, 6.0),
    "outdoor_air": (_outdoor_air, 2.0),
    "heat_transfer": (_heat_transfer, 6.0),
    "concealment": (_concealment, 8.0),
}


@lru_cache(maxsize=4096)
def generic_row(name: str) -> CatalogRow:
    """Return the attack that `generic:MECHANISM:SEED` names, as a row of a catalogue."""
    mechanism, _, seed = name.removeprefix(PREFIX).partition(":")
    if mechanism not in MECHANISMS:
        hint = did_you_mean(mechanism, MECHANISMS) or ";"
        raise NotFoundError(
            f"no case is named {name!r}{hint} write generic:MECHANISM:SEED with one of {', '.join(MECHANISMS)}"
        )
    if not (seed.isascii() and seed.isdigit()):
        what = f"seed {seed!r} is no whole number" if seed else "a seed is missing"
        raise NotFoundError(
            f"no case is named {name!r}: {what}; write generic:MECHANISM:SEED, such as {PREFIX}{mechanism}:7"
        )
    draw = partial(_drawn, mechanism, int(seed))
    _, targets, equivalent = draw()
    info = CaseInfo(
        name=name,
        family=mechanism,
        attack_class=node_class(targets[0]),
        targets=targets,
        equivalent=equivalent,
        meaning=f"generic attack: {mechanism.replace('_', ' ')} on {', '.join(targets)}",
    )
    return CatalogRow(info=info, build=lambda: draw()[0])


def _drawn(mechanism: str, seed: int) -> Drawn:
    return MECHANISMS[mechanism][0](np.random.default_rng([0x6E, list(MECHANISMS).index(mechanism), seed]))


def _neighbors(node: str) -> list[str]:
    return sorted(
        {edge.source for edge in TEMPLATE.edges if edge.target == node}
        | {edge.target for edge in TEMPLATE.edges if edge.source == node}
    )


def _only(settings: Mapping[str, float], prefix: str) -> dict[str, float]:
    return {name: value for name, value in settings.items() if name.startswith(prefix)}


def _choice(rng: Rng, names: tuple[str, ...]) -> str:
    return names[int(rng.integers(len(names)))]


def _any(rng: Rng) -> str:
    return _choice(rng, NAMES)


def _number(rng: Rng) -> str:
    return _choice(rng, _NUMBERS)


def _several(rng: Rng, names: tuple[str, ...], least: int, most: int) -> tuple[str, ...]:
    count = min(int(rng.integers(least, most + 1)), len(names))
    return tuple(names[at] for at in sorted(rng.permutation(len(names))[:count].tolist()))


def _sign(rng: Rng) -> float:
    return 1.0 if rng.random() < 0.5 else -1.0


def _size(rng: Rng, signal: str) -> float:
    return _log_uniform(rng, 0.1, 2.5) * USUAL[signal]


def _log_uniform(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
