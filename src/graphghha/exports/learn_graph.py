"""A graph from exported data, with a report: which edges, how sure, and what was left out.

The files are read twice, so that memory does not grow with the length of the record: once for what the points are,
once for at most some thousand rows of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import DataError
from graphghha.exports.equipment import find_templates
from graphghha.exports.learned import LearnedEdge, learn_edges
from graphghha.exports.naming import LABEL, SENSOR, UNKNOWN, Kind
from graphghha.exports.notes import Guess, Omission, counted
from graphghha.exports.options import ExportOptions
from graphghha.exports.reader import ExportReader
from graphghha.exports.reporting import Mode
from graphghha.exports.resample import STALE_STEPS
from graphghha.exports.series import Series
from graphghha.exports.topology.to_graph import in_usual_order
from graphghha.graph import CpsGraph, Edge, EdgeKind, Node

MOST_ROWS = 6000
BLOCKS = 12  # pieces of the record that rows are taken from
GROUP_BYTES = 1 << 24
FEWEST_ROWS = 256


@dataclass(frozen=True, slots=True)
class LearnedGraph:
    """A graph, its edges with how sure they are, and what was guessed or left out."""

    graph: CpsGraph
    names: tuple[str, ...]
    edges: tuple[LearnedEdge, ...]
    rows: int
    step_s: float
    guesses: tuple[Guess, ...]
    omissions: tuple[Omission, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "nodes": self.graph.num_nodes,
            "rows": self.rows,
            "step_s": self.step_s,
            "edges": [edge.to_dict(self.names) for edge in sorted(self.edges, key=lambda e: (-e.share, -e.strength))],
            "guesses": [guess.to_dict() for guess in self.guesses],
            "left_out": [omission.to_dict() for omission in self.omissions],
        }


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is kept of a point after the first reading of the files."""

    kind: Kind
    start_ms: int
    end_ms: int
    step_ms: int | None
    is_constant: bool
    first: float = 0.0  # reading
    reason: str = ""  # why it cannot be used


def learn_graph(paths: Sequence[Path], options: ExportOptions | None = None) -> LearnedGraph:
    """Return a graph whose edges join signals that belong together."""
    seen = _look(paths, options)
    omissions = [Omission(name, "point", 1, each.reason) for name, each in seen.items() if each.reason]
    usable = {name: each for name, each in seen.items() if not each.reason}
    if not usable:
        raise DataError("there is no point with readings; `graphghha data check` says what was left out")
    times, step_ms = _times(list(usable.values()))
    names = tuple(usable)
    values = _lay(paths, options, usable, times, step_ms)
    templates, found = find_templates({name: each.kind for name, each in usable.items()}, "site")
    place = {name: (template, copy, role) for template in templates for (copy, role), name in template.points.items()}
    edges, weak = learn_edges(values, [place[name][1] for name in names])
    still = [name for name in names if usable[name].is_constant]
    omissions += [Omission(name, "edge", 1, "it never moves, so nothing can be learned about it") for name in still]
    if weak:
        omissions.append(Omission("edges", "edge", weak, "too weak, or not found in most parts of the record"))
    nodes = [_node(name, usable[name].kind, *place[name]) for name in names]
    guesses = [*found, *(Guess(n, "kind", SENSOR, e.kind.reason) for n, e in usable.items() if e.kind.role == UNKNOWN)]
    graph = CpsGraph(nodes, [_edge(edge, nodes) for edge in edges])
    return LearnedGraph(graph, names, tuple(edges), len(times), step_ms / 1000, tuple(guesses), tuple(omissions))


def _look(paths: Sequence[Path], options: ExportOptions | None) -> dict[str, _Seen]:
    seen: dict[str, _Seen] = {}
    for series in ExportReader(paths, options, group_bytes=GROUP_BYTES).series():
        if series.kind.role == LABEL:
            continue
        own, before = _seen(series), seen.get(series.name)
        if before is None or before.reason:
            seen[series.name] = own
        elif not own.reason:
            seen[series.name] = replace(
                before,
                start_ms=min(before.start_ms, own.start_ms),
                end_ms=max(before.end_ms, own.end_ms),
                step_ms=before.step_ms or own.step_ms,
                is_constant=before.is_constant and own.is_constant and before.first == own.first,
            )
    return seen


def _seen(series: Series) -> _Seen:
    if not len(series):
        reason = series.omissions[0].reason if series.omissions else "it has no reading"
        return _Seen(series.kind, 0, 0, None, False, reason=reason)
    step = series.reporting.step_ms if series.reporting.mode is Mode.SAMPLED else None
    start, end = int(series.times_ms[0]), int(series.times_ms[-1])
    return _Seen(series.kind, start, end, step, series.is_constant, float(series.values[0]))


def _times(seen: Sequence[_Seen]) -> tuple[NDArray[np.int64], int]:
    """Return the times of the rows, in blocks that are spread over the time that most points cover."""
    steps = [each.step_ms for each in seen if each.step_ms]
    step_ms = int(np.median(steps)) if steps else 60_000
    sampled = [each for each in seen if each.step_ms] or list(seen)
    start = int(np.median([each.start_ms for each in sampled]))
    end = int(np.median([each.end_ms for each in sampled]))
    rows = (end - start) // step_ms + 1
    if rows < FEWEST_ROWS:
        raise DataError(f"{counted(rows, 'row')} are too few to learn a graph from; give {FEWEST_ROWS} at least")
    if rows <= MOST_ROWS:
        return start + np.arange(rows, dtype=np.int64) * step_ms, step_ms
    length = MOST_ROWS // BLOCKS
    firsts = np.linspace(0, rows - length, BLOCKS).astype(np.int64)
    return start + (firsts[:, None] + np.arange(length)).ravel() * step_ms, step_ms


def _lay(
    paths: Sequence[Path],
    options: ExportOptions | None,
    seen: Mapping[str, _Seen],
    times: NDArray[np.int64],
    step_ms: int,
) -> NDArray[np.float32]:
    column = {name: number for number, name in enumerate(seen)}
    values = np.full((len(times), len(seen)), np.nan, np.float32)
    for series in ExportReader(paths, options, group_bytes=GROUP_BYTES).series():
        if series.name not in column or not len(series):
            continue
        newest = np.searchsorted(series.times_ms, times, side="right") - 1
        age = times - series.times_ms[np.maximum(newest, 0)]
        longest = STALE_STEPS * max(step_ms, series.reporting.step_ms or 0)
        known = (newest >= 0) & (series.holds | (age <= longest))
        # numbers are centred before they lose digits
        centred = series.values[newest[known]] - seen[series.name].first
        values[known, column[series.name]] = centred.astype(np.float32)
    return values


def _node(name: str, kind: Kind, template: Any, copy: str, role: str) -> Node:
    is_copy = len(template.copies) > 1
    return Node(
        name,
        SENSOR if kind.role == UNKNOWN else kind.role,
        role=role if is_copy else name,
        signal=name,
        zone=copy if is_copy else None,
    )


def _edge(edge: LearnedEdge, nodes: Sequence[Node]) -> Edge:
    # readings show that two signals belong together, not that one commands or moves the other
    source, target = in_usual_order(nodes[edge.source], nodes[edge.target])
    reason = f"learned: strength {edge.strength:.2f}, in {edge.share:.0%} of the parts"
    return Edge(source.name, target.name, EdgeKind.NEAR, reason)
