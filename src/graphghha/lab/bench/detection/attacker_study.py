"""How many attacked zones stay in alarm when an attacker on readings holds one to three of their nodes.

Random buildings are commissioned, attacked by cases of the catalogue and of the generator, and simulated once more
without the attacks: that gives quiet days for the thresholds of defences. Both are simulated again with every reading,
for the error of the room temperature and the energy that attacks cost.

R rows, Z zones, S signals, w judged rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphghha.commissioning.commission import commission
from graphghha.commissioning.threshold import ZONES_OF_BUDGET, episodes
from graphghha.errors import ConfigError, DataError
from graphghha.lab.bench.detection.reading_attacker import Effort, Target, hide, rank_signals
from graphghha.lab.bench.detection.recorded_zone import EVERY, RecordedBuilding, RecordedZone
from graphghha.lab.bench.detection.zone_defences import DEFENCES, View, Views
from graphghha.lab.bench.results import make_result
from graphghha.lab.evaluation import without_nan
from graphghha.lab.runs import Run, Schedule, attacked_run
from graphghha.lab.training.zone_windows import compared_days
from graphghha.models import Model
from graphghha.plants import LabelledDay, Plant, load_plant, load_testbed
from graphghha.windows.multiscale import DAY

SEED_BASE = 700_000_000  # far from every seed that training, validation or other figures use
FIRST_DAYS = (datetime(2018, 2, 1), datetime(2018, 7, 10), datetime(2018, 10, 20), datetime(2018, 4, 25))
HIGHEST_SHARE = 0.999  # quantile of quiet scores that defences are compared at
TRIED = (-2.0, -1.0, 0.0, 1.0, 2.0)  # log-odds that are added to the threshold for the table of impact
LEAST_VISIBLE = 60  # rows of the window in which an attack must be visible


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyConfig:
    """The buildings, the attacks and the effort of the attacker."""

    seed: int = 0
    buildings: int = 4
    zones: int = 8
    days: int = 3  # under attack; one day before them fills the averages
    commission_days: int = 14
    hours: int = 6  # of an attack, from its onset on, that have to be hidden
    attacks: int = 10  # of each building
    held: tuple[int, ...] = (1, 2, 3)
    defences: tuple[str, ...] = tuple(DEFENCES)
    effort: Effort = Effort()
    every: int = 4 * EVERY  # rows between two that the attacker looks at; the verdict looks at every fifth
    schedule: Schedule = Schedule(mean_gap_days=0.5, shortest_min=360, longest_min=720, lasting_share=0.0, rest_min=360)

    def __post_init__(self) -> None:
        if unknown := [name for name in self.defences if name not in DEFENCES]:
            raise ConfigError(f"attacker: no defence is named {unknown[0]!r}; known: {', '.join(DEFENCES)}")


QUICK = StudyConfig(buildings=1, zones=3, days=2, commission_days=7, attacks=2, effort=Effort(steps=3))


@dataclass(frozen=True)
class Site:
    """One building: a commissioned model, attacked and quiet telemetry, and its attacks."""

    commissioned: RecordedBuilding
    shipped: RecordedBuilding
    quiet: RecordedBuilding
    quiet_shipped: RecordedBuilding
    attacks: tuple["Attack", ...]
    threshold: float
    days: float  # quiet building-days that were judged, in units of twelve zones


@dataclass(frozen=True, slots=True)
class Impact:
    """What an attack does to a zone; NaN where the sensors that show it are attacked themselves."""

    kelvin_hours_per_day: float  # error of the room temperature
    kwh_per_day: float  # energy that the zone takes more or less: heat of its water, and its fan


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack on one zone, from its onset on."""

    zone: int
    window: slice
    signals: tuple[int, ...]  # of the attacked nodes that have one
    impact: Impact


@dataclass(frozen=True, slots=True)
class Verdict:
    """The highest score of an attacked zone, relative to the threshold of its site, after the attacker is done."""

    held: int
    defence: str
    excess: float
    impact: Impact


