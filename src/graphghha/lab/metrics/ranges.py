"""Figures for alarms in time: point-wise and by ranges, as the literature on time series reports them. No point-adjust.

Labels and alarms are booleans by row, scores are numbers. Several recordings are given one after the other; `breaks`
are the rows at which a new one begins.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Range = tuple[int, int]  # start <= row < stop
DETECTED_SHARE, CORRECT_SHARE = 0.1, 0.5  # theta_r and theta_p of eTaPR
BUFFERS = 8  # widths of the buffer that VUS averages over
LEVELS = 100


def ranges(rows: Bools, breaks: Sequence[int] = ()) -> list[Range]:
    """Return the runs of true rows; a run ends where a recording ends."""
    change = np.flatnonzero(np.diff(np.concatenate([[False], rows, [False]]).astype(np.int8)))
    found = []
    inner = np.array(sorted(breaks), np.int64)
    for start, stop in zip(change[::2].tolist(), change[1::2].tolist(), strict=True):
        cuts = [start, *inner[(inner > start) & (inner < stop)].tolist(), stop]
        found += list(zip(cuts[:-1], cuts[1:], strict=True))
    return found


def harmonic(first: float, second: float) -> float:
    """Return the F1 of a precision and a recall."""
    return 2 * first * second / (first + second) if first + second > 0 else 0.0


def point_scores(truth: Bools, alarm: Bools) -> tuple[float, float, float]:
    """Return precision, recall and F1 by rows."""
    hits = int((truth & alarm).sum())
    precision = hits / max(1, int(alarm.sum()))
    recall = hits / max(1, int(truth.sum()))
    return precision, recall, harmonic(precision, recall)


def range_f1(attacks: Sequence[Range], alarms: Sequence[Range]) -> float:
    """Return the F1 of range-based precision and recall (Tatbul et al., flat bias, reciprocal cardinality)."""

    def share(one: Range, others: Sequence[Range]) -> float:
        overlaps = [overlap for other in others if (overlap := _overlap(one, other))]
        return sum(overlaps) / (one[1] - one[0]) / max(1, len(overlaps))

    if not attacks or not alarms:
        return 0.0
    recall = float(np.mean([share(attack, alarms) for attack in attacks]))
    return harmonic(float(np.mean([share(alarm, attacks) for alarm in alarms])), recall)


def etapr_f1(attacks: Sequence[Range], alarms: Sequence[Range]) -> float:
    """Return the F1 of enhanced time-aware precision and recall (Hwang et al.)."""
    if not attacks or not alarms:
        return 0.0
    table = np.array([[_overlap(attack, alarm) for alarm in alarms] for attack in attacks], np.float64)
    lengths = np.array([stop - start for start, stop in attacks], np.float64)
    widths = np.array([stop - start for start, stop in alarms], np.float64)
    detected, correct = np.ones(len(attacks), np.bool_), np.ones(len(alarms), np.bool_)
    while True:
        now = detected & (table[:, correct].sum(axis=1) >= DETECTED_SHARE * lengths)
        right = correct & (table[now].sum(axis=0) >= CORRECT_SHARE * widths)
        if (now == detected).all() and (right == correct).all():
            break
        detected, correct = now, right
    covered = np.minimum(table[:, correct].sum(axis=1) / lengths, 1.0)
    recall = float((detected * (1 + covered) / 2).mean())
    inside = np.minimum(table[detected].sum(axis=0) / widths, 1.0)
    weight = np.sqrt(widths)
    precision = float((weight * correct * (1 + inside) / 2).sum() / weight.sum())
    return harmonic(precision, recall)


def affiliation_f1(truth: Bools, alarm: Bools, breaks: Sequence[int] = ()) -> float:
    """Return the F1 of affiliation precision and recall (Huet et al.): nearness compared with chance."""
    precisions, recalls = [], []
    edges = [0, *sorted(breaks), len(truth)]
    for begin, end in zip(edges[:-1], edges[1:], strict=True):
        events = ranges(truth[begin:end])
        for number, (start, stop) in enumerate(events):
            low = 0 if number == 0 else (events[number - 1][1] + start) // 2
            high = end - begin if number + 1 == len(events) else (stop + events[number + 1][0]) // 2
            rows = np.arange(low, high)
            away = np.maximum(np.maximum(start - rows, rows - (stop - 1)), 0)
            alarmed = np.flatnonzero(alarm[begin:end][low:high]) + low
            if not len(alarmed):
                recalls.append(0.0)
                continue
            order = np.sort(away)
            farther = 1.0 - np.searchsorted(order, away[alarmed - low], side="left") / len(order)
            precisions.append(float(farther.mean()))
            inside = np.arange(start, stop)
            at = np.searchsorted(alarmed, inside)
            before = np.where(at > 0, inside - alarmed[np.maximum(at - 1, 0)], np.iinfo(np.int64).max)
            after = np.where(
                at < len(alarmed), alarmed[np.minimum(at, len(alarmed) - 1)] - inside, np.iinfo(np.int64).max
            )
            distance = np.minimum(before, after)
            nearer = np.minimum(inside - low, distance - 1) + np.minimum(high - 1 - inside, distance - 1) + 1
            recalls.append(float((1.0 - np.where(distance > 0, nearer, 0) / len(rows)).mean()))
    if not precisions:
        return 0.0
    return harmonic(float(np.mean(precisions)), float(np.mean(recalls)))


def vus_pr(truth: Bools, score: Floats, breaks: Sequence[int] = ()) -> float:
    """Return the volume under the precision-recall surface (Paparrizos et al.), over widths of the buffer."""
    events = ranges(truth, breaks)
    if not events:
        return 0.0
    widest = max(1, int(np.median([stop - start for start, stop in events])))
    areas = [_range_auc(truth, score, events, round(widest * step / BUFFERS)) for step in range(BUFFERS + 1)]
    return float(np.mean(areas))


def _range_auc(truth: Bools, score: Floats, events: Sequence[Range], buffer: int) -> float:
    soft = truth.astype(np.float64)
    for start, stop in events:
        if buffer:
            fall = np.sqrt(1 - np.arange(1, buffer + 1) / (buffer + 1))
            before, after = max(0, start - buffer), min(len(truth), stop + buffer)
            soft[before:start] = np.maximum(soft[before:start], fall[: start - before][::-1])
            soft[stop:after] = np.maximum(soft[stop:after], fall[: after - stop])
    positives = (soft.sum() + truth.sum()) / 2
    peaks = np.array([score[max(0, start - buffer) : stop + buffer].max() for start, stop in events])
    order = np.argsort(-score, kind="stable")
    counts = np.unique(np.linspace(1, len(score), LEVELS).astype(int))
    hits = np.cumsum(soft[order])[counts - 1]
    levels = score[order][counts - 1]
    existing = (peaks[None] >= levels[:, None]).mean(axis=1)
    recall = np.concatenate([[0.0], np.minimum(hits / positives, 1.0) * existing])
    precision = np.concatenate([[1.0], hits / counts])
    return float((np.diff(recall) * (precision[1:] + precision[:-1]) / 2).sum())


def batadal_s(truth: Bools, alarm: Bools, events: Sequence[Range]) -> float:
    """Return the score of the BATADAL contest: time to detection, and the mean of both rates."""
    delays = []
    for start, stop in events:
        alarmed = np.flatnonzero(alarm[start:stop])
        delays.append((alarmed[0] if len(alarmed) else stop - start) / (stop - start))
    in_time = 1.0 - float(np.mean(delays)) if delays else 0.0
    return 0.5 * in_time + 0.5 * balanced_accuracy(truth, alarm)


def balanced_accuracy(truth: Bools, alarm: Bools) -> float:
    """Return the mean of the rates of right rows inside and outside of attacks."""
    found = (alarm & truth).sum() / max(1, truth.sum())
    quiet = (~alarm & ~truth).sum() / max(1, (~truth).sum())
    return float(0.5 * (found + quiet))


def onset_balanced_accuracy(truth: Bools, alarm: Bools, events: Sequence[Range], width: int) -> float:
    """Return the balanced accuracy of the rows just before and just after the onsets."""
    chosen = np.zeros(len(truth), np.bool_)
    for start, stop in events:
        chosen[max(0, start - width) : min(start + width, stop)] = True
    return balanced_accuracy(truth[chosen], alarm[chosen]) if chosen.any() else 0.0


def merge_close(found: Sequence[Range], gap: int, breaks: Sequence[int] = ()) -> list[Range]:
    """Return ranges in which those at most `gap` rows apart are one, unless a recording ends between them."""
    merged: list[Range] = []
    inner = set(breaks)
    for start, stop in found:
        if merged and start - merged[-1][1] <= gap and not any(merged[-1][1] <= each <= start for each in inner):
            merged[-1] = (merged[-1][0], stop)
        else:
            merged.append((start, stop))
    return merged


def _overlap(one: Range, other: Range) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))
