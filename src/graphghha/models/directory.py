"""A trained detector as a directory of files: verified on every load, never pickled. No torch.

| file | holds |
|---|---|
| model.safetensors | weights of the ADU |
| expectation.safetensors | weights of the expectation |
| known_answer.safetensors | features of one window and the probabilities the network must give for them |
| config.json | ADU settings, plant, provenance (seed, versions, cases seen and held out) |
| template.json, scaler.json, features.json | graph of one zone; scale of every signal; scale of every feature |
| calibration.json, thresholds.json | calibration of the probabilities; alarm and incident rules |
| README.md | the model card with its report card |
| model.onnx | the network for onnxruntime, if `graphghha export --for-engine` has put it there |
| manifest.json | SHA-256 of every file |
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from graphghha.errors import CheckpointError, GraphGHHAError, NotFoundError
from graphghha.graph import CpsGraph, read_graph, write_graph
from graphghha.models.calibration import Calibration
from graphghha.models.manifest import MANIFEST, verify_manifest, write_manifest
from graphghha.models.thresholds import Thresholds
from graphghha.models.weights import check_network
from graphghha.windows import FEATURE_NAMES, RECENT, Expectation, FeatureNorm, Preprocessing, Scaler

Arrays = Mapping[str, NDArray[Any]]
NETWORK_FILE = "model.onnx"
SHIPPED = Path(__file__).parent / "default"  # written by `graphghha train --preset default`


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """Everything that scoring and alarms need, checked for consistency."""

    plant: str
    template: CpsGraph
    adu_config: Mapping[str, Any]
    weights: Arrays
    preprocessing: Preprocessing
    calibration: Calibration
    thresholds: Thresholds
    known_answer: Arrays  # features [s f], probabilities [s c]
    provenance: Mapping[str, Any]
    card: str = ""
    network_file: Path | None = None  # ONNX form of the network, for engines without torch and compiler

    def __post_init__(self) -> None:
        check_network(self.adu_config, self.weights, len(set(self.template.roles)))
        signals, features = len(self.template.points), len(FEATURE_NAMES)
        inputs = signals * len(RECENT.feature_names)
        if missing := [name for name in ("features", "probabilities") if name not in self.known_answer]:
            raise CheckpointError(f"known answer: the array {missing[0]!r} is missing")
        for what, shape, expected in (
            ("expectation", (self.expectation.num_signals,), (signals,)),
            ("expectation", self.expectation.weights["W1"].shape[:2], (signals, inputs)),
            ("feature norm", self.norm.center.shape, (signals, features)),
            ("feature norm", self.norm.scale.shape, (signals, features)),
            ("known answer", self.known_answer["features"].shape, (self.template.num_nodes, features)),
            ("known answer", self.known_answer["probabilities"].shape[:-1], (self.template.num_nodes,)),
        ):
            if tuple(shape) != expected:
                raise CheckpointError(f"{what}: shape {tuple(shape)}, but the template and features need {expected}")
        for name, array in (*self.weights.items(), *self.known_answer.items()):
            if not np.isfinite(array).all():
                raise CheckpointError(f"weights {name!r} are not finite")
        if not (np.isfinite([self.norm.center, self.norm.scale]).all() and self.norm.scale.min() > 0):
            raise CheckpointError("feature norm: centers must be finite, scales finite and above 0")

    @property
    def scaler(self) -> Scaler:
        """The scaler of the readings."""
        return self.preprocessing.scaler

    @property
    def expectation(self) -> Expectation:
        """The model of what each signal should read, given the others."""
        return self.preprocessing.expectation

    @property
    def norm(self) -> FeatureNorm:
        """The scale of every feature in normal operation."""
        if self.preprocessing.norm is None:
            raise CheckpointError("feature norm: a model needs one; fit it on normal windows")
        return self.preprocessing.norm

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of everything that decides scores and alarms; the model card does not."""
        digest = hashlib.sha256()
        for arrays in (self.weights, self.expectation.weights):
            for name in sorted(arrays):
                digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
        values = [each.to_dict() for each in (self.scaler, self.norm, self.calibration, self.thresholds)]
        digest.update(json.dumps(values, sort_keys=True).encode())
        return digest.hexdigest()