def attacker_study(
    model: Model,
    config: StudyConfig,
    *,
    room: Sequence[str],
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Return a row for every number of held nodes and every defence; `room` are sensors of the room temperature."""
    if model.commissioning is not None:
        raise ConfigError("attacker: give the model that a site's model was derived from; the study commissions it")
    _ = model.zone_preprocessing  # refuses other models now, and not after a simulation
    plant, sites = load_plant(model.plant), []
    for number in range(config.buildings):
        progress(f"attacker: building {number + 1} of {config.buildings}")
        sites.append(_site(plant, model, config, number, room))
    offsets, quiet = _quiet_scores(sites, config)
    # a defence that scores quiet days higher needs a threshold that is higher by as much
    shift = {name: _highest(quiet[name]) - _highest(quiet["none"]) for name in config.defences}
    verdicts: list[Verdict] = []
    attacks = [(site, attack, offset) for site, offset in zip(sites, offsets, strict=True) for attack in site.attacks]
    for number, (site, attack, offset) in enumerate(attacks, 1):
        verdicts += _verdicts(plant, site, attack, offset, shift, config)
        progress(f"attacker: attack {number} of {len(attacks)}")
    if not verdicts:
        raise DataError("attacker: no attack was visible for an hour; give more days or another seed")
    rows = [
        _row(held, name, verdicts, 0.0, _false_alarms(sites, quiet[name], shift[name]))
        for held in (0, *config.held)
        for name in config.defences
    ]
    impact = [
        _row(held, "none", verdicts, more, _false_alarms(sites, quiet["none"], more))
        for held in (0, *config.held)
        for more in (TRIED if "none" in config.defences else ())
    ]
    about = {**asdict(config), "threshold_shift": shift, "thresholds": [site.threshold for site in sites]}
    result: dict[str, Any] = without_nan(make_result("attacker", about, rows, impact=impact))
    return result


def _site(plant: Plant, model: Model, config: StudyConfig, number: int, room: Sequence[str]) -> Site:
    seed = SEED_BASE + 100 * config.seed + number
    first = FIRST_DAYS[number % len(FIRST_DAYS)]
    normal = Run(seed=seed, start=first, days=config.commission_days, zones=config.zones, condition=str(seed))
    graph = plant.template.replicate(config.zones)
    last = first + timedelta(days=config.commission_days)
    days = compared_days(plant, normal, model.zone_preprocessing)
    own = commission(model, graph, days, data=normal.source, first=first, last=last)
    judged = attacked_run(
        replace(normal, start=last, days=config.days + 1), _cases(plant, seed), config.schedule, warm_up_s=DAY
    )
    attacked = list(judged.simulate(plant))
    quiet = _values(list(replace(judged, cases=()).simulate(plant)))
    values = _values(attacked)
    changes = _changes(plant, judged, room)
    assert own.commissioning is not None
    return Site(
        RecordedBuilding(own, graph, values),
        RecordedBuilding(model, graph, values),
        RecordedBuilding(own, graph, quiet),
        RecordedBuilding(model, graph, quiet),
        _attacks(plant, attacked, judged, changes, config),
        own.commissioning.threshold,
        config.days * config.zones / ZONES_OF_BUDGET,
    )


def _cases(plant: Plant, seed: int) -> list[str]:
    """Return the catalogue and as many generic attacks."""
    rng, weights = np.random.default_rng(seed), load_testbed(plant.name).mechanisms
    shares = np.array(list(weights.values()))
    drawn = rng.choice(list(weights), len(plant.cases), p=shares / shares.sum())
    return [*plant.cases, *(f"generic:{name}:{int(rng.integers(1 << 40))}" for name in drawn)]


def _values(days: Sequence[LabelledDay]) -> NDArray[np.float64]:
    return np.concatenate([day.values for day in days]).astype(np.float64)


@dataclass(frozen=True)
class _Changes:
    """What the attacks of a run change in the building, and the signals that show it."""

    room: dict[int, NDArray[np.float64]]  # by signal: error of the room temperature [R Z] in kelvin
    power: NDArray[np.float64]  # [R Z] kW
    power_signals: frozenset[int]

    def impact(self, zone: int, window: slice, attacked: Sequence[int]) -> Impact:
        """Return the impact on one zone, from signals that are not attacked."""
        honest = [error[window, zone] for signal, error in self.room.items() if signal not in attacked]
        is_metered = self.power_signals.isdisjoint(attacked)
        return Impact(
            24.0 * float(np.mean(honest[0])) if honest else float("nan"),
            24.0 * abs(float(np.mean(self.power[window, zone]))) if is_metered else float("nan"),
        )


def _changes(plant: Plant, run: Run, room: Sequence[str]) -> _Changes:
    """Compare a run with the same days without its attacks; both with all readings, whatever the building reports."""
    testbed, columns = load_testbed(plant.name), list(plant.template.point_signals)
    complete = replace(run, observe="ideal")
    attacked, quiet = (_values(list(each.simulate(plant))) for each in (complete, replace(complete, cases=())))
    return _Changes(
        {column: np.abs(attacked[..., column] - quiet[..., column]) for column in map(columns.index, room)},
        np.asarray(testbed.power(attacked) - testbed.power(quiet), np.float64),
        frozenset(columns.index(name) for name in testbed.power_signals),
    )


def _attacks(
    plant: Plant, days: Sequence[LabelledDay], run: Run, changes: _Changes, config: StudyConfig
) -> tuple[Attack, ...]:
    """Return the first visible attacks of a run."""
    event, visible = (np.concatenate([getattr(day, name) for day in days]) for name in ("event", "observable"))
    length, attacks = config.hours * 60, []
    signal_of = {int(node): number for number, node in enumerate(plant.template.signal_nodes)}
    for number in range(len(run.cases)):
        cells = event == number
        rows = np.flatnonzero(cells.any(axis=(1, 2)))
        if len(rows) < length:
            continue
        window = slice(int(rows[0]), int(rows[0]) + length)
        zone = int(cells[rows[0]].any(axis=1).argmax())
        if (cells & visible)[window, zone].any(axis=1).sum() < LEAST_VISIBLE:
            continue
        targets = np.flatnonzero(cells[window, zone].any(axis=0)).tolist()
        signals = tuple(signal_of[node] for node in targets if node in signal_of)
        attacks.append(Attack(zone, window, signals, changes.impact(zone, window, signals)))
    return tuple(attacks[: config.attacks])


def _quiet_scores(sites: Sequence[Site], config: StudyConfig) -> tuple[list[float], dict[str, list[NDArray[Any]]]]:
    """Return how much higher the base model scores each quiet building, and the scores [w Z] of every defence."""
    names = dict.fromkeys(("none", *config.defences))
    quiet: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    offsets = []
    for site in sites:
        zones = site.quiet.values.shape[1]
        views = [_quiet_views(site.quiet, zone) for zone in range(zones)]
        shipped = [_quiet_views(site.quiet_shipped, zone) for zone in range(zones)]
        offset = 0.0
        with torch.no_grad():
            if "shipped_witness" in names:
                own, base = ([DEFENCES["none"](Views(view), None).numpy() for view in of] for of in (views, shipped))
                offset = _highest(base) - _highest(own)
            for name in names:
                scores = [
                    DEFENCES[name](Views(view, base_view, offset), None).numpy()
                    for view, base_view in zip(views, shipped, strict=True)
                ]
                quiet[name].append(np.stack(scores, axis=1) - site.threshold)
        offsets.append(offset)
    return offsets, quiet


def _quiet_views(building: RecordedBuilding, zone: int) -> View:
    x, known = building.windows
    zones = building.values.shape[1]
    return building.front_end, x[zone::zones], known[zone::zones]


def _highest(scores: Sequence[NDArray[Any]]) -> float:
    return float(np.quantile(np.concatenate([each.ravel() for each in scores]), HIGHEST_SHARE))


def _false_alarms(sites: Sequence[Site], scores: Sequence[NDArray[Any]], threshold: float) -> float:
    """Return false alarms a day of a building with twelve zones, on the quiet days."""
    return sum(episodes(each, threshold) for each in scores) / sum(site.days for site in sites)


def _verdicts(
    plant: Plant, site: Site, attack: Attack, offset: float, shift: dict[str, float], config: StudyConfig
) -> list[Verdict]:
    verdicts = []
    for name in config.defences:
        defence = DEFENCES[name]
        seen, judged = (
            _target(plant, site, attack, offset, every, name == "shipped_witness") for every in (config.every, EVERY)
        )
        ranked = rank_signals(seen, defence)
        order = [*sorted(attack.signals, key=ranked.index), *(at for at in ranked if at not in attack.signals)]
        lowest = float("inf")  # who holds more nodes may leave them as they are
        for held in (0, *config.held):
            readings = hide(seen, defence, order[:held], config.effort) if held else seen.readings
            with torch.no_grad():
                lowest = min(lowest, float(defence(judged.views(readings), None).max()))
            excess = lowest - site.threshold - shift[name]
            verdicts.append(Verdict(held, name, excess, attack.impact))
    return verdicts


def _target(plant: Plant, site: Site, attack: Attack, offset: float, every: int, with_shipped: bool) -> Target:
    signals = {signal.name: signal for signal in plant.signals}
    own = [signals[name] for name in plant.template.point_signals if name is not None]
    zones = [
        RecordedZone(building, attack.zone, attack.window, every=every)
        for building in ((site.commissioned, site.shipped) if with_shipped else (site.commissioned,))
    ]
    return Target(
        zones[0],
        zones[1] if with_shipped else None,
        offset,
        torch.tensor([[signal.low, signal.high] for signal in own], dtype=torch.float64),
        torch.tensor([bool(signal.states) for signal in own]),
        tuple(int(node) for node in plant.template.signal_nodes),
    )


def _row(held: int, name: str, verdicts: Sequence[Verdict], more: float, false_alarms: float) -> dict[str, Any]:
    """Return the figures at a threshold that is `more` above that of the sites."""
    of = [verdict for verdict in verdicts if (verdict.held, verdict.defence) == (held, name)]
    hidden = [verdict.impact for verdict in of if verdict.excess < more]
    kelvin_hours, most_kelvin_hours = _mean_and_most([impact.kelvin_hours_per_day for impact in hidden])
    kwh, most_kwh = _mean_and_most([impact.kwh_per_day for impact in hidden])
    in_alarm = sum(verdict.excess >= more for verdict in of)
    return {
        "held_nodes": held,
        "defence": name,
        "zones_in_alarm": in_alarm,
        "zones_attacked": len(of),
        "share_in_alarm": in_alarm / len(of) if of else float("nan"),
        "threshold_above": more,
        "false_alarms_per_day": false_alarms,
        "hidden_kelvin_hours_per_day": kelvin_hours,
        "most_hidden_kelvin_hours_per_day": most_kelvin_hours,
        "hidden_kwh_per_day": kwh,
        "most_hidden_kwh_per_day": most_kwh,
    }


def _mean_and_most(values: Sequence[float]) -> tuple[float, float]:
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else 0.0, max(known, default=0.0)
