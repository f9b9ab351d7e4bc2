"""What a site consists of, as plain JSON for readers who have neither its model nor its plant."""

from collections.abc import Mapping
from typing import Any

from graphghha.graph import EDGE_KINDS, NODE_KINDS, CpsGraph, NodeKind, place_nodes
from graphghha.monitor.detector import Detector
from graphghha.monitor.site_config import SiteConfig
from graphghha.plants import Plant

EQUIPMENT = "equipment"  # a node that is not measured
SENSORS_IN_A_ROW = 9  # of the node matrix, at least; more if two rows do not hold them


def describe_site(
    detector: Detector, config: SiteConfig, simulation: Mapping[str, float | None] | None = None
) -> dict[str, Any]:
    """Return zones, template with units, limits and places, edges, alarm rules; cases, speed and seed if simulated."""
    plant, graph = detector.plant, detector.graph
    zones, size = _zones(graph)
    edges = [
        [int(source), int(target), str(EDGE_KINDS[kind])]
        for source, target, kind in zip(*graph.edge_index, graph.edge_kinds, strict=True)
        if source < size and target < size
    ]
    return {
        "plant": plant.name,
        "title": plant.title,
        "zones": zones,
        "template": _template(graph, plant, size),
        "edges": edges,
        "numbers": detector.numbers,
        "judges_zones": detector.zone_judgement is not None,
        "signed_by": detector.signed_by,
        "main_value": [role for role in plant.main_value if role in graph.roles],
        "step_s": plant.step_s,
        "stale_after_s": config.clock.stale_after_ms / 1000,
        "lost_after_s": config.lost_after_ms / 1000,
        "warm_up_rows": config.warm_up_rows,
        "is_simulated": simulation is not None,
        "speed": None if simulation is None else simulation.get("speed"),
        "seed": None if simulation is None else simulation.get("seed"),
        "cases": [] if simulation is None else _cases(plant),
        "equivalents": _equivalents(plant),
    }


def _zones(graph: CpsGraph) -> tuple[list[str], int]:
    """Return the zones and the number of nodes in each; a graph that is not made of equal zones is one of its own."""
    names = list(graph.zone_names)
    size = graph.num_nodes // max(1, len(names))
    is_regular = bool(names) and all(
        graph.zones[at * size : (at + 1) * size] == (zone,) * size for at, zone in enumerate(names)
    )
    return (names, size) if is_regular and size * len(names) == graph.num_nodes else ([""], graph.num_nodes)


def _template(graph: CpsGraph, plant: Plant, size: int) -> list[dict[str, Any]]:
    places, kinds, signals = place_nodes(graph, size), [_kind(graph, node) for node in range(size)], plant.signals
    known, nodes = {signal.name: signal for signal in signals}, []
    cells = _cells(kinds)
    for node in range(size):
        advice = plant.advise(graph.place(node))
        about: dict[str, Any] = {
            "role": graph.place(node),
            "name": advice.name,
            "kind": kinds[node],
            "signal": graph.signals[node],
            "is_setting": kinds[node] == NodeKind.CONTROLLER,
            "priority": advice.priority,
            "x": round(float(places[node, 0]), 3),
            "y": round(float(places[node, 1]), 3),
            "row": cells[node][0],
            "column": cells[node][1],
        }
        if (signal := known.get(str(graph.signals[node]))) is not None:
            about |= {"meaning": signal.meaning, "unit": signal.unit, "low": signal.low, "high": signal.high}
            about |= {"decimals": signal.decimals, "states": list(signal.states)}
        nodes.append(about)
    return nodes


def _kind(graph: CpsGraph, node: int) -> str:
    return str(NODE_KINDS[graph.kinds[node]]) if graph.signals[node] else EQUIPMENT


def _cells(kinds: list[str]) -> list[tuple[int, int]]:
    """Return row and column of every node: controllers, then actuators and equipment, then sensors in two rows."""
    per_row = max(SENSORS_IN_A_ROW, -(-kinds.count(NodeKind.SENSOR) // 2))
    first = [node for node, kind in enumerate(kinds) if kind == NodeKind.CONTROLLER]
    second = [node for node, kind in enumerate(kinds) if kind == NodeKind.ACTUATOR]
    second += [node for node, kind in enumerate(kinds) if kind == EQUIPMENT]
    sensors = [node for node, kind in enumerate(kinds) if kind == NodeKind.SENSOR]
    cells = dict[int, tuple[int, int]]()
    for row, nodes in enumerate((first, second)):
        cells |= {node: (row, at) for at, node in enumerate(nodes)}
    cells |= {node: (2 + at // per_row, at % per_row) for at, node in enumerate(sensors)}
    return [cells[node] for node in range(len(kinds))]


def _cases(plant: Plant) -> list[dict[str, Any]]:
    return [
        {
            "name": case.name,
            "title": case.meaning or case.name.replace("_", " "),
            "family": case.family,
            "attack_class": case.attack_class,
            "severity": case.severity,
            "targets": list(case.targets),
            "equivalents": list(case.hits),
        }
        for case in plant.cases.values()
        if case.targets
    ]


def _equivalents(plant: Plant) -> dict[str, list[str]]:
    """Return for each role the roles that some case makes indistinguishable from it."""
    found: dict[str, set[str]] = {}
    for case in plant.cases.values():
        group = {*case.targets, *case.hits}
        if case.hits and len(case.targets) == 1:
            for role in group:
                found.setdefault(role, set()).update(group - {role})
    return {role: sorted(others) for role, others in sorted(found.items())}
