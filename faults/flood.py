"""Operators must see few annunciations when hundreds of nodes alarm at once or a probability oscillates."""

from pathlib import Path

import numpy as np

from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, expect_none
from faults.rig import JOURNAL, Rig
from faults.toy_detector import SITE, STEP_MS, Telemetry, toy_building, toy_detector, toy_monitor
from graphghha.monitor import Journal, kpi

FLOOD, OSCILLATION = "300 nodes alarm in one minute", "probability oscillates around the threshold"
NODES, ZONES, ROWS = 300, 48, 90


def try_flood(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    """Use the toy detector whatever the rig, because this trial has to set the probabilities."""
    progress(FLOOD)
    names = toy_building(ZONES, 1).names
    every = len(names) // NODES
    attacked = names[::every][:NODES]
    second = next(name for name in names if name not in attacked)
    attacks = [(20, 60, name) for name in attacked] + [(40, 70, second)]
    with Journal(folder / "flood" / JOURNAL) as journal:
        _run_monitor(journal, toy_building(ZONES, ROWS, attacks), ZONES)
        figures = kpi(journal.reader)
        raised = {
            (event.time_ms, event.body["node"]) for event in journal.reader.events_after(0, 10**6, ["alarm.raised"])
        }
    nodes = {node for _, node in raised}
    within = max(sum(0 <= time - begin < STEP_MS for time, _ in raised) for begin, _ in raised)
    flood = [
        expect_at_most(FLOOD, "annunciations in any 10 minutes", figures["most_in_10_min"], 10),
        expect_all(FLOOD, "alarming nodes recorded in the journal", len(nodes & {*attacked, second}), NODES + 1),
        Figure(FLOOD, "alarms within one minute", "at least 300", str(within), within >= NODES),
    ]
    progress(OSCILLATION)
    return flood + _oscillation(folder / "oscillation")


def _oscillation(folder: Path) -> list[Figure]:
    """Feed a signal that crosses the threshold in both directions every few rows."""
    calm = toy_building(1, 240, [(20, 240, "zone-01/RM_TEMP")])
    column = calm.names.index("zone-01/RM_TEMP")
    rng = np.random.default_rng(0)
    values = calm.values.copy()
    middle = calm.values[:20, column].mean()
    excess = values[20:, column] - middle
    # the score averages ten rows; it is highest from 0.57 of the attack's offset on and lowest below 0.29
    factor = 0.55 + 0.25 * np.sin(np.arange(220) / 2.0) + 0.1 * rng.standard_normal(220)
    values[20:, column] = middle + excess * factor
    oscillating = Telemetry(calm.names, calm.times_ms, values)
    with Journal(folder / JOURNAL) as journal:
        _run_monitor(journal, oscillating, 1)
        figures = kpi(journal.reader)
    crossings = _crossings(oscillating)
    return [
        expect_none(OSCILLATION, "chattering nodes (three raises in a minute)", figures["chattering"]),
        expect_at_most(OSCILLATION, "annunciations in any 10 minutes", figures["most_in_10_min"], 10),
        Figure(
            OSCILLATION,
            f"annunciations in {len(values)} minutes with {crossings} crossings of the threshold",
            "1",
            str(figures["annunciated"]),
            figures["annunciated"] == 1 < crossings,
        ),
    ]


def _crossings(telemetry: Telemetry) -> int:
    """Count how often the highest probability rises through the raise threshold."""
    detector = toy_detector(1)
    every = np.ones(len(telemetry), np.bool_)
    probs = detector.make_scorer().push(telemetry.values, np.ones_like(telemetry.values, np.bool_), every).probs
    above = (1.0 - probs[..., 0]).max(axis=1) >= detector.rule.raise_at
    return int((above[1:] & ~above[:-1]).sum())


def _run_monitor(journal: Journal, telemetry: Telemetry, zones: int) -> None:
    monitor = toy_monitor(journal, zones)
    for batch in telemetry.batches():
        monitor.step(batch)
    monitor.finish(SITE)
