import json
import subprocess
import sys

from graphghha.engine import machine as module
from graphghha.engine.machine import compiler, machine


def test_the_description_is_plain_json_and_names_what_the_engine_can_use():
    here = machine()
    assert json.loads(json.dumps(here)) == here
    assert here["cores"] >= 1
    assert set(here["dtypes"]) == {"fp32", "fp16", "bf16"}
    assert set(here["backends"]) == {"native", "torch", "onnx"}


def test_asking_loads_nothing_but_the_standard_library():
    code = (
        "import sys, graphghha.engine.machine as m; m.machine(); print('numpy' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_the_compiler_of_the_environment_comes_first(monkeypatch, tmp_path):
    mine = tmp_path / "mine"
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    monkeypatch.setenv("CC", str(mine))
    assert compiler() == str(mine)
    monkeypatch.setenv("CC", str(tmp_path / "absent"))
    assert compiler() is None


def test_bf16_is_named_by_the_best_unit_present():
    every = dict.fromkeys(module._FEATURES, True)
    assert module._dtypes({**every, "amx_bf16": False})["bf16"] == "AVX512-BF16 dot products"
    assert module._dtypes(dict.fromkeys(every, False)) == {
        "fp32": "portable C",
        "bf16": "stored in 16 bit, computed in fp32",
        "fp16": "stored in 16 bit, computed in fp32",
    }
