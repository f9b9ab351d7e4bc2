"""Explanations: the gates and strongest edges of one node in one window. Without torch there are none."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from graphghha.graph import CpsGraph
from graphghha.models import Model
from graphghha.windows import Windows

if TYPE_CHECKING:
    import torch

    from graphghha.nn import ADU

MAX_EDGES = 3


class Explainer:
    """Explains scores with the ADU itself, which is built on first use since scoring does not need it."""

    def __init__(self, model: Model, graph: CpsGraph) -> None:
        self._model, self._graph = model, graph
        self._adu: ADU | None = None

    def explain(self, windows: Windows, number: int, node: int) -> list[dict[str, Any]]:
        """Return items of an incident's `evidence`; none without torch."""
        if find_spec("torch") is None:
            return []
        import torch

        adu = self._loaded()
        features, known = (torch.from_numpy(np.array(each[number])) for each in (windows.features, windows.known))
        return self._evidence(adu, features, known, self._graph, node)

    def rehearse(self) -> list[dict[str, Any]]:
        """Explain the model's known answer, so that torch is loaded and everything has been used once."""
        if find_spec("torch") is None:
            return []
        import torch

        features = torch.from_numpy(np.array(self._model.known_answer["features"]))
        known = torch.ones(len(features), dtype=torch.bool)
        return self._evidence(self._loaded(), features, known, self._model.template, 0)

    @staticmethod
    def _evidence(
        adu: "ADU", features: "torch.Tensor", known: "torch.Tensor", graph: CpsGraph, node: int
    ) -> list[dict[str, Any]]:
        explanation = adu.explain(features, graph, graph.names[node], known, top=MAX_EDGES + 1)
        evidence: list[dict[str, Any]] = []
        if explanation.global_gates:
            gates = {"global": _rounded(explanation.global_gates), "local": _rounded(explanation.local_gates)}
            evidence.append({"kind": "gate", "node": graph.roles[node], **gates})
        for edge in [edge for edge in explanation.edges if edge.kind != "self"][:MAX_EDGES]:
            ends = {"source": graph.roles[graph.index(edge.source)], "target": graph.roles[node]}
            evidence.append({"kind": "edge", **ends, "relation": edge.kind, "weight": round(edge.weight, 3)})
        return evidence

    def _loaded(self) -> "ADU":
        if self._adu is None:
            from graphghha.nn import adu_from_arrays

            self._adu = adu_from_arrays(self._model.template, self._model.adu_config, self._model.weights)
        return self._adu


def _rounded(values: tuple[float, ...]) -> list[float]:
    return [round(value, 3) for value in values]
