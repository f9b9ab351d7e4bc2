"""The methods of Table I, each as a call that scores one batch of windows, and the graphs and networks they run on.

b windows in a batch, s nodes, f features per node, k width.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import nn

from graphghha.engine import Engine
from graphghha.engine.machine import machine
from graphghha.errors import ConfigError
from graphghha.graph import CpsGraph, Edge, NeighborRule, Node, neighborhood
from graphghha.lab.bench.harness import DEFAULT_EFFORT, Call, Effort
from graphghha.models import Model
from graphghha.nn import ADU, AduConfig
from graphghha.nn.dtype import DtypeName, torch_dtype

METHODS = ("vanilla_gat", "sparsified_gat", "quantized_gat", "graphghha", "pyg_gatconv", "gemm_floor")
DENSE = ("vanilla_gat", "quantized_gat")  # quadratic in the nodes
LARGEST_DENSE = 1536  # nodes
LARGEST_CALL_BYTES = 1 << 30
BYTES_PER_PAIR = 24  # scores, mask, softmax, weights and product of one pair and head exist at the same time


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """One graph, batch size and precision on which all methods are measured."""

    template: CpsGraph
    graph: CpsGraph
    config: AduConfig
    dtype: DtypeName
    batch: int = 1
    threads: int = 1
    seed: int = 0

    def adu(self, layer: str, dtype: DtypeName) -> ADU:
        """Return the network with another layer, its weights drawn from the seed."""
        config = replace(self.config, layer=layer, dtype=dtype, options={})
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return ADU.from_config(self.template, config).eval()

    def windows(self) -> np.ndarray:
        """Return random features [b s f]."""
        rng = np.random.default_rng(self.seed)
        return rng.standard_normal((self.batch, self.graph.num_nodes, self.config.in_features)).astype(np.float32)


def default_config(in_features: int = 16) -> AduConfig:
    """Return the network that the benchmarks measure: L = 3, K = 8, width 64, MLP ratio 2."""
    return AduConfig(in_features=in_features, neighbors=NeighborRule(max_neighbors=16))


def synthetic_template(seed: int = 0) -> CpsGraph:
    """Return a unit of 18 sensors, 6 controllers and 8 actuators, 3 of them unmeasured, with about 8 neighbors each."""
    rng = np.random.default_rng(seed)
    kinds = ["sensor"] * 18 + ["controller"] * 6 + ["actuator"] * 8
    rows = {kind: [i for i, k in enumerate(kinds) if k == kind] for kind in ("sensor", "controller", "actuator")}
    names = [f"{kind}-{i:02d}" for i, kind in enumerate(kinds)]
    nodes = [Node(names[i], kinds[i], signal=None if i >= 29 else f"x{i:02d}") for i in range(32)]
    edges = []
    for sender, receiver, kind, count in (
        ("sensor", "controller", "comm", 3),
        ("controller", "actuator", "comm", 4),
        ("actuator", "sensor", "phys", 6),
    ):
        for i in rows[sender]:
            edges += [Edge(names[i], names[j], kind) for j in rng.choice(rows[receiver], count, replace=False)]
    return CpsGraph(nodes, edges)


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """What the speed benchmarks share: the template of the graphs, the network, and how long to measure."""

    template: CpsGraph = field(default_factory=synthetic_template)
    network: AduConfig = field(default_factory=default_config)
    effort: Effort = DEFAULT_EFFORT
    seed: int = 0
    progress: Callable[[str], None] = lambda line: None

    def for_model(self, model: Model) -> "Setup":
        """Return the same setup with the template and network of a trained model."""
        return replace(self, template=model.template, network=AduConfig.from_dict(model.adu_config))

    def task(self, nodes: int, dtype: str, *, batch: int = 1, threads: int = 1) -> Task:
        """Return the task on a graph of `nodes` nodes, which must be whole zones."""
        zones, rest = divmod(nodes, self.template.num_nodes)
        if rest or not zones:
            raise ConfigError(f"bench: {nodes} nodes are not a multiple of the template's {self.template.num_nodes}")
        return Task(
            template=self.template,
            graph=self.template.replicate(zones),
            config=self.network,
            dtype=dtype,  # type: ignore[arg-type]  # a wrong name fails in the correctness check
            batch=batch,
            threads=threads,
            seed=self.seed,
        )

    def describe(self, *, batch: int = 1, threads: int = 1) -> dict[str, Any]:
        """Return the `config` part of a result."""
        network = self.network
        return {
            "layers": network.layers,
            "heads": network.heads,
            "width": network.width,
            "mlp_ratio": network.mlp_ratio,
            "in_features": network.in_features,
            "edges": len(neighborhood(self.template, network.neighbors).idx),  # attended pairs of one zone
            "max_neighbors": network.neighbors.max_neighbors,
            "batch": batch,
            "threads": threads,
            "seed": self.seed,
        }


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Run the block with `count` threads in torch, which keeps this number for the whole process."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def method_dtype(name: str, task: Task) -> DtypeName:
    """Return the dtype a method runs in: 16 bit for quantized GAT, the task's for all others."""
    return half_dtype() if name == "quantized_gat" else task.dtype


