"""The ADU in ONNX scores as the eager one, on graphs the export has not seen."""

import pytest
import torch

from builders import loop_template
from graphghha.errors import ConfigError
from graphghha.nn import ADU
from graphghha.nn.onnx import INPUTS, export_onnx


@pytest.mark.slow
def test_onnxruntime_equals_eager_at_any_node_count(tmp_path, unchecked):
    runtime = pytest.importorskip("onnxruntime", reason="needs the extras [onnx] and [edge]")
    pytest.importorskip("onnxscript", reason="needs the extra [onnx]")
    torch.manual_seed(0)
    template = loop_template()
    adu = ADU(template, in_features=4, width=32, heads=4).eval()
    export_onnx(adu, tmp_path / "adu.onnx")
    session = runtime.InferenceSession(tmp_path / "adu.onnx", providers=["CPUExecutionProvider"])
    # shared nodes change the largest degree as well as the node count
    for zones, batch, shared in ((1, 1, ()), (5, 3, ()), (12, 2, ("outdoor", "supervisor"))):
        graph = template.replicate(zones, shared)
        tensors = adu.tensors(graph)
        x = torch.randn(batch, graph.num_nodes, 4)
        mask = torch.rand(batch, graph.num_nodes) > 0.1
        parts = (x, mask, tensors.neighbors.nbr, tensors.neighbors.nbr_mask, tensors.kinds, tensors.roles)
        feed = {name: part.numpy() for name, part in zip(INPUTS, parts, strict=True)}
        (probs,) = session.run(["probs"], feed)
        torch.testing.assert_close(torch.as_tensor(probs), adu(x, graph, mask), rtol=0, atol=1e-5, equal_nan=True)


def test_only_full_precision_is_exported(tmp_path):
    with pytest.raises(ConfigError, match="fp32"):
        export_onnx(ADU(loop_template(), dtype="bf16"), tmp_path / "adu.onnx")
