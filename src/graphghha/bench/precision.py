"""Table IV, latency part: the same model in fp32, fp16 and bf16, interleaved, with the largest difference to fp32."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from graphghha.bench.gate import check
from graphghha.bench.graphs import synthetic_template
from graphghha.bench.harness import DEFAULT_EFFORT, Effort, interleaved, machine_info
from graphghha.bench.latency import config_info, task_of
from graphghha.bench.methods import default_config
from graphghha.engine import Engine
from graphghha.graph import CpsGraph
from graphghha.nn import ADU, AduConfig

DTYPES = ("fp32", "fp16", "bf16")


def run(
    nodes: int = 1024,
    threads: int = 1,
    dtypes: Sequence[str] = DTYPES,
    *,
    template: CpsGraph | None = None,
    config: AduConfig | None = None,
    model: ADU | None = None,
    windows: Any = None,
    effort: Effort = DEFAULT_EFFORT,
    seed: int = 0,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """JSON with one row per dtype. A trained `model` and real `windows` [b, nodes, features] replace random ones."""
    template = template or (model.template if model else synthetic_template(seed))
    config = config or (model.config if model else default_config())
    tasks = {name: task_of(template, config, nodes, name, 1, threads, seed) for name in dtypes}
    gate = [{"nodes": nodes, **check(task)} for task in tasks.values()]
    graph = tasks[dtypes[0]].graph
    adu = model or tasks[dtypes[0]].adu("graphghha", "fp32")
    x = np.asarray(windows, np.float32) if windows is not None else tasks[dtypes[0]].windows()
    engines = {name: Engine(adu, graph, dtype=name, threads=threads) for name in dtypes}  # type: ignore[arg-type]
    exact = Engine(adu, graph, backend="torch").score(x)
    timings = interleaved({name: partial(engine.score, x[0]) for name, engine in engines.items()}, effort)
    rows = []
    for name, timing in timings.items():
        scores = engines[name].score(x)
        rows.append(
            {
                "nodes": nodes,
                "method": "graphghha",
                "dtype": name,
                "ms": timing.ms,
                "p99_ms": timing.p99_ms,
                "max_difference": float(np.nanmax(np.abs(scores - exact))),
                "flipped": float((scores.argmax(-1) != exact.argmax(-1)).mean()),
                "reduction_percent": 100 * (1 - timing.ms / timings[dtypes[0]].ms),
            }
        )
        progress(f"{name}: {timing.ms:.3f} ms")
    return {
        "bench": "precision",
        "machine": machine_info(),
        "config": config_info(config, template, 1, threads, seed),
        "gate": gate,
        "rows": rows,
    }