def save_model(model: Model, directory: Path) -> None:
    """Write a model directory, replacing an older model in one step, so that a reader never sees half of one."""
    directory = check_destination(directory)
    try:
        with TemporaryDirectory(prefix=f".{directory.name}-", dir=directory.parent) as scratch:
            fresh = Path(scratch) / "fresh"
            fresh.mkdir()
            _write(model, fresh)
            if directory.exists():
                directory.rename(Path(scratch) / "old")
            fresh.rename(directory)
    except OSError as exc:
        raise CheckpointError(f"{directory}: the model cannot be written: {exc}") from exc


def check_destination(directory: Path) -> Path:
    """Return the directory with links resolved if a model may be written there; CheckpointError says why not.

    It may be missing or empty, or hold an older model.
    """
    directory = directory.resolve()
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        taken = directory.exists() and any(directory.iterdir()) and not (directory / MANIFEST).exists()
    except OSError as exc:
        raise CheckpointError(f"{directory}: a model cannot be written there: {exc.strerror}") from exc
    if taken:
        raise CheckpointError(f"{directory}: is not empty and holds no model; choose another directory")
    if not os.access(directory.parent, os.W_OK):
        raise CheckpointError(f"{directory.parent}: is not writable; choose another place for the model")
    return directory


def _write(model: Model, fresh: Path) -> None:
    for name, arrays in (
        ("model", model.weights),
        ("expectation", {**model.expectation.weights, "floor": model.expectation.floor}),
        ("known_answer", model.known_answer),
    ):  # save_file would make files that only their owner can read
        (fresh / f"{name}.safetensors").write_bytes(save(_contiguous(arrays)))
    write_graph(model.template, fresh / "template.json")
    config = {
        "plant": model.plant,
        "adu": dict(model.adu_config),
        "template_hash": model.template.content_hash,
        "provenance": dict(model.provenance),
    }
    for name, data in (
        ("config", config),
        ("scaler", model.scaler.to_dict()),
        ("features", model.norm.to_dict()),
        ("calibration", model.calibration.to_dict()),
        ("thresholds", model.thresholds.to_dict()),
    ):
        (fresh / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (fresh / "README.md").write_text(model.card or f"# A detector for {model.plant}\n", encoding="utf-8")
    if model.network_file:
        shutil.copyfile(model.network_file, fresh / NETWORK_FILE)
    write_manifest(fresh)


def load_model(directory: Path) -> Model:
    """Verify a model directory and read it. The known answer is checked by the `Scorer`, which has an engine."""
    verify_manifest(directory)
    try:
        config, scaler, features, calibration, thresholds = (
            json.loads((directory / f"{name}.json").read_text(encoding="utf-8"))
            for name in ("config", "scaler", "features", "calibration", "thresholds")
        )
        template = read_graph(directory / "template.json")
        if template.content_hash != config["template_hash"]:
            raise CheckpointError("template.json is not the template these weights were made for")
        expectation = load_file(directory / "expectation.safetensors")
        if (floor := expectation.pop("floor", None)) is None:
            raise CheckpointError("expectation: the array 'floor' is missing")
        return Model(
            plant=config["plant"],
            template=template,
            adu_config=config["adu"],
            weights=load_file(directory / "model.safetensors"),
            preprocessing=Preprocessing(
                Scaler.from_dict(scaler), Expectation(expectation, floor), FeatureNorm.from_dict(features)
            ),
            calibration=Calibration.from_dict(calibration),
            thresholds=Thresholds.from_dict(thresholds),
            known_answer=load_file(directory / "known_answer.safetensors"),
            provenance=config["provenance"],
            card=(directory / "README.md").read_text(encoding="utf-8"),
            network_file=network if (network := directory / NETWORK_FILE).exists() else None,
        )
    except (GraphGHHAError, OSError, ValueError, KeyError, TypeError, SafetensorError) as exc:
        raise CheckpointError(f"{directory}: {exc}") from exc


def _contiguous(arrays: Arrays) -> dict[str, NDArray[Any]]:
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def shipped_model(plant: str) -> Path:
    """Return the directory of the model that comes with the package for a built-in plant."""
    directory = SHIPPED / plant
    if not directory.exists():
        raise NotFoundError(f"no model is shipped for plant {plant!r}; train one: graphghha train --out DIR")
    return directory
