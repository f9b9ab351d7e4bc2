"""The one place where parts meet: model, engine, testbed and monitor."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import AlarmRule, AlarmState, ChangeKind, GroupRule, Incident, Proximity
from graphghha.engine.scorer import Scorer
from graphghha.errors import ConfigError
from graphghha.evaluation.events import event_scores, judge
from graphghha.evaluation.plain import without_nan
from graphghha.evaluation.recording import STEP_S, attacks_in
from graphghha.evaluation.scenario import Run
from graphghha.models import load_model
from graphghha.models.shipped import shipped_model
from graphghha.monitor import Notice, Pipeline
from graphghha.plants import LabelledDay, Plant, load_plant, load_testbed
from graphghha.windows.features import HISTORY_ROWS

ROWS_PER_DAY = 1440


def open_pipeline(directory: Path, zones: int, **engine: Any) -> Pipeline:
    """A verified model on a building of its plant, with the thresholds it was shipped with."""
    model = load_model(directory)
    graph = model.template.replicate(zones)
    rule, group_rule = AlarmRule(**model.thresholds["rule"]), GroupRule(**model.thresholds["group"])
    return Pipeline(Scorer(model, graph, **engine), graph, rule, group_rule)


@dataclass(frozen=True, slots=True)
class Minute:
    """One step of a demonstration."""

    time: np.datetime64
    alarms: AlarmState
    incidents: tuple[Incident, ...]
    notices: tuple[Notice, ...]


class Demo:
    """A simulated building on its showcase day, watched minute by minute; the truth is used for the score card only."""

    def __init__(self, plant_name: str = "fcu", *, minutes: int, seed: int = 7, model: Path | None = None) -> None:
        plant = load_plant(plant_name)
        if plant.scene is None:
            raise ConfigError(f"plant {plant_name!r} has no showcase day")
        if not 1 <= minutes <= ROWS_PER_DAY - plant.scene.begin_min:
            raise ConfigError(
                f"demo: {minutes} minutes; from the scene's begin there are {ROWS_PER_DAY - plant.scene.begin_min}"
            )
        warm_days = -(-HISTORY_ROWS // ROWS_PER_DAY)
        scene = plant.scene
        self.plant, self.scene, self.minutes = plant, scene, minutes
        self.run = Run(
            seed=seed,
            start=scene.day - timedelta(days=warm_days),
            days=warm_days + 1,
            zones=scene.zones,
            cases=scene.cases,
        )
        self.pipeline = open_pipeline(model or shipped_model(plant_name), scene.zones)
        self._announced: dict[int, Incident] = {}
        self._today: LabelledDay | None = None

    def watch(self) -> Iterator[Minute]:
        """Fill the windows with the days before, then judge the day minute by minute."""
        run = self.run
        *before, today = load_testbed(self.plant.name).run(
            zones=run.zones, days=run.days, start=run.start, seed=run.seed, cases=run.cases
        )
        for day in before:
            self.pipeline.warm_up(*_readings(day, slice(None)))
        begin, end = self.scene.begin_min, self.scene.begin_min + self.minutes
        self.pipeline.warm_up(*_readings(today, slice(0, begin)))
        self._today = today
        for minute in range(begin, end):
            row = slice(minute, minute + 1)
            notices = tuple(self.pipeline.push(today.times[row], *_readings(today, row)))
            for notice in notices:
                if notice.kind is ChangeKind.ANNUNCIATED:
                    self._announced[notice.incident.number] = notice.incident
            yield Minute(today.times[minute], self.pipeline.alarms, self.pipeline.incidents, notices)

    def scorecard(self) -> dict[str, Any]:
        """What was attacked so far, and what was made of it."""
        assert self._today is not None, "watch first"
        window = slice(self.scene.begin_min, self.scene.begin_min + self.pipeline.alarms.step)
        graph, near = self.pipeline.graph, Proximity(self.pipeline.graph)
        shape = (self.pipeline.alarms.step, graph.num_nodes)
        observable = self._today.observable[window].reshape(shape)
        attacks = attacks_in(self.plant, graph, self.run, self._today.event[window].reshape(shape), observable)
        recovering = np.repeat(self._today.recovering[window], self.plant.template.num_nodes, axis=1)
        judged = judge(
            list(self._announced.values()), attacks, near, num_steps=shape[0], step_s=STEP_S, recovering=recovering
        )
        scores = event_scores([judged])
        card: dict[str, Any] = without_nan(
            {
                "attacks": scores.observable_events,
                "detected": sum(outcome.is_detected for outcome in judged.outcomes if outcome.is_observable),
                "hit_at_1": scores.hit_at_1,
                "median_ttd_min": scores.median_ttd_min,
                "false_alarms": len(judged.false_alarms),
            }
        )
        return card


def _readings(day: LabelledDay, rows: slice) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    values = day.values[rows].reshape(len(day.times[rows]), -1)
    return values, np.ones(values.shape, np.bool_)


def describe(notice: Notice, plant: Plant) -> str:
    """A sentence for an operator."""
    node = notice.root.rpartition("/")[2]
    meaning = next((signal.meaning for signal in plant.signals if signal.name == node), node.replace("_", " ").lower())
    clock = str(notice.since)[11:16]
    if notice.kind is ChangeKind.CLOSED:
        return f"{notice.zone}: {meaning} ({node}) is back to normal"
    return (
        f"{notice.zone}: {meaning} ({node}), {notice.attack_class} attack, p = {notice.probability:.2f}, since {clock}"
    )
