"""Fit the expectations of a plant of the user's own to its normal data: ridge regressions on the neighbours.

The normal data are dealt to three contiguous parts. Three members are fitted on two parts each, so that a row can
always be judged by the member that did not see it; three more on one part each, whose disagreement widens the spread.
n rows, p signals, k neighbours, l looks back, M modes.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphghha.graph import CpsGraph
from graphghha.windows.own_expectation import LEAST_FLOOR, PARTS, OwnExpectation
from graphghha.windows.own_scale import OwnScale

Floats = NDArray[np.float64]
RIDGE = 0.03  # times the number of rows
MOST_NEIGHBORS = 24
FEWEST_NEIGHBORS = 4
HOPS = 2
MOST_ROWS = 24_000  # that a regression is fitted on
KNOWN_SHARE = 0.9  # of the rows: a signal that is known less often is not an input
MODE_SHARE = 0.05  # of the rows at least in either mode
MODE_WORTH = 0.15  # of the variance of the other signals that a mode must explain


def find_mode(looks: Floats, scale: OwnScale) -> tuple[int, float]:
    """Return the signal that separates two modes of the plant and the value between them, or -1.

    Candidates are switches, and signals that rest at their lowest value for a good part of the time. The one whose
    two states explain most of the variance of all other signals is taken, if that is enough.
    """
    now = looks[:, :, 0]
    low, high = (scale.low - scale.center) / scale.width, (scale.high - scale.center) / scale.width
    between = np.where(scale.is_switch, 0.5 * (low + high), low + 0.05 * (high - low))
    varying = np.flatnonzero(~scale.is_constant)
    variance = now[:, varying].var(axis=0)
    best, found = MODE_WORTH, (-1, 0.0)
    for signal in varying.tolist():
        above = now[:, signal] > between[signal]
        share = above.mean()
        if not MODE_SHARE <= share <= 1 - MODE_SHARE:
            continue
        gap = now[above][:, varying].mean(axis=0) - now[~above][:, varying].mean(axis=0)
        explained = np.where(variance > 0, share * (1 - share) * gap**2 / np.maximum(variance, 1e-12), 0.0)
        worth = float(np.delete(explained, np.flatnonzero(varying == signal)).mean()) if len(varying) > 1 else 0.0
        if worth > best:
            best, found = worth, (signal, float(between[signal]))
    return found


def choose_neighbors(graph: CpsGraph, now: Floats, usable: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the inputs [p k] of every signal: itself, and usable ones near it in the graph that move most alike."""
    columns = {node: column for column, node in enumerate(graph.signal_nodes.tolist())}
    near: list[set[int]] = [set() for _ in range(graph.num_nodes)]
    for source, target in graph.edge_index.T.tolist():
        near[source].add(target)
        near[target].add(source)
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = np.nan_to_num(np.abs(np.corrcoef(now, rowvar=False))) if now.shape[1] > 1 else np.zeros((1, 1))
    chosen = []
    for node, column in columns.items():
        reached = {node}
        for _ in range(HOPS):
            reached |= {other for each in reached for other in near[each]}
        inside = [columns[each] for each in reached if each in columns and each != node and usable[columns[each]]]
        inside.sort(key=lambda other: -alike[column, other])
        if len(inside) < FEWEST_NEIGHBORS:
            others = sorted(np.flatnonzero(usable).tolist(), key=lambda other: -alike[column, other])
            inside += [each for each in others if each != column and each not in inside][:FEWEST_NEIGHBORS]
        chosen.append([column, *inside[:MOST_NEIGHBORS]])
    width = max(map(len, chosen))
    return np.array([each + [each[0]] * (width - len(each)) for each in chosen], np.int64)


