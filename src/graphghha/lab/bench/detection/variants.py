"""What the detection benchmarks compare: the paper's four methods, four baselines, head counts and ablations."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from graphghha.graph import NeighborRule
from graphghha.lab.paper.baselines import FitBaseline, largest, random_scores, value_pca
from graphghha.nn import ADU
from graphghha.nn.dtype import DtypeName, torch_dtype
from graphghha.plants import Plant
from graphghha.windows import FEATURE_NAMES

CAP = 8  # neighbours; only the hubs of the fan-coil template have more
PAPER_CAP = 4  # the paper's r = s / 8 on the template's 32 nodes


@dataclass(frozen=True, slots=True)
class Variant:
    """A network with its settings, or a baseline.

    `trained_as` names another variant whose weights this one takes instead of being trained.
    """

    name: str
    adu: Mapping[str, Any] = field(default_factory=dict)
    trained_as: str | None = None
    dtype: DtypeName = "fp32"
    without_family: str | None = None  # attack family that is left out of training
    baseline: FitBaseline | None = None  # instead of a network

    def build(self, plant: Plant) -> ADU:
        return ADU(plant.template, in_features=len(FEATURE_NAMES), **self.adu)

    def cast(self, adu: ADU) -> ADU:
        """Round the weights to the variant's precision. Sums stay in fp32, as in hardware for fp16."""
        return adu if self.dtype == "fp32" else adu.to(torch_dtype(self.dtype)).float()


def _graphghha(name: str, **settings: Any) -> Variant:
    return Variant(name, {"neighbors": NeighborRule(max_neighbors=CAP), **settings})


def without_family(family: str) -> Variant:
    """Return GraphGHHA trained without any case of a family."""
    return replace(GRAPHGHHA, name=f"without {family}", without_family=family)


GRAPHGHHA = _graphghha("graphghha")
METHODS = (
    Variant("vanilla_gat", {"layer": "vanilla_gat", "neighbors": NeighborRule()}),
    Variant("sparsified_gat", {"layer": "sparsified_gat", "neighbors": NeighborRule(max_neighbors=PAPER_CAP)}),
    Variant(
        "quantized_gat",
        {"layer": "vanilla_gat", "neighbors": NeighborRule()},
        trained_as="vanilla_gat",
        dtype="fp16",
    ),
    GRAPHGHHA,
)
BASELINES = (
    Variant("random", baseline=random_scores),
    Variant("largest_value", baseline=largest("value_")),  # readings far from their usual values
    Variant("value_pca", baseline=value_pca),  # readings that do not fit the usual correlations
    Variant("largest_residual", baseline=largest("residual_", "abs_residual_")),  # readings far from the expected ones
)
HEADS = (
    _graphghha("2 heads", heads=2),
    _graphghha("4 heads", heads=4),
    replace(_graphghha("8 heads", heads=8), trained_as="graphghha"),  # the default number
    _graphghha("16 heads", heads=16),
)
ABLATIONS = (
    GRAPHGHHA,
    _graphghha("no gate", options={"gate": "open"}),
    _graphghha("global only", options={"gate": "global"}),
    _graphghha("local only", options={"gate": "local"}),
    _graphghha("cap 4", neighbors=NeighborRule(max_neighbors=4)),
    # no node of the fan-coil template has more than fifteen neighbours and itself, so this equals "no cap"
    replace(_graphghha("cap 16", neighbors=NeighborRule(max_neighbors=16)), trained_as="no cap"),
    _graphghha("no cap", neighbors=NeighborRule()),
    _graphghha("raw global sum", options={"global_norm": "raw"}),
)
