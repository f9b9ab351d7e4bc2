"""Why the model thinks so: gates and strongest edges of one node in one window. Needs torch; silent without it."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from graphghha.graph import CpsGraph
from graphghha.models import Model
from graphghha.windows import Windows

if TYPE_CHECKING:
    from graphghha.nn import ADU

MOST_EDGES = 3


class Gates:
    """The ADU itself, built when it is first asked: scoring does not need it."""

    def __init__(self, model: Model, graph: CpsGraph) -> None:
        self._model, self._graph = model, graph
        self._adu: ADU | None = None

    def explain(self, windows: Windows, number: int, node: int) -> list[dict[str, Any]]:
        """Items as in an incident's `evidence`; none without torch, or for a layer that has none."""
        if find_spec("torch") is None:
            return []
        import torch

        adu = self._built()
        features, known = (torch.from_numpy(np.array(each[number])) for each in (windows.features, windows.known))
        graph = self._graph
        found = adu.explain(features, graph, graph.names[node], known, top=MOST_EDGES + 1)
        evidence: list[dict[str, Any]] = []
        if found.global_gates:
            gates = {"global": _rounded(found.global_gates), "local": _rounded(found.local_gates)}
            evidence.append({"kind": "gate", "node": graph.roles[node], **gates})
        for edge in [edge for edge in found.edges if edge.kind != "self"][:MOST_EDGES]:
            ends = {"source": graph.roles[graph.index(edge.source)], "target": graph.roles[node]}
            evidence.append({"kind": "edge", **ends, "relation": edge.kind, "weight": round(edge.weight, 3)})
        return evidence

    def _built(self) -> "ADU":
        if self._adu is None:
            from graphghha.nn import adu_from_arrays

            self._adu = adu_from_arrays(self._model.template, self._model.adu_config, self._model.weights)
        return self._adu


def _rounded(values: tuple[float, ...]) -> list[float]:
    return [round(value, 3) for value in values]
