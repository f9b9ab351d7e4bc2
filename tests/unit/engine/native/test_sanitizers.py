"""The C kernel under the address and undefined-behaviour sanitizers: no error, and the right answers."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine_builders import judge, model, plant, windows
from graphghha.engine.machine import compiler
from graphghha.graph import write_graph
from graphghha.nn import save_adu

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[3]
SHAPES = [(1, 64, 8, 3), (7, 24, 2, 1), (16, 40, 1, 2), (33, 64, 8, 2), (61, 48, 3, 1), (97, 16, 4, 2)]


@pytest.fixture(scope="module")
def asan() -> str:
    """The run-time library of the address sanitizer, which a process must load before anything else."""
    cc = compiler()
    found = (
        "" if cc is None else subprocess.run([cc, "-print-file-name=libasan.so"], capture_output=True, text=True).stdout
    )
    if Path(found.strip()).is_absolute():
        return found.strip()
    if os.environ.get("CI"):
        pytest.fail("gcc with its sanitizers is missing: in CI no test may skip")
    pytest.skip("needs gcc with its sanitizers (Debian: apt-get install gcc)")


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """Models and graphs of odd sizes, with what the ADU itself answers."""
    folder = tmp_path_factory.mktemp("models")
    for number, (nodes, width, heads, layers) in enumerate(SHAPES):
        graph = plant(nodes, seed=number)
        adu = model(graph, width=width, heads=heads, layers=layers)
        directory = folder / str(number)
        directory.mkdir()
        save_adu(adu, directory)
        write_graph(graph, directory / "graph.json")
        x = windows(graph, 2)
        np.savez(directory / "expected.npz", x=x, expected=judge(adu, x, graph))
    return folder


def run(asan: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    options = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
    environment = os.environ | options | {"LD_PRELOAD": asan, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_the_kernel_has_no_undefined_behaviour(asan, models, dtype):
    done = run(asan, str(TESTS / "sanitized_kernel.py"), dtype, str(models))
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.split() == [str(13 * 2 * len(SHAPES)), "calls"]


def test_the_sanitizers_would_notice(asan, tmp_path):
    """A library that overflows an integer ends the process in the same way."""
    source, library = tmp_path / "wrong.c", tmp_path / "wrong.so"
    source.write_text("int wrong(int x) { return x + 2147483647; }\n")
    flags = ["-shared", "-fPIC", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run([str(compiler()), *flags, str(source), "-o", str(library)], check=True)
    done = run(asan, "-c", f"import ctypes; ctypes.CDLL({str(library)!r}).wrong(1)")
    assert done.returncode != 0 and "signed integer overflow" in done.stderr
