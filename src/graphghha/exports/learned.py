"""Which signals belong together, from their readings alone: a sparse graph for any number of signals.

Two signals are joined if one helps to predict the other beyond its own past: by the partial correlation of
a reading with the other's reading given its own last one, at the step of the data and at eight of them. A signal that
another explains better is left out (forward selection). An edge must show in most parts of the record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

PARTS = 4
SCALES = (1, 8)  # rows
MOST_NEIGHBORS = 8
CANDIDATES = 24
LEAST = 0.12  # correlation in a part
LEAST_ACROSS = 0.3  # between pieces of equipment
LEAST_SHARE = 0.75  # of the parts
FEWEST_ROWS = 64  # of a part


@dataclass(frozen=True, slots=True)
class LearnedEdge:
    """Two signals that belong together: how strongly, in which share of the parts, and at what scale."""

    source: int
    target: int
    strength: float  # mean partial correlation over the parts in which it shows
    share: float  # of the parts
    rows: int  # of the scale at which it shows most often

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        fields = asdict(self) | {"source": names[self.source], "target": names[self.target]}
        return fields | {"strength": round(self.strength, 3), "share": round(self.share, 3)}


def learn_edges(values: NDArray[np.floating[Any]], pieces: Sequence[str]) -> tuple[list[LearnedEdge], int]:
    """Return edges between the columns of [rows signals], and how many more were too weak or not steady.

    `pieces` names the equipment of each signal; edges between two pieces must be stronger. NaN is a missing reading.
    """
    count = values.shape[1]
    own = np.array([hash(piece) for piece in pieces])
    found: dict[tuple[int, int], dict[int, list[float]]] = {}
    parts_of_scale: dict[int, int] = {}
    for rows in SCALES:
        parts = [part for part in _parts(values, rows) if len(part) >= FEWEST_ROWS]
        if rows > 1 and len(parts) < PARTS:
            continue
        parts_of_scale[rows] = len(parts)
        for part in parts:
            for source, target, strength in _selected(part, own):
                pair = (min(source, target), max(source, target))
                found.setdefault(pair, {}).setdefault(rows, []).append(strength)
    edges, weak = [], 0
    for (one, other), by_scale in found.items():
        shares = {rows: min(1.0, len(hits) / parts_of_scale[rows]) for rows, hits in by_scale.items()}
        rows = max(shares, key=lambda each: (shares[each], float(np.mean(np.abs(by_scale[each])))))
        strength = float(np.mean(np.abs(by_scale[rows])))
        least = LEAST if own[one] == own[other] else LEAST_ACROSS
        if shares[rows] >= LEAST_SHARE and strength >= least:
            edges.append(LearnedEdge(one, other, strength, shares[rows], rows))
        else:
            weak += 1
    kept = _capped(sorted(edges, key=lambda edge: (-edge.share, -edge.strength)), count)
    return sorted(kept, key=lambda edge: (edge.source, edge.target)), weak + len(edges) - len(kept)


def _parts(values: NDArray[np.floating[Any]], rows: int) -> Iterator[NDArray[np.float32]]:
    """Yield parts of the record, each as means over so many rows."""
    length = len(values) // PARTS // rows * rows
    for number in range(PARTS):
        part = values[number * length : (number + 1) * length].astype(np.float32)
        if rows > 1:
            with np.errstate(invalid="ignore"):
                known = np.isfinite(part)
                total = np.where(known, part, 0).reshape(-1, rows, part.shape[1]).sum(axis=1)
                many = known.reshape(-1, rows, part.shape[1]).sum(axis=1)
                part = np.where(many > 0, total / np.maximum(many, 1), np.nan).astype(np.float32)
        yield part


def _standard(part: NDArray[np.float32]) -> NDArray[np.float32]:
    known = np.isfinite(part)
    many = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, part, 0).sum(axis=0) / many
    centred = np.where(known, part - mean, 0)
    spread = np.sqrt((centred**2).sum(axis=0) / many)
    usable = (spread > 1e-9 * np.maximum(1, np.abs(mean))) & (known.mean(axis=0) > 0.5)
    return np.where(usable, centred / np.where(usable, spread, 1), 0).astype(np.float32)


def _selected(part: NDArray[np.float32], own: NDArray[np.int64]) -> Iterator[tuple[int, int, float]]:
    """Yield (source, target, partial correlation) of one part, the strongest first for each target.

    A pair that is found from both of its ends is yielded once.
    """
    scaled = _standard(part)
    # what is new in a row: the residual of a signal on its own last reading
    now, last = scaled[1:], scaled[:-1]
    size = np.maximum((last**2).sum(axis=0), 1e-9)
    fresh = _standard(now - (now * last).sum(axis=0) / size * last)
    together = fresh.T @ fresh / len(fresh)
    np.fill_diagonal(together, 0)
    noise = 3 / np.sqrt(len(fresh))
    seen: set[tuple[int, int]] = set()
    for target in range(len(together)):
        least = np.maximum(np.where(own == own[target], LEAST, LEAST_ACROSS), noise)
        size_of = np.abs(together[target])
        enough = np.flatnonzero(size_of >= least)
        candidates = enough[np.argsort(-size_of[enough], kind="stable")[:CANDIDATES]]
        for source, strength in _forward(together, target, candidates, least):
            pair = (min(source, target), max(source, target))
            if pair not in seen:
                seen.add(pair)
                yield source, target, strength


def _forward(
    together: NDArray[np.floating[Any]], target: int, candidates: NDArray[np.int64], least: NDArray[np.float64]
) -> Iterator[tuple[int, float]]:
    """Yield the candidates that still add information beyond stronger ones, with their partial correlation."""
    block = together[np.ix_(candidates, candidates)].astype(np.float64)
    np.fill_diagonal(block, 1.0)
    with_target = together[target, candidates].astype(np.float64)
    own_left, target_left = np.ones(len(candidates)), 1.0
    for _ in range(min(MOST_NEIGHBORS, len(candidates))):
        partial = with_target / np.sqrt(np.maximum(own_left * target_left, 1e-12))
        partial[own_left < 1e-3] = 0  # nothing new in it
        best = int(np.argmax(np.abs(partial)))
        if abs(partial[best]) < least[candidates[best]]:
            return
        yield int(candidates[best]), float(np.clip(partial[best], -1, 1))
        # remove from all others what the chosen one explains
        weight = block[:, best] / own_left[best]
        with_chosen = with_target[best]
        with_target = with_target - weight * with_chosen
        target_left -= with_chosen**2 / own_left[best]
        block = block - np.outer(weight, block[best])
        own_left = np.clip(np.diag(block).copy(), 0, None)
        with_target[best] = 0
        own_left[best] = 0
        if target_left < 1e-6:
            return


def _capped(edges: Sequence[LearnedEdge], count: int) -> list[LearnedEdge]:
    """Return the edges, best first, that leave every signal with a few neighbors of its own choice."""
    degree = np.zeros(count, np.int64)
    kept = []
    for edge in edges:
        if degree[edge.source] < MOST_NEIGHBORS or degree[edge.target] < MOST_NEIGHBORS:
            degree[[edge.source, edge.target]] += 1
            kept.append(edge)
    return kept
