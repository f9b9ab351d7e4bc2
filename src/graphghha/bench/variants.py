"""What detection benchmarks compare: the paper's four methods, two without a network, head counts and ablations."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.evaluation.paper import Score
from graphghha.graph import NeighborRule
from graphghha.nn import ADU
from graphghha.nn.dtype import DtypeName, torch_dtype
from graphghha.plants import Plant
from graphghha.windows.features import FEATURE_NAMES

CAP = 8  # neighbours: binds on the hubs of the fan-coil template only
PAPER_CAP = 4  # the paper's r = s / 8 on the template's 32 nodes


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings of an ADU, and what it may not see in training.

    `trained_as` names the variant whose weights it takes instead of its own training.
    """

    name: str
    adu: Mapping[str, Any] = field(default_factory=dict)
    trained_as: str | None = None
    dtype: DtypeName = "fp32"
    without_family: str | None = None  # of attacks
    plain: Score | None = None  # instead of a network

    def build(self, plant: Plant) -> ADU:
        return ADU(plant.template, in_features=len(FEATURE_NAMES), **self.adu)

    def cast(self, adu: ADU) -> ADU:
        """In the precision the method is scored in."""
        return adu if self.dtype == "fp32" else adu.to(torch_dtype(self.dtype))


def _largest(*features: str) -> Score:
    """Suspicion of a node: its largest feature of these kinds, in spreads of normal operation."""
    columns = [at for at, name in enumerate(FEATURE_NAMES) if name.startswith(features)]

    def score(x: NDArray[np.float32]) -> NDArray[np.float32]:
        normal = 1.0 / (1.0 + np.abs(x[..., columns]).max(axis=-1))  # [b z n]
        return np.stack([normal, 1.0 - normal], axis=-1)

    return score


def _graphghha(name: str, **settings: Any) -> Variant:
    return Variant(name, {"neighbors": NeighborRule(max_neighbors=CAP), **settings})


def without_family(family: str) -> Variant:
    """GraphGHHA as ever, trained without any case of a family."""
    return replace(GRAPHGHHA, name=f"without {family}", without_family=family)


GRAPHGHHA = _graphghha("graphghha")
METHODS = (
    Variant("vanilla_gat", {"layer": "vanilla_gat"}),
    Variant("sparsified_gat", {"layer": "sparsified_gat", "neighbors": NeighborRule(max_neighbors=PAPER_CAP)}),
    Variant("quantized_gat", {"layer": "vanilla_gat"}, trained_as="vanilla_gat", dtype="fp16"),
    GRAPHGHHA,
)
BASELINES = (
    Variant("signal_range", plain=_largest("value_")),  # far from the usual readings
    Variant("largest_residual", plain=_largest("residual_", "abs_residual_")),  # far from what the others imply
)
HEADS = tuple(_graphghha(f"{heads} heads", heads=heads) for heads in (2, 4, 8, 16))
ABLATIONS = (
    GRAPHGHHA,
    _graphghha("no gate", options={"gate": "open"}),
    _graphghha("global only", options={"gate": "global"}),
    _graphghha("local only", options={"gate": "local"}),
    _graphghha("cap 4", neighbors=NeighborRule(max_neighbors=4)),
    _graphghha("cap 16", neighbors=NeighborRule(max_neighbors=16)),
    _graphghha("no cap", neighbors=NeighborRule()),
    _graphghha("raw global sum", options={"global_norm": "raw"}),
)
