"""The report card of the model of a plant of the user's own, on recordings that it was not trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._util.times import iso
from graphghha.classes import CLASS_NAMES, CLASSES, UNCLASSIFIED
from graphghha.engine.own_scorer import OwnScorer
from graphghha.engine.scorer import leading_class
from graphghha.engine.zone_scorer import node_classes
from graphghha.exports.attack_labels import AttackEvent, attacked_rows, read_labels
from graphghha.exports.other_units import refuse_other_units
from graphghha.exports.recordings import Recording, read_recordings
from graphghha.lab.metrics.ranges import (
    affiliation_f1,
    batadal_s,
    etapr_f1,
    merge_close,
    onset_balanced_accuracy,
    point_scores,
    range_f1,
    ranges,
    vus_pr,
)
from graphghha.models.own import P_IS, RAISE_AT, OwnModel, load_own_model
from graphghha.plants import Plant

ONSET_ROWS = 60
NAMED = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a detector says of all rows [r] of some recordings, one after the other."""

    score: NDArray[np.float64]  # in thresholds
    alarm: NDArray[np.bool_]
    places: NDArray[np.float32]  # [r s] the higher, the more a node is the place of the attack; unknown ones are lowest
    unknown: float = 0.0  # share of the readings of which nothing is known
    classes: NDArray[np.int64] | None = None  # [r] of the leading node; None: its kind
    class_is: str = "by_kind"


def evaluate_own_model(directory: Path, data: Sequence[Path], labels: Path | None) -> dict[str, Any]:
    """Return the report card of a model directory on files and their labels; without labels all rows are normal."""
    model = load_own_model(directory)
    recorded = read_recordings(data, model.plant)
    refuse_other_units(model.plant, recorded.recordings, model.preprocessing.scale.low, model.preprocessing.scale.high)
    events = read_labels(labels, recorded.recordings, model.plant) if labels else ()
    return own_report(model, recorded.recordings, events)


def own_report(model: OwnModel, recordings: Sequence[Recording], events: Sequence[AttackEvent]) -> dict[str, Any]:
    """Return the figures of a model on recordings."""
    report = plant_figures(model.plant, own_outcome(model, recordings), recordings, events, alarm_gap(model))
    report["budget_per_day"] = model.provenance["budget_per_day"]
    return report


def alarm_gap(model: OwnModel) -> int:
    """Return how many rows apart two alarms are one."""
    plan = model.preprocessing.plan
    return 2 * plan.smooth * plan.stride


def own_outcome(model: OwnModel, recordings: Sequence[Recording]) -> Outcome:
    """Return what a model says of recordings."""
    places, classes, scores = [], [], []
    unknown = 0
    for recording in recordings:
        scorer = OwnScorer(model)
        values = recording.values
        scored = scorer.push(values, np.isfinite(values), np.ones(len(values), np.bool_))
        own = np.where(np.isfinite(scored.attack), scored.attack, -1.0)
        places.append(own)
        classes.append(leading_class(scored.probs[np.arange(len(own)), own.argmax(axis=1)]))
        scores.append(scorer.scores / model.rule.threshold)
        unknown += int(np.isnan(scored.attack[:, model.plant.template.signal_nodes]).sum())
    place = np.concatenate(places)
    share = unknown / max(1, len(place) * len(model.plant.template.points))
    alarm = place.max(axis=1) >= RAISE_AT
    return Outcome(np.concatenate(scores), alarm, place, share, np.concatenate(classes), model.class_is)


