"""Hundreds of nodes at once, and a probability that swings round the threshold: operators hear few words."""

from pathlib import Path

import numpy as np

from faults.effort import Effort
from faults.figures import Figure, Say, all_of, at_most, none_of
from faults.rig import JOURNAL, Rig
from faults.toy_detector import SITE, STEP_MS, Telemetry, plain_building, plain_detector
from graphghha.monitor import Journal, Monitor, SiteConfig
from graphghha.monitor.kpi import kpi
from graphghha.monitor.row_clock import IntakeConfig

FLOOD, SWING = "300 nodes alarm in one minute", "probability swings round the threshold"
NODES, ZONES, ROWS = 300, 48, 90
CONFIG = SiteConfig(intake=IntakeConfig(lateness_ms=0), warm_up_rows=0)


def try_flood(folder: Path, rig: Rig, effort: Effort, say: Say) -> list[Figure]:
    """Probabilities must be ordered here, so the detector is the plain one."""
    say(FLOOD)
    names = plain_building(ZONES, 1).names
    every = len(names) // NODES
    attacked = names[::every][:NODES]
    second = next(name for name in names if name not in attacked)
    attacks = [(20, 60, name) for name in attacked] + [(40, 70, second)]
    with Journal(folder / "flood" / JOURNAL) as journal:
        _watch(journal, plain_building(ZONES, ROWS, attacks), ZONES)
        figures = kpi(journal.reader)
        raised = {
            (event.time_ms, event.body["node"]) for event in journal.reader.events_after(0, 10**6, kind="alarm.raised")
        }
    nodes = {node for _, node in raised}
    within = max(sum(0 <= time - begin < STEP_MS for time, _ in raised) for begin, _ in raised)
    flood = [
        at_most(FLOOD, "annunciations in any 10 minutes", figures["most_in_10_min"], 10),
        all_of(FLOOD, "nodes in the journal", len(nodes & {*attacked, second}), NODES + 1),
        Figure(FLOOD, "alarms within one minute", "at least 300", str(within), within >= NODES),
    ]
    say(SWING)
    return flood + _swing(folder / "swing")


def _swing(folder: Path) -> list[Figure]:
    """A signal that crosses the threshold to and fro, every few rows."""
    calm = plain_building(1, 240, [(20, 240, "zone-01/RM_TEMP")])
    column = calm.names.index("zone-01/RM_TEMP")
    rng = np.random.default_rng(0)
    values = calm.values.copy()
    middle = calm.values[:20, column].mean()
    excess = values[20:, column] - middle
    # the score is a mean of ten rows: it is certain at 0.57 of this offset and calm at 0.29
    swing = 0.55 + 0.25 * np.sin(np.arange(220) / 2.0) + 0.1 * rng.standard_normal(220)
    values[20:, column] = middle + excess * swing
    swinging = Telemetry(calm.names, calm.times_ms, values)
    with Journal(folder / JOURNAL) as journal:
        _watch(journal, swinging, 1)
        figures = kpi(journal.reader)
    crossings = _crossings(swinging)
    return [
        none_of(SWING, "chattering nodes (three raises in a minute)", figures["chattering"]),
        at_most(SWING, "annunciations in any 10 minutes", figures["most_in_10_min"], 10),
        Figure(
            SWING,
            f"annunciations in {len(values)} minutes with {crossings} crossings of the threshold",
            "1",
            str(figures["annunciated"]),
            figures["annunciated"] == 1 < crossings,
        ),
    ]


def _crossings(telemetry: Telemetry) -> int:
    detector = plain_detector(1)
    every = np.ones(len(telemetry), np.bool_)
    probs = detector.make_scorer().push(telemetry.values, np.ones_like(telemetry.values, np.bool_), every).probs
    above = (1.0 - probs[..., 0]).max(axis=1) >= detector.rule.raise_at
    return int((above[1:] & ~above[:-1]).sum())


def _watch(journal: Journal, telemetry: Telemetry, zones: int) -> None:
    monitor = Monitor(journal)
    monitor.add(SITE, plain_detector(zones), CONFIG)
    for batch in telemetry.batches():
        monitor.step(batch)
    monitor.finish(SITE)
