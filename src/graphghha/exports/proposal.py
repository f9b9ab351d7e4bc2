"""Proposes a plant from an export: signals by template, with unit, instrument limits, resolution, sampling and edges.

Limits are those that instruments of a quantity usually have, never the lowest and highest reading: a reading beyond
what was seen is what a detector must judge, not what it may drop.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphghha.errors import DataError
from graphghha.exports.equipment import Template, find_templates
from graphghha.exports.naming import ACTUATOR, CONTROLLER, LABEL, SENSOR, UNKNOWN
from graphghha.exports.notes import Guess, Omission, counted
from graphghha.exports.reader import Export, merge_parts
from graphghha.exports.reporting import Mode
from graphghha.exports.resample import common_step_ms
from graphghha.exports.series import Series
from graphghha.exports.suspicions import encoded_as, reads_like
from graphghha.plants.units import canonical

STALE_INTERVALS = 3
LONGEST_HOLD_S = 7 * 86_400  # a point that reports on change is asked after for so long

# instrument ranges by unit: a wide range costs little, a narrow one would hide attacks
_LIMITS = {
    "degC": (-50.0, 200.0),
    "degF": (-58.0, 392.0),
    "K": (223.0, 473.0),
    "%": (0.0, 100.0),
    "fraction": (0.0, 1.0),
    "%RH": (0.0, 100.0),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SignalProposal:
    """A role of a template and what its points have in common."""

    role: str
    kind: str  # sensor | actuator | controller
    purpose: str
    quantity: str | None
    unit: str | None
    low: float | None  # of the instrument; None: not known
    high: float | None
    resolution: float | None
    interval_s: float | None  # None: reports on change
    stale_after_s: float
    states: tuple[str, ...] = ()
    encoding: str | None = None
    columns: tuple[tuple[str, str], ...] = ()  # copy, name in the export
    missing: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TemplateProposal:
    """A kind of equipment with its signals and the edges between them."""

    name: str
    copies: tuple[str, ...]
    signals: tuple[SignalProposal, ...]
    edges: tuple[tuple[str, str, str], ...]  # from, to, comm | phys


@dataclass(frozen=True, slots=True)
class PlantProposal:
    """A plant as it may be: a person looks it through before it is used."""

    name: str
    step_s: float
    zone: str
    templates: tuple[TemplateProposal, ...]
    shared_edges: tuple[tuple[str, str, str, str, str], ...]  # template, role, template, role, kind
    labels: tuple[str, ...]  # columns that label attacks
    guesses: tuple[Guess, ...]
    omissions: tuple[Omission, ...]


def propose_plant(export: Export, name: str) -> PlantProposal:
    """Return a plant for the points of an export."""
    merged = merge_parts(export.series)
    labels = tuple(each.name for each in merged if each.kind.role == LABEL)
    alive = {each.name: each for each in merged if len(each) and each.kind.role != LABEL}
    dead = [Omission(each.name, "point", 1, _why_dead(each)) for each in merged if not len(each)]
    if not alive:
        raise DataError(f"{name}: there is no point with a reading; `graphghha data check` says what was left out")
    step_ms = common_step_ms(list(alive.values()))
    guesses = list(export.guesses)
    if step_ms is None:
        step_ms = 60_000
        guesses.append(Guess(name, "step", "60 s", "no point is sampled at a fixed interval"))
    templates, found = find_templates({point: series.kind for point, series in alive.items()}, name)
    proposals = tuple(_template(template, alive) for template in templates)
    left_out = tuple(each for each in export.omissions if each.what in ("file", "column")) + tuple(dead)
    return PlantProposal(
        name=name,
        step_s=step_ms / 1000,
        zone=export.zone.clock.zone,
        templates=proposals,
        shared_edges=_shared_edges(proposals),
        labels=labels,
        guesses=tuple(guesses) + found,
        omissions=left_out,
    )


def _why_dead(series: Series) -> str:
    return series.omissions[0].reason if series.omissions else "it has no reading"


def _template(template: Template, alive: dict[str, Series]) -> TemplateProposal:
    signals = []
    for role in template.roles:
        columns = [(copy, template.points[copy, role]) for copy in template.copies if (copy, role) in template.points]
        signals.append(_signal(role, columns, [alive[point] for _, point in columns], template.missing(role)))
    return TemplateProposal(template.name, template.copies, tuple(signals), _edges(signals))


def _signal(
    role: str, columns: Sequence[tuple[str, str]], series: Sequence[Series], missing: tuple[str, ...]
) -> SignalProposal:
    first = max(series, key=len)
    remarks = [first.kind.reason]
    unit, encoding = first.stated_unit, encoded_as(first.values) if first.unit is None and not first.states else None
    if unit is None and not first.states:
        suggested = reads_like(first.name, first.kind, None, first.values, first.column)
        remarks.append(f"no unit is stated; it reads like {suggested}" if suggested else "no unit is stated")
    units = {each.stated_unit for each in series}
    if len(units) > 1:
        remarks.append(f"copies have different units: {', '.join(sorted(map(str, units)))}")
    if still := [each.name for each in series if each.is_constant]:
        remarks.append(f"{counted(len(still), 'copy never moves', 'copies never move')}: {', '.join(still[:4])}")
    interval_s = _interval_s(series)
    low, high = _LIMITS.get(canonical(unit or ""), (None, None))
    kind = first.kind.role
    return SignalProposal(
        role=role,
        kind=SENSOR if kind == UNKNOWN else kind,
        purpose=first.kind.purpose,
        quantity=first.kind.quantity,
        unit=canonical(unit) if unit else None,
        low=low,
        high=high,
        resolution=_resolution(series),
        interval_s=interval_s,
        stale_after_s=LONGEST_HOLD_S if interval_s is None else STALE_INTERVALS * interval_s,
        states=max((each.states for each in series), key=len),
        encoding=encoding,
        columns=tuple(columns),
        missing=missing,
        remarks=tuple(remarks),
    )


def _interval_s(series: Sequence[Series]) -> float | None:
    steps = [s.reporting.step_ms for s in series if s.reporting.mode is Mode.SAMPLED and s.reporting.step_ms]
    return float(np.median(steps)) / 1000 if 2 * len(steps) >= len(series) else None


def _resolution(series: Sequence[Series]) -> float | None:
    """Return the step between readings in the unit of the file, the finest of all copies."""
    found = []
    for each in series:
        if each.resolution is not None and each.decimals is not None:
            found.append(10.0**-each.decimals if each.decimals else max(1.0, round(each.resolution)))
    return min(found, default=None)


def _edges(signals: Sequence[SignalProposal]) -> tuple[tuple[str, str, str], ...]:
    """Return the usual edges inside one piece: measurements and set-points command, actuators move what is measured."""
    sensors = [signal.role for signal in signals if signal.kind == SENSOR and signal.purpose != "alarm"]
    controllers = [signal.role for signal in signals if signal.kind == CONTROLLER]
    actuators = [signal.role for signal in signals if signal.kind == ACTUATOR]
    comm = [(sensor, controller, "comm") for sensor in sensors for controller in controllers]
    comm += [(controller, actuator, "comm") for controller in controllers for actuator in actuators]
    phys = [(actuator, sensor, "phys") for actuator in actuators for sensor in sensors]
    return tuple(comm + phys)


def _shared_edges(templates: Sequence[TemplateProposal]) -> tuple[tuple[str, str, str, str, str], ...]:
    """Return edges from equipment without copies to the copies it may serve: its actuators move what they measure."""
    single = [template for template in templates if len(template.copies) == 1]
    several = [template for template in templates if len(template.copies) > 1]
    if len(single) != 1:
        return ()
    return tuple(
        (single[0].name, own.role, template.name, other.role, "phys")
        for template in several
        for own in single[0].signals
        if own.kind == ACTUATOR
        for other in template.signals
        if other.kind == SENSOR and other.purpose == "measurement"
    )
