"""An ADU as three files: `model.safetensors`, `config.json`, `template.json`. Never pickled."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from graphghha.errors import CheckpointError, ConfigError, DataError, GraphError
from graphghha.graph import CpsGraph, read_graph, write_graph
from graphghha.nn.adu import ADU, AduConfig
from graphghha.nn.dtype import torch_dtype


def save_adu(adu: ADU, directory: Path | str) -> None:
    """Write the three files; existing ones are replaced."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    config = {"config": adu.config.to_dict(), "template_hash": adu.template.content_hash}
    (directory / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    write_graph(adu.template, directory / "template.json")
    # in the precision of the config, even if the module was cast by hand since
    dtype = torch_dtype(adu.config.dtype)
    save_file({name: tensor.to(dtype) for name, tensor in adu.state_dict().items()}, directory / "model.safetensors")


def adu_from_arrays(template: CpsGraph, config: Mapping[str, Any], weights: Mapping[str, NDArray[Any]]) -> ADU:
    """Return the ADU that a stored configuration describes with these weights, in evaluation mode."""
    adu = ADU.from_config(template, AduConfig.from_dict(config))
    adu.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in weights.items()})
    return adu.eval()


def load_adu(directory: Path | str) -> ADU:
    """Return the ADU that `save_adu` wrote; CheckpointError if a file is missing or damaged, or they do not fit."""
    directory = Path(directory)
    try:
        saved = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        template = read_graph(directory / "template.json")
        if saved["template_hash"] != template.content_hash:
            raise CheckpointError(f"{directory}: template.json is not the template these weights were made for")
        adu = ADU.from_config(template, AduConfig.from_dict(saved["config"]))
        state = load_file(directory / "model.safetensors")
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as exc:
        kind = "" if isinstance(exc, ConfigError | DataError | GraphError) else f"{type(exc).__name__}: "
        raise CheckpointError(f"{directory}: cannot be loaded: {kind}{exc}") from exc
    try:
        adu.load_state_dict(state)
    except RuntimeError as exc:
        raise CheckpointError(f"{directory}: weights do not fit config.json: {exc}") from exc
    broken = [name for name, tensor in adu.state_dict().items() if not tensor.isfinite().all()]
    if broken:
        raise CheckpointError(f"{directory}: weights are not finite: {', '.join(broken[:3])}")
    return adu.eval()
