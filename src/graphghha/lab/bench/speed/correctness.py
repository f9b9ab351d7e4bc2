"""The check before every measurement: no speed is reported for an engine whose scores are wrong.

s nodes, f features per node, c classes.
"""

from dataclasses import replace
from typing import TypedDict

import numpy as np
import torch
from numpy.typing import NDArray

from graphghha.engine import Engine
from graphghha.errors import EngineError
from graphghha.graph import CpsGraph, neighborhood
from graphghha.lab.bench.speed.methods import Task
from graphghha.nn import ADU, reference_layer

TOLERANCE = {"fp32": 1e-5, "fp16": 1e-2, "bf16": 1e-2}  # largest probability difference
_LARGEST_EAGER = 16_384  # nodes; a larger graph in padded form would need gigabytes


class Verdict(TypedDict):
    """The largest probability differences of the engine to its references."""

    dtype: str
    to_algorithm_1: float  # on two zones; loops in double precision
    to_eager: float | None  # on the measured graph; None for very large graphs


def reference_scores(adu: ADU, x: NDArray[np.float32], graph: CpsGraph) -> NDArray[np.float32]:
    """Return scores [s c] of features [s f] by Algorithm 1 written out as loops, in double precision."""
    adj = torch.from_numpy(neighborhood(graph, adu.config.neighbors).dense())
    norm = adu.config.options.get("global_norm", "rms")
    exact = ADU.from_config(adu.template, adu.config)
    exact.load_state_dict(adu.state_dict())
    exact.double()
    with torch.no_grad():
        hidden, _ = exact.embed(torch.from_numpy(x).double(), exact.tensors(graph), None)
        for layer in exact.layers:
            weights = dict(layer.named_parameters())
            hidden = reference_layer(hidden, adj, weights, heads=adu.config.heads, global_norm=norm)
        probs: NDArray[np.float32] = exact.classifier(hidden).softmax(dim=-1).float().numpy()
    return probs


def check(task: Task, small: Task | None = None) -> Verdict:
    """Raise EngineError if the engine that is about to be measured differs too much from its references.

    The loops of Algorithm 1 are slow, so they run on `small`, by default two zones of the task's template.
    """
    small = small or replace(task, graph=task.template.replicate(2))
    verdict = Verdict(dtype=task.dtype, to_algorithm_1=_to_algorithm_1(small), to_eager=_to_eager(task))
    worst = max(verdict["to_algorithm_1"], verdict["to_eager"] or 0.0)
    if not worst <= TOLERANCE[task.dtype]:
        raise EngineError(
            f"the engine in {task.dtype} differs from the reference by {worst:.1e} on {task.graph.num_nodes} nodes, "
            f"more than {TOLERANCE[task.dtype]:.0e}; no speed is reported"
        )
    return verdict


def _to_algorithm_1(task: Task) -> float:
    adu, x = task.adu("graphghha", "fp32"), task.windows()[0]
    engine = Engine(adu, task.graph, dtype=task.dtype, threads=task.threads)
    return float(np.abs(engine.score(x) - reference_scores(adu, x, task.graph)).max())


def _to_eager(task: Task) -> float | None:
    if task.graph.num_nodes > _LARGEST_EAGER:
        return None
    adu, x = task.adu("graphghha", "fp32"), task.windows()[0]
    engine = Engine(adu, task.graph, dtype=task.dtype, threads=task.threads)
    with torch.inference_mode():
        eager = adu(torch.from_numpy(x), task.graph).numpy()
    return float(np.abs(engine.score(x) - eager).max())
