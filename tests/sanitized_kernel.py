"""Runs the native kernel, compiled with sanitizers, on models that a test has stored; see test_sanitizers.py.

Usage: python sanitized_kernel.py DTYPE FOLDER. The sanitizers end the process at the first error. It runs without
torch, whose libraries have allocations of their own.
"""

import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from graphghha.engine import Engine, FrozenModel
from graphghha.engine.native import build, plan
from graphghha.errors import GraphGHHAError
from graphghha.graph import read_graph

FLAGS = (
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-march=native",
)


def main(dtype: str, folder: Path) -> None:
    kernel = build.load_kernel(dtype, FLAGS)
    plan.load_kernel = lambda _dtype: kernel  # type: ignore[assignment]
    calls = 0
    for directory in sorted(folder.iterdir()):
        graph = read_graph(directory / "graph.json")
        for threads in (1, 2):
            engine = Engine(FrozenModel.load(directory), graph, dtype=dtype, backend="native", threads=threads)
            assert engine.backend == "native", engine.describe()
            calls += run(engine, graph.num_nodes, directory)
    print(f"{calls} calls")


def run(engine: Engine, num_nodes: int, directory: Path) -> int:
    rng = np.random.default_rng(num_nodes)
    with np.load(directory / "expected.npz") as stored:
        x, expected, features = stored["x"], stored["expected"], stored["x"].shape[-1]
    tolerance = {"fp32": 1e-5, "fp16": 2e-3, "bf16": 1e-2}[engine.dtype]
    assert np.abs(engine.score(x) - expected).max() < tolerance
    odd = (0.0, 1e30, -1e30, 1e-40, np.inf, np.nan)
    for number, value in enumerate(odd):
        window = rng.standard_normal((1 + number % 3, num_nodes, features)).astype(np.float32)
        window[:, rng.random(num_nodes) < 0.5, number % features] = value
        mask = rng.random((len(window), num_nodes)) < (0.0, 0.3, 1.0)[number % 3]
        for some in (None, mask):
            with suppress(GraphGHHAError):  # features that are not finite are refused, and a score may overflow
                engine.score(window, some)
    return 1 + 2 * len(odd)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