def half_dtype() -> DtypeName:
    """Return bf16 where the CPU has instructions for it, else fp16."""
    features = machine()["features"]
    return "bf16" if features["avx512_bf16"] or features["amx_bf16"] else "fp16"


def windows_per_call(name: str, task: Task) -> int:
    """Return the batch, or the part of it that a method in eager torch can hold: it stores a value for every pair.

    This does not put such a method at a disadvantage: the whole batch would not fit in memory, and its time per window
    does not fall any further once a call is that large.
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
    """Return the methods whose packages are installed."""
    return tuple(name for name in METHODS if name != "pyg_gatconv" or find_spec("torch_geometric"))


Prepare = Callable[[nn.Module], Callable[..., Any]]  # what is called in place of a network, such as its compiled form


def build(name: str, task: Task, prepare: Prepare = lambda network: network) -> Call:
    """Return a call that scores the task's batch with a method; networks that run in torch are prepared first."""
    if name == "graphghha":
        return _graphghha(task)
    if name == "gemm_floor":
        return _gemm_floor(task)
    return _pyg(task, prepare) if name == "pyg_gatconv" else _eager(name, task, prepare)


def _eager(name: str, task: Task, prepare: Prepare) -> Call:
    """Return a GAT method as an ADU in torch: same embedding, blocks and classifier, other attention."""
    dtype = method_dtype(name, task)
    adu, x = task.adu(name, dtype), torch.from_numpy(task.windows())
    tensors, network = adu.tensors(task.graph), prepare(adu)

    def call() -> object:
        with torch.inference_mode():
            return network(x, tensors)

    return call


def _graphghha(task: Task) -> Call:
    engine = Engine(task.adu("graphghha", "fp32"), task.graph, dtype=task.dtype, threads=task.threads)
    x = task.windows()
    return lambda: engine.score(x)


class _BareGat(nn.Module):
    """Three sparse GATConv with ELU and a linear layer, with PyG's default settings: what a user of PyG would write."""

    def __init__(self, config: AduConfig) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # PyG scripts functions while it is imported
            from torch_geometric.nn import GATConv  # type: ignore[import-untyped]

        super().__init__()
        widths = [config.in_features, *[config.width] * config.layers]
        self.convs = nn.ModuleList(
            # the edges already contain the self-loops
            GATConv(a, b // config.heads, config.heads, add_self_loops=False)
            for a, b in zip(widths, widths[1:], strict=False)
        )
        self.head = nn.Linear(config.width, len(config.classes))

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        for conv in self.convs:
            x = nn.functional.elu(conv(x, edge_index))
        probs: torch.Tensor = self.head(x).softmax(dim=-1)
        return probs


def _pyg(task: Task, prepare: Prepare) -> Call:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(task.seed)
        model = _BareGat(task.config).eval().to(torch_dtype(task.dtype))
    pairs = neighborhood(task.graph, task.config.neighbors)
    edges = torch.from_numpy(np.stack([pairs.idx, pairs.rows]))  # the attended node is the source
    # as PyG batches graphs: one graph of disjoint copies
    offset = torch.arange(task.batch).repeat_interleave(edges.shape[1]) * task.graph.num_nodes
    edge_index = edges.repeat(1, task.batch) + offset
    x = torch.from_numpy(task.windows()).reshape(-1, task.config.in_features).to(torch_dtype(task.dtype))

    network = prepare(model)

    def call() -> object:
        with torch.inference_mode():
            return network(x, edge_index)

    return call


def _gemm_floor(task: Task) -> Call:
    """Return a call that computes only the dense products of the same GraphGHHA network into allocated outputs."""
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
