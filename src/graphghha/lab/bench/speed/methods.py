"""The methods of Table I, each as a call that scores one batch of windows.

b windows in a batch, s nodes, f features per node, k width.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np
import torch
from torch import nn

from graphghha.engine import Engine
from graphghha.engine.machine import machine
from graphghha.graph import CpsGraph, NeighborRule, neighborhood
from graphghha.lab.bench.harness import Call
from graphghha.nn import ADU, AduConfig
from graphghha.nn.dtype import DtypeName, torch_dtype

METHODS = ("vanilla_gat", "sparsified_gat", "quantized_gat", "graphghha", "pyg_gatconv", "gemm_floor")
DENSE = ("vanilla_gat", "quantized_gat")  # quadratic in the nodes
LARGEST_CALL_BYTES = 1 << 30
BYTES_PER_PAIR = 24  # scores, mask, softmax, weights and product of one pair and head live side by side for a moment


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """One graph, one batch, one precision: what all methods of a size share."""

    template: CpsGraph
    graph: CpsGraph
    config: AduConfig
    dtype: DtypeName
    batch: int = 1
    threads: int = 1
    seed: int = 0

    def adu(self, layer: str, dtype: DtypeName) -> ADU:
        config = replace(self.config, layer=layer, dtype=dtype, options={})
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return ADU.from_config(self.template, config).eval()

    def windows(self) -> np.ndarray:
        """[b s f]"""
        rng = np.random.default_rng(self.seed)
        return rng.standard_normal((self.batch, self.graph.num_nodes, self.config.in_features)).astype(np.float32)


def default_config(in_features: int = 16) -> AduConfig:
    """The network that the benchmarks measure: L = 3, K = 8, width 64, MLP ratio 2."""
    return AduConfig(in_features=in_features, neighbors=NeighborRule(max_neighbors=16))


def method_dtype(name: str, task: Task) -> DtypeName:
    """Quantized GAT runs in 16 bit, the others as asked."""
    return half_dtype() if name == "quantized_gat" else task.dtype


def half_dtype() -> DtypeName:
    """bf16 where the CPU computes in it, else fp16."""
    features = machine()["features"]
    return "bf16" if features["avx512_bf16"] or features["amx_bf16"] else "fp16"


def windows_per_call(name: str, task: Task) -> int:
    """The batch, or as much of it as a rival in eager torch can hold: it keeps whole tensors of pairs.

    A rival's own micro-batches only help it: what is too large for the memory would not run at all, and its time per
    window does not fall any further once a call is that large.
    """
    nodes, config = task.graph.num_nodes, task.config
    if name in DENSE:
        numbers = config.heads * nodes * nodes
    elif name == "sparsified_gat":
        numbers = config.width * nodes * neighborhood(task.graph, config.neighbors).max_degree
    else:
        return task.batch
    return max(1, min(task.batch, LARGEST_CALL_BYTES // (numbers * BYTES_PER_PAIR)))


def available() -> tuple[str, ...]:
    return tuple(name for name in METHODS if name != "pyg_gatconv" or find_spec("torch_geometric"))


def build(name: str, task: Task) -> Call:
    return _BUILDERS[name](task)


def _eager(name: str, task: Task) -> Call:
    """A rival as an ADU in eager torch: same embedding, blocks and head, other attention."""
    dtype = method_dtype(name, task)
    adu, x = task.adu(name, dtype), torch.from_numpy(task.windows())
    tensors = adu.tensors(task.graph)

    def call() -> object:
        with torch.inference_mode():
            return adu(x, tensors)

    return call


def _graphghha(task: Task) -> Call:
    engine = Engine(task.adu("graphghha", "fp32"), task.graph, dtype=task.dtype, threads=task.threads)
    x = task.windows()
    return lambda: engine.score(x)


class _BareGat(nn.Module):
    """Three sparse GATConv, ELU between them, one linear layer: what a user of PyG would write."""

    def __init__(self, config: AduConfig) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # PyG scripts functions while it is imported
            from torch_geometric.nn import GATConv  # type: ignore[import-untyped]

        super().__init__()
        widths = [config.in_features, *[config.width] * config.layers]
        self.convs = nn.ModuleList(
            # the loops are already among the edges
            GATConv(a, b // config.heads, config.heads, add_self_loops=False)
            for a, b in zip(widths, widths[1:], strict=False)
        )
        self.head = nn.Linear(config.width, len(config.classes))

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        for conv in self.convs:
            x = nn.functional.elu(conv(x, edge_index))
        probs: torch.Tensor = self.head(x).softmax(dim=-1)
        return probs


def _pyg(task: Task) -> Call:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(task.seed)
        model = _BareGat(task.config).eval().to(torch_dtype(task.dtype))
    pairs = neighborhood(task.graph, task.config.neighbors)
    edges = torch.from_numpy(np.stack([pairs.idx, pairs.rows]))  # the attended node is the source
    # PyG's own batching: one graph of disjoint copies
    offset = torch.arange(task.batch).repeat_interleave(edges.shape[1]) * task.graph.num_nodes
    edge_index = edges.repeat(1, task.batch) + offset
    x = torch.from_numpy(task.windows()).reshape(-1, task.config.in_features).to(torch_dtype(task.dtype))

    def call() -> object:
        with torch.inference_mode():
            return model(x, edge_index)

    return call


def _gemm_floor(task: Task) -> Call:
    """Only the dense products of the same GraphGHHA network, outputs allocated beforehand."""
    config, rows = task.config, task.batch * task.graph.num_nodes
    k, hidden = config.width, round(config.mlp_ratio * config.width)
    shapes = [(config.in_features, k)]
    for _ in range(config.layers):
        shapes += [(k, 3 * k + 2), (k, k), (k, hidden), (hidden, k)]
    shapes.append((k, len(config.classes)))
    dtype = torch_dtype(task.dtype)
    generator = torch.Generator().manual_seed(task.seed)
    inputs = {d: torch.randn(rows, d, generator=generator).to(dtype) for d, _ in shapes}
    outputs = {n: torch.empty(rows, n, dtype=dtype) for _, n in shapes}
    products = [(inputs[d], torch.randn(d, n, generator=generator).to(dtype), outputs[n]) for d, n in shapes]

    def call() -> object:
        with torch.inference_mode():
            for left, right, out in products:
                torch.mm(left, right, out=out)
        return None

    return call


_BUILDERS: dict[str, Callable[[Task], Call]] = {
    "vanilla_gat": lambda task: _eager("vanilla_gat", task),
    "sparsified_gat": lambda task: _eager("sparsified_gat", task),
    "quantized_gat": lambda task: _eager("quantized_gat", task),
    "graphghha": _graphghha,
    "pyg_gatconv": _pyg,
    "gemm_floor": _gemm_floor,
}
