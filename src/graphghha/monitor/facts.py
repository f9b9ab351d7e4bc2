"""Facts about an incident for its hypotheses, from the site's graph and its newest rows.

Which node commands which, and which are settings, is read from the graph: no plant is known here.

n rows, p points.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import Incident
from graphghha.graph import CpsGraph, NodeKind
from graphghha.monitor.control_pairs import ControlPairs
from graphghha.monitor.display import PLAIN, Display
from graphghha.monitor.hypotheses import CommandCheck, Facts
from graphghha.monitor.traces import has_moved, is_held, is_repeated, moved_alone
from graphghha.plants import Plant
from graphghha.windows import Rows
from graphghha.windows.forecast import TYPICAL_ROWS

TOGETHER_ROWS = 15  # zones whose incidents are annunciated within this time turn together
MOVED_ROWS = 240  # a setting that moved so long ago may be what is noticed now
NEAR_ROWS = 60  # times of day that count as the same
SCHEDULE_ROWS = 60
SCHEDULE_ZONES = 3  # with fewer zones a change of the schedule cannot be distinguished from a change of one zone
JUMP_ROWS = 30  # before the annunciation in which a jump is looked for
JUMP_NOISES, JUMP_SHARE = 20.0, 0.02  # what a reading must move by within one row: of its noise, and of its range
LEAST_MOVE = 1e-3  # of its range, by which a setting must change

Floats = NDArray[np.floating[Any]]


class FactFinder:
    """Finds facts about incidents of one site."""

    def __init__(self, graph: CpsGraph, plant: Plant, display: Display = PLAIN) -> None:
        self._graph, self._plant, self._display = graph, plant, display
        self._column = {int(node): at for at, node in enumerate(graph.signal_nodes)}
        self._pairs = ControlPairs(graph, plant)
        self._settings = [node for node in range(graph.num_nodes) if self.is_setting(node)]

    def find(
        self,
        incident: Incident,
        open_incidents: Iterable[Incident],
        rows: Rows,
        evidence: Sequence[Mapping[str, Any]],
        num_suspects: int,
    ) -> Facts:
        """Return what is known about an incident that is annunciated now, the time of the newest row."""
        graph, root = self._graph, incident.root
        values = np.where(rows.fresh, rows.values, np.nan)
        signals = {item["node"]: item for item in evidence if item["kind"] == "signal" and item["unusual"]}
        driven = [
            graph.place(node) for node in self._pairs.targets.get(root, ()) if self._pairs.kind(node) is NodeKind.SENSOR
        ]
        own = signals.get(graph.place(root))
        together = [other for other in open_incidents if _is_together(other, incident)]
        varying = [node for node in self._zone(root) if self._varies(node)]
        is_setting = root in self._settings
        return Facts(
            name=self._name(root),
            kind=str(self._pairs.kind(root)),
            is_measured=root in self._column,
            is_setting=is_setting,
            own_deviation=str(own["text"]) if own else "",
            command=self._command(root, values),
            contradicting=tuple(self._plant.advise(role).name for role in driven if role in signals),
            repeated=self._names(node for node in varying if is_repeated(values[:, self._column[node]])),
            held=self._names(node for node in varying if is_held(values[:, self._column[node]])),
            readings=len(varying),
            moved_alone=self._moved_alone(root, values, rows) if is_setting else "",
            is_schedule_change=self._is_schedule_change(values),
            zones_together=len(together),
            zones_alike=sum(graph.roles[other.root] == graph.roles[root] for other in together),
            suspects=num_suspects,
            jump=self._jump(root, values),
            knows_schedule=len(graph.zone_names) >= SCHEDULE_ZONES,
        )

    def is_setting(self, node: int) -> bool:
        """Return whether a node is a setpoint or a mode: a measured controller that is neither a loop nor a command."""
        if self._pairs.kind(node) is not NodeKind.CONTROLLER or node not in self._column:
            return False
        if self._pairs.signal(node).states:
            return True
        reads = any(self._pairs.kind(source) is NodeKind.SENSOR for source in self._pairs.sources.get(node, ()))
        return not (reads or self._pairs.commanded(node))

    def _command(self, root: int, values: Floats) -> CommandCheck | None:
        """Return the position of the root beside its command, or the other way round; None if it has neither."""
        for position, command in self._pairs.pairs(root):
            reads, commanded = (self._typical(values[:, self._column[node]]) for node in (position, command))
            if reads is None or commanded is None:
                continue
            signal = self._pairs.signal(position)
            return CommandCheck(
                position=self._name(position),
                command=self._name(command),
                reads=signal.format_reading(reads),
                commanded=signal.format_reading(commanded),
                agrees=self._pairs.agrees(position, reads, commanded),
                may_pass=reads < (signal.low + signal.high) / 2,
            )
        return None

    def _jump(self, root: int, values: Floats) -> str:
        """Return from where to where the root's reading went within one row, if it did so lately; empty if not.

        A drive that follows its command may jump, and so may a flow: positions count if they leave their command, and
        temperatures.
        """
        if root not in self._column:
            return ""
        check, signal = self._command(root, values), self._pairs.signal(root)
        if not (check is not None and not check.agrees) and signal.unit != "degC":
            return ""
        recent = values[-JUMP_ROWS:, self._column[root]]
        moves = np.abs(np.diff(recent))
        if not np.isfinite(moves).any():
            return ""
        at = int(np.nanargmax(moves))
        if moves[at] < max(JUMP_NOISES * signal.noise, JUMP_SHARE * (signal.high - signal.low)):
            return ""
        return f"from {self._display.reading(signal, recent[at])} to {self._display.reading(signal, recent[at + 1])}"

    def _moved_alone(self, node: int, values: Floats, rows: Rows) -> str:
        sisters = [other for other in self._settings if self._graph.roles[other] == self._graph.roles[node]]
        others = values[:, [self._column[other] for other in sisters if other != node]]
        day = round(86_400 / self._plant.step_s)
        own = values[:, self._column[node]]
        row = moved_alone(own, others, self._least_move(node), MOVED_ROWS, NEAR_ROWS, day)
        return "" if row is None else self._display.clock(int(rows.times_ms[row]), int(rows.times_ms[-1]))

    def _is_schedule_change(self, values: Floats) -> bool:
        zones = self._graph.zone_names
        if len(zones) < SCHEDULE_ZONES:
            return False
        moved = 0
        for zone in zones:
            own = [node for node in self._settings if self._graph.zones[node] == zone]
            least = np.array([self._least_move(node) for node in own])
            moved += has_moved(values[:, [self._column[node] for node in own]], least, SCHEDULE_ROWS)
        return 2 * moved >= len(zones)

    def _least_move(self, node: int) -> float:
        signal = self._pairs.signal(node)
        return max(LEAST_MOVE * (signal.high - signal.low), 5.0 * signal.noise)

    def _varies(self, node: int) -> bool:
        return node in self._column and self._pairs.signal(node).noise > 0

    def _zone(self, node: int) -> list[int]:
        return [other for other, zone in enumerate(self._graph.zones) if zone == self._graph.zones[node]]

    def _name(self, node: int) -> str:
        return self._plant.advise(self._graph.place(node)).name

    def _names(self, nodes: Iterable[int]) -> tuple[str, ...]:
        return tuple(self._name(node) for node in nodes)

    @staticmethod
    def _typical(values: Floats) -> float | None:
        recent = values[-TYPICAL_ROWS:]
        return float(np.nanmedian(recent)) if np.isfinite(recent).any() else None


def _is_together(other: Incident, incident: Incident) -> bool:
    """Return whether another zone's incident was annunciated shortly before this one."""
    is_recent = other.is_annunciated and incident.annunciated - other.annunciated <= TOGETHER_ROWS
    return is_recent and other.zone is not None and other.zone != incident.zone
