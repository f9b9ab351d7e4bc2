"""The other methods at good settings: compiled by torch, with an allocator that keeps its memory.

Both change nothing about a method and take the user one line. The engine gains from neither: it allocates
once. Times are CPU time of this process, and the shortest of all calls counts: what other processes do to the caches
slows methods that run in Python more than the engine.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from graphghha.errors import EngineError
from graphghha.lab.bench.harness import Call, interleaved, kept_memory
from graphghha.lab.bench.results import make_result
from graphghha.lab.bench.speed.correctness import check
from graphghha.lab.bench.speed.methods import (
    DENSE,
    LARGEST_DENSE,
    Prepare,
    Setup,
    Task,
    available,
    build,
    torch_threads,
)

SIZES = (32, 256, 1536, 12_288, 98_304)
METHODS = ("graphghha", "pyg_gatconv", "vanilla_gat")
COMPILED = ("pyg_gatconv", "vanilla_gat")
_OPTIONS = {"freezing": True, "cpp_wrapper": True}  # of inductor; without a wrapper in C++ small graphs wait for Python
_TOLERANCE = 1e-4


def run(setup: Setup, sizes: Sequence[int] = SIZES, *, compiled: Sequence[str] = COMPILED) -> dict[str, Any]:
    """Return the result of `bench tuned`: one thread, fp32, one window per call, all methods of a size interleaved."""
    rows: list[dict[str, Any]] = []
    gate: list[dict[str, Any]] = []
    with torch_threads(1), kept_memory() as keeps_memory:
        for size in sizes:
            task = setup.task(size, "fp32")
            gate.append({"nodes": size, **check(task)})
            measured = _measure(task, setup, compiled)
            rows += measured
            times = ", ".join(f"{row['method']} {row['best_cpu_ms']:.3f} ms" for row in measured)
            setup.progress(f"{size} nodes: {times}")
    config = {**setup.describe(), "keeps_memory": keeps_memory, "compile_options": _OPTIONS, "compiled": list(compiled)}
    return make_result("tuned", config, rows, gate=gate)


def _measure(task: Task, setup: Setup, compiled: Sequence[str]) -> list[dict[str, Any]]:
    torch.compiler.reset()  # after eight sizes torch would silently go on without compiling
    names = [
        name for name in METHODS if name in available() and not (name in DENSE and task.graph.num_nodes > LARGEST_DENSE)
    ]
    calls: dict[str, Call] = {name: build(name, task) for name in names}
    for name in compiled:
        if name in names:
            calls[f"{name}_compiled"] = compiled_call(name, task, _compile)
    timings = interleaved(calls, setup.effort, clock=time.process_time)
    return [
        {
            "nodes": task.graph.num_nodes,
            "method": name,
            "dtype": "fp32",
            "best_cpu_ms": timing.best_ms,
            "cpu_ms": timing.ms,
            "p99_cpu_ms": timing.p99_ms,
            "calls": timing.calls,
        }
        for name, timing in timings.items()
    ]


def compiled_call(name: str, task: Task, prepare: Prepare) -> Call:
    """Return a method whose network is prepared (compiled), after a comparison with the same method in eager torch."""
    call = build(name, task, prepare)
    expected, found = build(name, task)(), call()
    assert isinstance(expected, torch.Tensor) and isinstance(found, torch.Tensor)
    if not torch.allclose(expected, found, atol=_TOLERANCE):
        raise EngineError(f"bench tuned: compiled {name} differs from eager by {(expected - found).abs().max():.2g}")
    return call


def _compile(network: torch.nn.Module) -> Callable[..., Any]:
    compiled: Callable[..., Any] = torch.compile(network, dynamic=False, options=dict(_OPTIONS))

    def first_calls_compile(*inputs: object) -> object:
        try:
            return compiled(*inputs)
        except torch._dynamo.exc.BackendCompilerFailed as exc:  # not exported elsewhere
            reason = str(exc).strip().splitlines()[0]
            raise EngineError(f"bench tuned: torch.compile needs a C++ compiler (g++): {reason}") from exc

    return first_calls_compile
