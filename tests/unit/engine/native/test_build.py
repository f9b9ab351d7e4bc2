"""The compiled kernel: found, built, damaged, missing; and its code for older CPUs."""

import hashlib
import logging
import shutil
import subprocess

import pytest

from engine_builders import difference, judge, masks, model, plant, windows
from graphghha.engine import Engine
from graphghha.engine.machine import compiler, machine
from graphghha.engine.native import build, plan
from graphghha.errors import EngineError

pytestmark = pytest.mark.slow

PLANT = plant(61)


@pytest.fixture
def no_process_memory(monkeypatch):
    """As in a fresh process: nothing is loaded yet."""
    monkeypatch.setattr(build, "_loaded", {})


@pytest.fixture
def no_compiler(monkeypatch, tmp_path):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


def test_a_kernel_is_compiled_once_and_then_found(empty_cache, no_process_memory, monkeypatch):
    first = build.load_kernel()
    assert first.compiled_in_s > 0 and first.path.parent == empty_cache
    monkeypatch.setattr(build, "_loaded", {})
    assert build.load_kernel().compiled_in_s == 0
    assert sorted(path.suffix for path in empty_cache.iterdir()) == [".sha256", ".so"]


def test_a_damaged_kernel_is_compiled_again(empty_cache, no_process_memory, monkeypatch, caplog):
    path = build.load_kernel().path
    # a new file, as a broken download or a full disk would leave it; the loaded one stays mapped
    path.unlink()
    path.write_bytes(b"\x7fELF but not for long")
    monkeypatch.setattr(build, "_loaded", {})
    assert build.load_kernel().compiled_in_s > 0
    assert "is damaged and will be compiled again" in caplog.text


def test_a_kernel_that_is_no_library_is_compiled_again(empty_cache, no_process_memory, caplog):
    path = build.kernel_path("fp32")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"text")
    path.with_suffix(".sha256").write_text(hashlib.sha256(b"text").hexdigest())
    assert build.load_kernel().compiled_in_s > 0
    assert "cannot be loaded" in caplog.text


PLANTED = '__attribute__((constructor)) static void run(void) {{ fclose(fopen({path!r}, "w")); }}\n'


@pytest.mark.parametrize("is_folder_open", [True, False], ids=["folder", "file"])
def test_a_kernel_that_others_could_have_planted_is_not_executed(
    empty_cache, no_process_memory, tmp_path, caplog, is_folder_open
):
    """Library and checksum fit each other; only their modes show that they may be somebody else's."""
    ran, source, path = tmp_path / "ran", tmp_path / "planted.c", build.kernel_path("fp32")
    path.parent.mkdir(parents=True)
    source.write_text("#include <stdio.h>\n" + PLANTED.format(path=str(ran)).replace("'", '"'))
    subprocess.run([str(compiler()), "-shared", "-fPIC", str(source), "-o", str(path)], check=True)
    path.with_suffix(".sha256").write_text(hashlib.sha256(path.read_bytes()).hexdigest())
    (path.parent if is_folder_open else path).chmod(0o777)
    kernel = build.load_kernel()
    assert kernel.compiled_in_s > 0 and kernel.lanes >= 4
    assert not ran.exists() and "may be written by other users" in caplog.text


@pytest.mark.parametrize("wanted", ["native", "auto"])
def test_without_a_compiler_another_backend_takes_over_with_a_message(
    empty_cache, no_process_memory, no_compiler, caplog, wanted
):
    adu = model(PLANT)
    with caplog.at_level(logging.WARNING):
        engine = Engine(adu, PLANT, backend=wanted)
    assert engine.backend in ("torch", "onnx")
    assert "no C compiler found" in caplog.text and "no C compiler found" in engine.describe()["considered"]["native"]
    x = windows(PLANT)
    assert difference(engine.score(x), judge(adu, x, PLANT)) < 1e-5


def test_a_compiler_that_fails_says_so(empty_cache, no_process_memory, monkeypatch):
    monkeypatch.setenv("CC", shutil.which("false"))
    with pytest.raises(EngineError, match="could not compile the native kernel"):
        build.load_kernel()
    assert not list(empty_cache.iterdir())


def test_a_cache_that_cannot_be_written_says_so(tmp_path, no_process_memory, monkeypatch):
    (tmp_path / "graphghha").write_text("a file where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(EngineError, match="kernel cache cannot be written"):
        build.load_kernel()


@pytest.mark.skipif(not machine()["features"]["avx2"], reason="needs an x86 processor with AVX2")
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("target", ["haswell", "x86-64"], ids=["avx2", "no-vector-extensions"])
@pytest.mark.parametrize(("width", "heads"), [(64, 8), (40, 1), (24, 2)], ids=["usual", "wide-head", "padded"])
def test_the_code_for_older_processors_agrees_with_the_adu(monkeypatch, target, dtype, width, heads):
    kernel = build.load_kernel(dtype, (f"-march={target}",))
    assert kernel.lanes == {"haswell": 8, "x86-64": 4}[target]
    monkeypatch.setattr(plan, "load_kernel", lambda _dtype: kernel)
    adu = model(PLANT, width=width, heads=heads)
    x, mask = windows(PLANT, 2), masks(PLANT, 2)
    engine = Engine(adu, PLANT, dtype=dtype, backend="native")
    tolerance = {"fp32": 1e-5, "fp16": 2e-3, "bf16": 1e-2}[dtype]
    assert difference(engine.score(x), judge(adu, x, PLANT)) < tolerance
    assert difference(engine.score(x, mask), judge(adu, x, PLANT, mask)) < tolerance


@pytest.mark.skipif(not machine()["features"]["avx512_bf16"], reason="the matrix unit's inputs need AVX512-BF16")
@pytest.mark.parametrize("num_nodes", [1, 16, 17, 33, 61, 97])
@pytest.mark.parametrize(("width", "heads"), [(64, 8), (128, 4), (48, 3)], ids=["usual", "two-panels", "odd-depth"])
def test_the_code_for_the_matrix_unit_agrees_with_the_vector_code(monkeypatch, num_nodes, width, heads):
    """Where the unit is missing plain C stands in for its instructions; layout and loops are the real ones."""
    graph = plant(num_nodes)
    adu = model(graph, width=width, heads=heads, layers=1)
    x, mask = windows(graph, 2), masks(graph, 2)
    vector = Engine(adu, graph, dtype="bf16", backend="native")
    kernel = build.load_kernel("bf16", ("-march=native", "-DGHHA_AMX_EMULATED"))
    assert kernel.uses_amx and kernel.weight_format == "bf16 pairs"
    monkeypatch.setattr(plan, "load_kernel", lambda _dtype: kernel)
    matrix = Engine(adu, graph, dtype="bf16", backend="native")
    # sums in another order: now and then an activation rounds to the other neighbour in bf16
    assert difference(matrix.score(x), vector.score(x)) < 1e-3
    assert difference(matrix.score(x, mask), vector.score(x, mask)) < 1e-3