def fit_expectation(
    graph: CpsGraph, looks: Floats, known: NDArray[np.bool_], parts: NDArray[np.int64], scale: OwnScale
) -> OwnExpectation:
    """Return the expectations fitted on normal rows: inputs [n p l], which readings exist [n p], and parts [n]."""
    mode, above = find_mode(looks, scale)
    usable = ~scale.is_constant & (known.mean(axis=0) >= KNOWN_SHARE)
    neighbors = choose_neighbors(graph, looks[:, :, 0], usable)
    signals, width = neighbors.shape
    depth = looks.shape[2]
    modes = np.ones((len(looks), 1))
    if mode >= 0:
        modes = np.concatenate([modes, looks[:, mode, :1] > above], axis=1)
    count = modes.shape[1]
    weights = np.zeros((2 * PARTS, 2, signals, width, depth, count))
    bias = np.zeros((2 * PARTS, 2, signals, count))
    spread = np.ones((2, signals))
    pick = np.linspace(0, len(looks) - 1, min(len(looks), MOST_ROWS)).astype(int)
    for signal in np.flatnonzero(~scale.is_constant).tolist():
        own = pick[known[pick, signal]]
        fitted = _fit_signal(looks[own], neighbors[signal], modes[own], parts[own])
        for at, (coefficients, constant, out) in enumerate(fitted):
            weights[:, at, signal], bias[:, at, signal], spread[at, signal] = coefficients, constant, out
    return OwnExpectation(
        neighbors=neighbors,
        weights=weights,
        bias=bias,
        spread=spread,
        floor=np.maximum(0.5 * scale.step / scale.width, LEAST_FLOOR),
        is_switch=scale.is_switch,
        low=(scale.low - scale.center) / scale.width,
        high=(scale.high - scale.center) / scale.width,
        mode=np.array([mode], np.int64),
        mode_above=np.array([above]),
    )


def _fit_signal(
    looks: Floats, neighbors: NDArray[np.int64], modes: Floats, parts: NDArray[np.int64]
) -> Sequence[tuple[Floats, Floats, float]]:
    """Return weights [m k l M], bias [m M] and spread of both expectations of one signal."""
    rows, depth, width, count = len(looks), looks.shape[2], len(neighbors), modes.shape[1]
    is_other = np.append(True, neighbors[1:] != neighbors[0])
    blocks = looks[:, neighbors].reshape(rows, -1, 1) * modes[:, None]
    table = np.concatenate([blocks.reshape(rows, -1), modes], axis=1)
    target = looks[:, neighbors[0], 0]
    usable = np.repeat(is_other, depth)
    usable[0] = False  # the present of the signal itself
    hidden = usable.copy()
    hidden[:depth] = False
    grams = [table[parts == part].T @ table[parts == part] for part in range(PARTS)]
    sides = [table[parts == part].T @ target[parts == part] for part in range(PARTS)]
    results = []
    for allowed in (hidden, usable):
        columns = np.flatnonzero(np.append(np.repeat(allowed, count), np.ones(count, np.bool_)))
        coefficients = np.zeros((2 * PARTS, table.shape[1]))
        misses = []
        for member in range(2 * PARTS):
            seen = [part for part in range(PARTS) if (part != member if member < PARTS else part == member - PARTS)]
            gram = sum(grams[part] for part in seen)[np.ix_(columns, columns)]
            penalty = RIDGE * max(1, sum(int((parts == part).sum()) for part in seen)) * np.ones(len(columns))
            penalty[-count:] *= 1e-3
            gram[np.diag_indices_from(gram)] += penalty
            coefficients[member, columns] = np.linalg.solve(gram, sum(sides[part] for part in seen)[columns])
            unseen = parts == member
            if unseen.any():
                misses.append(target[unseen] - table[unseen] @ coefficients[member])
        out = np.concatenate(misses)
        spread = float(np.sqrt(np.mean(np.minimum(out**2, np.quantile(out**2, 0.99))))) if len(out) else 1.0
        body = coefficients[:, :-count].reshape(2 * PARTS, width, depth, count)
        results.append((body, coefficients[:, -count:], max(spread, 1e-3)))
    return results