def plant_figures(
    plant: Plant, outcome: Outcome, recordings: Sequence[Recording], events: Sequence[AttackEvent], gap: int
) -> dict[str, Any]:
    """Return the figures of any detector on recordings; alarms at most `gap` rows apart are one."""
    lengths = [len(each.times_ms) for each in recordings]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    breaks = offsets[1:-1].tolist()
    truth = np.concatenate([attacked_rows(each, n, events) for n, each in enumerate(recordings)])
    alarm, score, step_s = outcome.alarm, outcome.score, plant.step_s
    classes = outcome.classes
    if classes is None:
        classes = node_classes(plant.template)[outcome.places.argmax(axis=1)]
    spans = [(int(offsets[e.recording]) + e.start, int(offsets[e.recording]) + e.stop) for e in events]
    alarms = ranges(alarm, breaks)
    false = [(a, b) for a, b in merge_close(alarms, gap, breaks) if not truth[a:b].any()]
    normal_h = float((~truth).sum()) * step_s / 3600
    precision, recall, f1 = point_scores(truth, alarm)
    rows = [
        _event_row(plant, event, span, outcome, classes, recordings[event.recording])
        for event, span in zip(events, spans, strict=True)
    ]
    delays = [row["delay_s"] / 60 for row in rows if row["found"]]
    targeted = [row for row in rows if row["nodes"]]
    found = [row for row in targeted if row["found"]]
    weight = np.array([row["alarm_rows"] for row in found], np.float64)
    onsets = ranges(truth, breaks)
    return {
        "nodes": plant.template.num_nodes,
        "method": "graphghha",
        "protocol": "own",
        "rows": len(truth),
        "hours": len(truth) * step_s / 3600,
        "attacks": len(events),
        "p": precision,
        "r": recall,
        "f1": f1,
        "macro_f1": _macro_f1(events, spans, truth, np.where(alarm, classes, 0)),
        "false_positive_rate": float((alarm & ~truth).sum() / max(1, (~truth).sum())),
        "false_alarms": len(false),
        "false_alarms_per_hour": len(false) / normal_h if normal_h else 0.0,
        "false_alarms_per_day": 24 * len(false) / normal_h if normal_h else 0.0,
        "quiet_time_in_alarm": float((alarm & ~truth).sum() / max(1, (~truth).sum())),  # one alarm may stand for days
        "event_recall": _mean([row["found"] for row in rows]),
        "median_ttd_min": float(np.median(delays)) if delays else None,
        "p90_ttd_min": float(np.quantile(delays, 0.9)) if delays else None,
        "hit_at_1": _mean([row["hit_at_1"] for row in targeted]),
        "hit_at_3": _mean([row["hit_at_3"] for row in targeted]),
        "hit_at_1_found": _mean([row["hit_at_1"] for row in found]),
        "hit_at_3_found": _mean([row["hit_at_3"] for row in found]),
        "hit_at_1_rows": float(np.average([r["share_at_1"] for r in found], weights=weight)) if found else None,
        "hit_at_3_rows": float(np.average([r["share_at_3"] for r in found], weights=weight)) if found else None,
        "mean_rank": _mean([row["rank"] for row in found]),
        "range_f1": range_f1(onsets, alarms),
        "etapr_f1": etapr_f1(onsets, alarms),
        "affiliation_f1": affiliation_f1(truth, alarm, breaks),
        "vus_pr": vus_pr(truth, score, breaks),
        "batadal_s": batadal_s(truth, alarm, onsets),
        "onset_balanced_accuracy": onset_balanced_accuracy(truth, alarm, onsets, ONSET_ROWS),
        "unknown_share": outcome.unknown,
        "p_is": P_IS,
        "class_is": outcome.class_is,
        "unclassified": float((alarm & (classes == UNCLASSIFIED)).sum() / max(1, alarm.sum())),  # of the rows in alarm
        "events": rows,
    }


def _event_row(
    plant: Plant,
    event: AttackEvent,
    span: tuple[int, int],
    outcome: Outcome,
    classes: NDArray[np.int64],
    recording: Recording,
) -> dict[str, Any]:
    graph, highest = plant.template, outcome.places
    rows = np.arange(*span)
    rows = rows[outcome.alarm[rows]]
    order = np.argsort(-highest[rows].mean(axis=0), kind="stable") if len(rows) else np.empty(0, np.int64)
    named = [graph.names[node] for node in order[:NAMED].tolist()]
    wanted = [graph.index(node) for node in event.nodes]
    each = np.argsort(-highest[rows], axis=1, kind="stable")[:, :NAMED] if len(rows) else np.empty((0, NAMED))
    ranks = [int(np.flatnonzero(order == node)[0]) + 1 for node in wanted] if len(rows) else []
    return {
        "file": recording.name,
        "start": iso(int(recording.times_ms[event.start])) if event.start < len(recording.times_ms) else event.text,
        "nodes": list(event.nodes),
        "class": event.attack_class or None,
        "named_class": _class_name(classes[rows]),
        "rows": span[1] - span[0],
        "alarm_rows": len(rows),
        "found": bool(len(rows)),
        "delay_s": float(rows[0] - span[0]) * plant.step_s if len(rows) else None,
        "named": named[0] if named else None,
        "named_3": named,
        "rank": min(ranks, default=None),
        "hit_at_1": bool(set(named[:1]) & set(event.nodes)),
        "hit_at_3": bool(set(named) & set(event.nodes)),
        "share_at_1": float(np.isin(each[:, 0], wanted).mean()) if len(rows) else 0.0,
        "share_at_3": float(np.isin(each, wanted).any(axis=1).mean()) if len(rows) else 0.0,
    }


def _macro_f1(
    events: Sequence[AttackEvent],
    spans: Sequence[tuple[int, int]],
    truth: NDArray[np.bool_],
    predicted: NDArray[np.int64],
) -> float | None:
    """Return the mean F1 over "normal" and the classes that occur; rows of attacks without a class are left out."""
    stated = np.zeros(len(truth), np.int64)
    stated[truth] = -1
    for event, (start, stop) in zip(events, spans, strict=True):
        if event.attack_class in CLASSES:
            stated[start:stop] = CLASSES.index(event.attack_class)
    classes = [number for number in np.unique(stated).tolist() if number >= 0]
    counted = stated >= 0
    if len(classes) < 2:
        return None
    return float(np.mean([point_scores((stated == c)[counted], (predicted == c)[counted])[2] for c in classes]))


def _class_name(classes: NDArray[np.int64]) -> str | None:
    """Return the class of most rows in alarm; None without any."""
    if not len(classes):
        return None
    values, counts = np.unique(classes, return_counts=True)
    return CLASS_NAMES[int(values[counts.argmax()])]


def _mean(values: Sequence[Any]) -> float | None:
    return float(np.mean(values)) if values else None
