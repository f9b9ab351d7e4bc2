"""A trained model and a graph as plain arrays, for backends without torch.

s nodes, e attended pairs, k width, f features per node, c classes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.classes import BINARY_CLASSES, CLASSES
from graphghha.errors import CheckpointError, ConfigError
from graphghha.graph import CpsGraph, Neighborhood, NeighborRule, neighborhood, read_graph, role_rows
from graphghha.models import MANIFEST, NETWORK_FILE, Model, load_model, model_directory

if TYPE_CHECKING:
    from graphghha.nn import ADU

Floats = NDArray[np.float32]


class _Weights(dict[str, Floats]):
    def __missing__(self, name: str) -> Floats:
        raise CheckpointError(f"weights {name!r} are missing; the file is of another network")


@dataclass(frozen=True)
class FrozenModel:
    """The weights of an ADU as fp32 arrays by name, its configuration, and where the rest of it can be found."""

    config: Mapping[str, Any]
    role_names: tuple[str, ...]
    weights: Mapping[str, Floats] = field(repr=False)
    adu: "ADU | None" = field(default=None, repr=False)  # what the torch backend runs
    template: CpsGraph | None = field(default=None, repr=False)  # with config and weights, enough to rebuild the ADU
    directory: Path | None = None  # of a bare ADU, for the torch backend
    onnx_file: Path | None = None  # what the onnx backend runs

    def __post_init__(self) -> None:
        broken = [name for name, weight in self.weights.items() if not np.isfinite(weight).all()]
        if broken:
            raise CheckpointError(f"weights are not finite: {', '.join(broken[:3])}")
        object.__setattr__(self, "weights", _Weights(self.weights))

    @classmethod
    def from_adu(cls, adu: "ADU") -> Self:
        """Copy the weights, so that further training does not change an engine."""
        weights = {
            name: np.array(value.detach().float().cpu().numpy(), np.float32) for name, value in adu.state_dict().items()
        }
        return cls(adu.config.to_dict(), adu.role_names, weights, adu, adu.template)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Read a directory that `nn.save_adu` wrote, without torch."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            config = json.loads((directory / "config.json").read_text(encoding="utf-8"))["config"]
            roles = tuple(sorted(set(read_graph(directory / "template.json").roles)))
            weights = load_file(directory / "model.safetensors")
        except (OSError, ValueError, KeyError, TypeError, SafetensorError) as exc:
            raise CheckpointError(f"{directory}: cannot be loaded: {type(exc).__name__}: {exc}") from exc
        fp32 = {name: np.asarray(weight, np.float32) for name, weight in weights.items()}
        network = directory / NETWORK_FILE
        return cls(config, roles, fp32, directory=directory, onnx_file=network if network.exists() else None)

    @property
    def rule(self) -> NeighborRule:
        """Which neighbors a node attends to."""
        rule = self.config["neighbors"]
        return rule if isinstance(rule, NeighborRule) else NeighborRule(**rule)

    @property
    def classes(self) -> tuple[str, ...]:
        """The class names, in the order of the probabilities."""
        return CLASSES if self.config["head"] == "classes" else BINARY_CLASSES

    @property
    def in_features(self) -> int:
        """The number of features f per node."""
        return int(self.config["in_features"])

    def layer(self, number: int) -> dict[str, Floats]:
        """Return the weights of one attention layer by their names inside the layer."""
        prefix = f"layers.{number}."
        return {name.removeprefix(prefix): value for name, value in self.weights.items() if name.startswith(prefix)}


@dataclass(frozen=True)
class FrozenGraph:
    """A graph as arrays, numbered as a model needs it."""

    neighborhood: Neighborhood
    kinds: NDArray[np.int8]  # [s] which projection; -1 for a node without a signal
    roles: NDArray[np.int32]  # [s] row of the role embedding

    @classmethod
    def from_graph(cls, graph: CpsGraph, model: FrozenModel) -> Self:
        """Number the nodes' kinds and roles as the model does; CheckpointError if it lacks a role."""
        roles = role_rows(graph.roles, model.role_names)
        measured = np.array([signal is not None for signal in graph.signals])
        return cls(
            neighborhood(graph, model.rule),
            np.where(measured, graph.kinds.astype(np.int8), np.int8(-1)),
            np.array(roles, np.int32),
        )

    @property
    def num_nodes(self) -> int:
        """The number of nodes s."""
        return len(self.kinds)


def freeze(model: "ADU | FrozenModel | Model | Path | str") -> FrozenModel:
    """Return the frozen form of an ADU, a loaded model, the directory of either or the name of a shipped model.

    A frozen model stays as it is.
    """
    if isinstance(model, FrozenModel):
        return model
    if isinstance(model, Path | str):
        directory = model_directory(model)
        if not (directory / MANIFEST).exists():  # a bare ADU, as nn.save_adu writes it
            return FrozenModel.load(directory)
        model = load_model(directory)
    if isinstance(model, Model):
        roles = tuple(sorted(set(model.template.roles)))
        return FrozenModel(
            model.adu_config, roles, model.weights, template=model.template, onnx_file=model.network_file
        )
    if not hasattr(model, "state_dict"):
        raise ConfigError(f"engine: expected an ADU, a model or a model directory, got {type(model).__name__}")
    return FrozenModel.from_adu(model)
