"""What users import is a promise."""

import subprocess
import sys

import pytest

import graphghha
import graphghha.nn


def test_the_package_exports_exactly_these_names():
    names = ["ADU", "CpsGraph", "Edge", "Engine", "Monitor", "Node", "PlantDetector", "__version__", "load_model"]
    assert graphghha.__all__ == names
    assert all(getattr(graphghha, name) for name in graphghha.__all__)


def test_nn_exports_exactly_these_names():
    assert graphghha.nn.__all__ == [
        "ADU",
        "GHHA",
        "LAYERS",
        "AduConfig",
        "AttendedEdge",
        "Explanation",
        "GraphGHHA",
        "GraphGHHAConv",
        "GraphTensors",
        "Neighbors",
        "QuantizedGAT",
        "ScaledDotProduct",
        "SparsifiedGAT",
        "VanillaGAT",
        "adu_from_arrays",
        "load_adu",
        "reference_layer",
        "save_adu",
    ]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Graph'"):
        graphghha.Graph  # noqa: B018


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_without_torch_the_graph_works_and_the_model_says_what_to_install():
    no_torch = "import sys; sys.modules['torch'] = None\nimport graphghha\n"
    assert run(no_torch + "graphghha.CpsGraph([graphghha.Node('s', 'sensor')])").returncode == 0
    result = run(no_torch + "graphghha.ADU")
    assert "pip install 'graphghha[torch]'" in result.stderr.splitlines()[-1]


def test_importing_the_command_line_loads_nothing_heavy():
    heavy = "[m for m in ('numpy', 'torch', 'pyarrow', 'matplotlib') if m in sys.modules]"
    assert run(f"import sys, graphghha.cli; print({heavy})").stdout.strip() == "[]"
