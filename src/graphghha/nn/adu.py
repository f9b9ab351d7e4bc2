"""The Attack Detection Unit: from a window of node features to the class of every node.

b windows in a batch, s nodes, f features per node, k width, c classes.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from graphghha.classes import BINARY_CLASSES, CLASSES, UNKNOWN
from graphghha.errors import ConfigError, DataError, EngineError, SchemaError
from graphghha.graph import CpsGraph, Direction, NeighborRule, NodeKind
from graphghha.nn.block import AttentionBlock
from graphghha.nn.dtype import DtypeName, torch_dtype
from graphghha.nn.explain import AttendedEdge, Explanation, relation
from graphghha.nn.graph_tensors import GraphTensors, graph_tensors
from graphghha.nn.ops import has_values
from graphghha.nn.registry import layer_type, make_layer

Head = Literal["classes", "binary"]

# Features are scaled to order one. Values beyond these limits (a fault or an attack) are clipped, so that they stay
# finite in every layer.
FEATURE_LIMIT: dict[DtypeName, float] = {"fp32": 1e4, "bf16": 1e4, "fp16": 1e2}


@dataclass(frozen=True, kw_only=True, slots=True)
class AduConfig:
    """Everything except the template that defines an ADU. L = 3 layers and K = 8 heads as in the paper."""

    in_features: int
    layer: str = "graphghha"
    layers: int = 3
    heads: int = 8
    width: int = 64
    mlp_ratio: float = 2.0
    dropout: float = 0.0
    head: Head = "classes"
    dtype: DtypeName = "fp32"
    neighbors: NeighborRule = NeighborRule(max_neighbors=16)
    options: Mapping[str, Any] = field(default_factory=dict)  # of the layer: global_norm, num_blocks, masked

    def __post_init__(self) -> None:
        if self.in_features < 1 or self.layers < 1:
            raise ConfigError(f"ADU: in_features {self.in_features} and layers {self.layers} must be at least 1")
        if self.head not in ("classes", "binary"):
            raise ConfigError(f"ADU: unknown head {self.head!r}; use classes | binary")
        if not isinstance(self.neighbors, NeighborRule):
            raise ConfigError(f"ADU: neighbors must be a NeighborRule, got {self.neighbors!r}")
        layer_type(self.layer)
        torch_dtype(self.dtype)

    @property
    def classes(self) -> tuple[str, ...]:
        """The class names, in the order of the probabilities."""
        return CLASSES if self.head == "classes" else BINARY_CLASSES

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "AduConfig":
        """Read what `to_dict` returns; ConfigError if a field is missing or unknown."""
        try:
            return cls(**{**data, "neighbors": NeighborRule(**data["neighbors"])})
        except (KeyError, TypeError) as exc:
            raise ConfigError(f"ADU config does not fit this version: {exc}") from exc


class ADU(nn.Module):
    """Classifies every node of a graph; built for a template, it runs on any number of zones of it.

    The input of a node is a projection of its features by kind plus an embedding of its role (for nodes without a
    signal, the embedding alone). L attention layers, a linear head and a softmax over {normal, actuator, sensor,
    controller} follow.
    """

    def __init__(
        self,
        template: CpsGraph,
        layer: str = "graphghha",
        layers: int = 3,
        heads: int = 8,
        width: int = 64,
        *,
        in_features: int = 1,
        dtype: DtypeName | None = None,
        neighbors: NeighborRule | Direction | None = None,
        **settings: Any,
    ) -> None:
        """`dtype` and `neighbors` default to those of the layer; a direction keeps the rest of its rule."""
        kind = layer_type(layer)
        rule = kind.default_neighbors if neighbors is None else neighbors
        if isinstance(rule, str):
            rule = replace(kind.default_neighbors, direction=rule)
        try:
            config = AduConfig(
                in_features=in_features,
                layer=layer,
                layers=layers,
                heads=heads,
                width=width,
                dtype=dtype or kind.default_dtype,
                neighbors=rule,
                **settings,
            )
        except TypeError as exc:
            raise ConfigError(f"ADU: {exc}") from exc
        self._build(template, config)

    @classmethod
    def from_config(cls, template: CpsGraph, config: AduConfig) -> "ADU":
        """Return the ADU that a configuration describes, with random weights."""
        adu = cls.__new__(cls)
        adu._build(template, config)
        return adu

    def _build(self, template: CpsGraph, config: AduConfig) -> None:
        super().__init__()
        self.config, self.template = config, template
        self.role_names = tuple(sorted(set(template.roles)))
        self.kind_projection = nn.ModuleList(nn.Linear(config.in_features, config.width, bias=False) for _ in NodeKind)
        self.role_embedding = nn.Embedding(len(self.role_names), config.width)
        self.layers = nn.ModuleList(
            make_layer(
                config.layer,
                config.width,
                config.heads,
                mlp_ratio=config.mlp_ratio,
                dropout=config.dropout,
                dtype=config.dtype,
                **config.options,
            )
            for _ in range(config.layers)
        )
        self.classifier = nn.Linear(config.width, len(config.classes))
        self.to(torch_dtype(config.dtype))

    def tensors(self, graph: CpsGraph | GraphTensors) -> GraphTensors:
        """Return a graph as tensors for the layers, cached by its content."""
        if isinstance(graph, GraphTensors):
            return graph
        return graph_tensors(graph, self.role_names, self.config.neighbors, self.role_embedding.weight.device)

    def forward(
        self,
        x: Float[Tensor, "*b s f"],
        graph: CpsGraph | GraphTensors,
        mask: Bool[Tensor, "*#b s"] | None = None,
    ) -> Float[Tensor, "*b s c"]:
        """Return class probabilities, fp32. Where `mask` is False, the node is absent and its row is NaN."""
        probs = self.logits(x, graph, mask).softmax(dim=-1)
        known = probs if mask is None else torch.where(mask[..., None], probs, 0.0)
        if has_values(known) and not known.isfinite().all():
            raise EngineError("scores are not finite: the weights or features lie far outside what the model can take")
        return probs if mask is None else torch.where(mask[..., None], probs, torch.nan)

    def logits(
        self,
        x: Float[Tensor, "*b s f"],
        graph: CpsGraph | GraphTensors,
        mask: Bool[Tensor, "*#b s"] | None = None,
    ) -> Float[Tensor, "*b s c"]:
        """Return the scores before the softmax, fp32; rows of absent nodes are meaningless."""
        tensors = self.tensors(graph)
        H, node_mask = self.embed(x, tensors, mask)
        for layer in self.layers:
            H = layer(H, tensors.neighbors, node_mask)
        scores: Tensor = self.classifier(H).float()
        return scores

    def embed(
        self, x: Float[Tensor, "*b s f"], tensors: GraphTensors, mask: Bool[Tensor, "*#b s"] | None
    ) -> tuple[Float[Tensor, "*b s k"], Bool[Tensor, "*b s"] | None]:
        """Return H(0) and the mask of present nodes. Features of absent or unmeasured nodes are not read."""
        self._check_shapes(x, tensors, mask)
        node_mask = None if mask is None else mask.expand(x.shape[:-1])
        read = tensors.measured if node_mask is None else tensors.measured & node_mask
        x = torch.where(read[..., None], x, 0.0)
        if has_values(x) and not x.isfinite().all():
            wrong = (~x.isfinite()).any(dim=-1).reshape(-1, tensors.num_nodes).any(dim=0)
            raise DataError(
                f"features of node {int(wrong.int().argmax())} contain NaN or Inf; mask nodes that have no fresh data"
            )
        dtype = self.role_embedding.weight.dtype
        limit = FEATURE_LIMIT[self.config.dtype]
        x, kinds = x.clamp(-limit, limit).to(dtype), tensors.kinds.to(dtype)
        H = self.role_embedding(tensors.roles).expand(*x.shape[:-1], -1)
        for kind, project in enumerate(self.kind_projection):
            H = H + project(x) * kinds[:, kind, None]
        return H, node_mask

    def _check_shapes(self, x: Tensor, tensors: GraphTensors, mask: Tensor | None) -> None:
        if not x.is_floating_point():
            raise SchemaError(f"features must be floating point, got {x.dtype}; call x.float()")
        if x.ndim < 2 or x.shape[-1] != self.config.in_features or x.shape[-2] != tensors.num_nodes:
            raise SchemaError(
                f"features must be [.., {tensors.num_nodes} nodes, {self.config.in_features} features], "
                f"got {list(x.shape)}"
            )
        if mask is not None and (mask.dtype != torch.bool or not _spreads_to(mask, x.shape[:-1])):
            raise SchemaError(
                f"the mask must be bool and fit {list(x.shape[:-1])}, got {mask.dtype} {list(mask.shape)}"
            )

    @staticmethod
    def attack_probability(probs: Float[Tensor, "*b s c"]) -> Float[Tensor, "*b s"]:
        """Return P(attack) = 1 - P(normal); NaN where the node is unknown."""
        return 1.0 - probs[..., 0]

    @staticmethod
    def attack_class(probs: Float[Tensor, "*b s c"]) -> Int[Tensor, "*b s"]:
        """Return the most probable class; UNKNOWN (-1) where the node is absent."""
        return torch.where(probs.isnan().any(dim=-1), UNKNOWN, probs.nan_to_num().argmax(dim=-1))

    @torch.no_grad()
    def explain(
        self,
        x: Float[Tensor, "s f"],
        graph: CpsGraph,
        node: str,
        mask: Bool[Tensor, " s"] | None = None,
        *,
        top: int = 5,
    ) -> Explanation:
        """Return the gates of one node in one window and the neighbors it attends to most; none for an absent node."""
        if x.ndim != 2:
            raise SchemaError(f"explain takes one window [nodes, features], got {list(x.shape)}")
        i, tensors = graph.index(node), self.tensors(graph)
        neighbors = replace(tensors.neighbors, block=None)  # attention by neighbor, in training as well
        H, node_mask = self.embed(x, tensors, mask)
        if node_mask is not None:
            H = torch.where(node_mask[..., None], H, 0.0)
        is_present = node_mask is None or bool(node_mask[i])
        weights = torch.zeros(graph.num_nodes, device=H.device)
        gates = []
        for layer in self.layers:
            assert isinstance(layer, AttentionBlock)
            attended = layer.attend(H, neighbors, node_mask)
            alpha = attended.alpha[i].float().mean(dim=0)  # [d]
            weights.index_add_(0, layer.columns(neighbors)[i], alpha / len(self.layers))
            if attended.gates is not None:
                gates.append(attended.gates[i].tolist())
            H = layer.finish(H, attended, node_mask, use_dropout=False)
        strongest = [j for j in weights.argsort(descending=True)[:top].tolist() if is_present and weights[j] > 0]
        return Explanation(
            node=node,
            global_gates=tuple(C1 for C1, _ in gates),
            local_gates=tuple(C2 for _, C2 in gates),
            edges=tuple(AttendedEdge(graph.names[j], float(weights[j]), relation(graph, j, i)) for j in strongest),
        )


def _spreads_to(mask: Tensor, shape: torch.Size) -> bool:
    """Return whether a mask [*#b s] broadcasts to the leading shape of the features."""
    if torch.compiler.is_compiling():
        return True
    try:
        return bool(torch.broadcast_shapes(mask.shape, shape) == shape)
    except RuntimeError:
        return False
