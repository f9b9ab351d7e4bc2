"""A trained detector as a directory of files: verified on every load, never pickled. No torch.

| file | holds |
|---|---|
| model.safetensors | weights of the ADU |
| expectation.safetensors | weights of the expectation |
| known_answer.safetensors | features of one window and the probabilities the network must give for them |
| config.json | ADU settings, plant, provenance (seed, versions, cases seen and held out) |
| template.json, scaler.json, features.json | graph of one zone; scale of every signal; kind and scale of the features |
| levels.safetensors | what is usual at a site, for features of the evidence kind |
| typical.safetensors | the same for the typical zone of a site that was commissioned |
| limits.json, commissioning.json | limits for the threshold of a site; the record of its commissioning |
| calibration.json, thresholds.json | calibration of the probabilities; alarm and incident rules |
| README.md | the model card with its report card |
| card.json | the figures of the card for programs, if it has any |
| model.onnx | the network for onnxruntime, if `graphghha export --for-engine` has put it there |
| manifest.json | SHA-256 of every file |
| signature.json | who vouches for the manifest, if `graphghha model sign` has signed it |
"""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
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
from graphghha.models.manifest import MANIFEST, read_small_json, verify_manifest, write_manifest
from graphghha.models.site import CommissioningRecord, Limits
from graphghha.models.thresholds import Thresholds
from graphghha.models.weights import check_network
from graphghha.windows import (
    FEATURE_NAMES,
    RECENT,
    EvidencePreprocessing,
    Expectation,
    FeatureNorm,
    Levels,
    Preprocessing,
    Scaler,
    ZoneExpectation,
)
from graphghha.windows.evidence import FEATURES, KIND

Arrays = Mapping[str, NDArray[Any]]
NETWORK_FILE = "model.onnx"
CARD_FILE = "card.json"
CARD_FORMAT = "graphghha-card/1"
# what goes wrong with files whose hashes are right and whose content makes no sense
_MALFORMED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError)
PLANT_FILE = "plant.toml"  # in the model of a plant of the user's own, see models.own
SHIPPED = Path(__file__).parent / "default"  # written by `graphghha train --preset default`


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """Everything that scoring and alarms need, checked for consistency."""

    plant: str
    template: CpsGraph
    adu_config: Mapping[str, Any]
    weights: Arrays
    preprocessing: Preprocessing | EvidencePreprocessing
    calibration: Calibration
    thresholds: Thresholds
    known_answer: Arrays  # features [s f], probabilities [s c]
    provenance: Mapping[str, Any]
    card: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)  # of the card, for programs
    limits: Limits | None = None  # of a model that judges zones
    commissioning: CommissioningRecord | None = None  # of a model that was commissioned at a site
    network_file: Path | None = None  # ONNX form of the network, for engines without torch and compiler

    def __post_init__(self) -> None:
        check_network(self.adu_config, self.weights, len(set(self.template.roles)))
        if missing := [name for name in ("features", "probabilities") if name not in self.known_answer]:
            raise CheckpointError(f"known answer: the array {missing[0]!r} is missing")
        nodes, features = self.template.num_nodes, len(self.feature_names)
        for what, shape, expected in (
            *self._preprocessing_shapes(),
            ("known answer", self.known_answer["features"].shape, (nodes, features)),
            ("known answer", self.known_answer["probabilities"].shape[:-1], (nodes,)),
        ):
            if tuple(shape) != expected:
                raise CheckpointError(f"{what}: shape {tuple(shape)}, but the template and features need {expected}")
        for name, array in (*self.weights.items(), *self.known_answer.items()):
            if not np.isfinite(array).all():
                raise CheckpointError(f"weights {name!r} are not finite")
        if self.judges_zones:
            if self.adu_config["head"] != "binary":
                raise CheckpointError("features of the evidence kind need a network with a binary head")
        elif not (np.isfinite([self.norm.center, self.norm.scale]).all() and self.norm.scale.min() > 0):
            raise CheckpointError("feature norm: centers must be finite, scales finite and above 0")

    def _preprocessing_shapes(self) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
        """Return what has a shape, the shape it has, and the one that the template needs."""
        signals = len(self.template.points)
        if isinstance(self.preprocessing, EvidencePreprocessing):
            return [("expectation", (self.preprocessing.num_signals,), (signals,))]
        inputs, features = signals * len(RECENT.feature_names), len(FEATURE_NAMES)
        expectation = self.preprocessing.expectation
        return [
            ("expectation", (expectation.num_signals,), (signals,)),
            ("expectation", expectation.weights["W1"].shape[:2], (signals, inputs)),
            ("feature norm", self.norm.center.shape, (signals, features)),
            ("feature norm", self.norm.scale.shape, (signals, features)),
        ]

    @property
    def judges_zones(self) -> bool:
        """Whether the network is asked about zones first, and then about nodes."""
        return isinstance(self.preprocessing, EvidencePreprocessing)

    @property
    def node_preprocessing(self) -> Preprocessing:
        """The preprocessing of a model that judges every node alone; CheckpointError if it judges zones."""
        if isinstance(self.preprocessing, EvidencePreprocessing):
            raise CheckpointError("this needs a model that judges single nodes, and the model judges zones")
        return self.preprocessing

    @property
    def zone_preprocessing(self) -> EvidencePreprocessing:
        """The preprocessing of a model that judges zones; CheckpointError if it judges every node alone."""
        if not isinstance(self.preprocessing, EvidencePreprocessing):
            raise CheckpointError(
                "this needs a model that judges zones, such as fcu-zones, and the model judges single nodes"
            )
        return self.preprocessing

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features of a node."""
        return FEATURES if self.judges_zones else FEATURE_NAMES

    @property
    def scaler(self) -> Scaler:
        """The scaler of the readings."""
        return self.preprocessing.scaler

    @property
    def expectation(self) -> Expectation | ZoneExpectation:
        """The model of what each signal should read, given the others."""
        return self.preprocessing.expectation

    @property
    def norm(self) -> FeatureNorm:
        """The scale of every feature in normal operation; features of the evidence kind have levels instead."""
        if self.node_preprocessing.norm is None:
            raise CheckpointError("feature norm: a model needs one; fit it on normal windows")
        return self.node_preprocessing.norm

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of everything that decides scores and alarms; the model card does not."""
        digest = hashlib.sha256()
        arrays_of_features, features = self._features_parts()
        for arrays in (self.weights, self.expectation.weights, *arrays_of_features.values()):
            for name in sorted(arrays):
                digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
        values = [self.scaler.to_dict(), features, *(each.to_dict() for each in (self.calibration, self.thresholds))]
        digest.update(json.dumps(values, sort_keys=True).encode())
        return digest.hexdigest()

    def _features_parts(self) -> tuple[dict[str, Arrays], dict[str, Any]]:
        """Return the files of arrays that features need beside the expectation, and what features.json holds."""
        if isinstance(self.preprocessing, EvidencePreprocessing):
            levels = {"levels": self.preprocessing.levels, "typical": self.preprocessing.typical}
            arrays: dict[str, Arrays] = {name: each.to_arrays() for name, each in levels.items() if each is not None}
            return arrays, self.preprocessing.to_dict()
        return {}, self.norm.to_dict()


def save_model(model: Model, directory: Path) -> None:
    """Write a model directory, replacing an older model in one step, so that a reader never sees half of one."""
    with replaced_directory(directory) as fresh:
        _write(model, fresh)


@contextmanager
def replaced_directory(directory: Path) -> Iterator[Path]:
    """Yield an empty directory to write a model into, which takes the place of `directory` at the end."""
    directory = check_destination(directory)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{directory.name}-", dir=directory.parent) as scratch:
            fresh = Path(scratch) / "fresh"
            fresh.mkdir()
            yield fresh
            if directory.exists():
                directory.rename(Path(scratch) / "old")
            fresh.rename(directory)
    except OSError as exc:
        raise CheckpointError(f"{directory}: the model cannot be written: {exc}") from exc


def check_destination(directory: Path) -> Path:
    """Return the directory with links resolved if a model may be written there; CheckpointError says why not.

    It may be missing or empty, or hold an older model. Nothing is made: the work before the writing may still fail.
    """
    directory = directory.resolve()
    try:
        nearest = next(each for each in directory.parents if each.exists())
        if not nearest.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"{nearest} is a file, not a folder")
        taken = directory.exists() and any(directory.iterdir()) and not (directory / MANIFEST).exists()
    except OSError as exc:
        raise CheckpointError(f"{directory}: a model cannot be written there: {exc.strerror}") from exc
    if taken:
        raise CheckpointError(f"{directory}: is not empty and holds no model; choose another directory")
    if not os.access(nearest, os.W_OK):
        raise CheckpointError(f"{nearest}: is not writable; choose another place for the model")
    return directory


def _write(model: Model, fresh: Path) -> None:
    arrays_of_features, features = model._features_parts()
    for name, arrays in (
        ("model", model.weights),
        ("expectation", {**model.expectation.weights, "floor": model.expectation.floor}),
        ("known_answer", model.known_answer),
        *arrays_of_features.items(),
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
        ("features", features),
        ("calibration", model.calibration.to_dict()),
        ("thresholds", model.thresholds.to_dict()),
        *((name, part.to_dict()) for name, part in _optional(model).items() if part is not None),
    ):
        (fresh / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (fresh / "README.md").write_text(model.card or f"# A detector for {model.plant}\n", encoding="utf-8")
    if model.figures:
        card = {"format": CARD_FORMAT, **model.figures}
        (fresh / CARD_FILE).write_text(json.dumps(card, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    if model.network_file:
        shutil.copyfile(model.network_file, fresh / NETWORK_FILE)
    write_manifest(fresh)


def load_model(directory: Path | str) -> Model:
    """Verify and read a model: a directory, or the name of one that comes with the package.

    The known answer is checked by the `Scorer`, which has an engine.
    """
    directory = model_directory(directory)
    verify_manifest(directory)
    if (directory / PLANT_FILE).exists():
        raise CheckpointError(
            f"{directory}: is the model of a plant of your own; load it with models.own.load_own_model"
        )
    try:
        config, scaler, features, calibration, thresholds = (
            json.loads((directory / f"{name}.json").read_text(encoding="utf-8"))
            for name in ("config", "scaler", "features", "calibration", "thresholds")
        )
        template = read_graph(directory / "template.json")
        if template.content_hash != config["template_hash"]:
            raise CheckpointError("template.json is not the template these weights were made for")
        return Model(
            plant=config["plant"],
            template=template,
            adu_config=config["adu"],
            weights=load_file(directory / "model.safetensors"),
            preprocessing=_load_preprocessing(directory, Scaler.from_dict(scaler), features),
            calibration=Calibration.from_dict(calibration),
            thresholds=Thresholds.from_dict(thresholds),
            known_answer=load_file(directory / "known_answer.safetensors"),
            provenance=config["provenance"],
            card=(directory / "README.md").read_text(encoding="utf-8"),
            figures=read_figures(directory),
            limits=_read_limits(directory / "limits.json"),
            commissioning=read_commissioning(directory),
            network_file=network if (network := directory / NETWORK_FILE).exists() else None,
        )
    except (GraphGHHAError, OSError, SafetensorError, *_MALFORMED) as exc:
        raise CheckpointError(f"{directory}: {exc}") from exc


def read_figures(directory: Path) -> dict[str, Any]:
    """Return the figures of a model's card as JSON, empty if it has none; CheckpointError if they cannot be read."""
    if not (path := directory / CARD_FILE).exists():
        return {}
    figures = read_small_json(path)
    if (found := figures.pop("format", None)) != CARD_FORMAT:
        raise CheckpointError(f"{path}: has format {found!r}, but this version reads {CARD_FORMAT!r}")
    return figures


def read_commissioning(directory: Path) -> CommissioningRecord | None:
    """Return the record of a model's commissioning, None if it has not been commissioned."""
    path = directory / "commissioning.json"
    return CommissioningRecord.from_dict(read_small_json(path)) if path.exists() else None


def _load_preprocessing(directory: Path, scaler: Scaler, features: Any) -> Preprocessing | EvidencePreprocessing:
    expectation = load_file(directory / "expectation.safetensors")
    if (floor := expectation.pop("floor", None)) is None:
        raise CheckpointError("expectation: the array 'floor' is missing")
    if isinstance(features, Mapping) and features.get("kind") == KIND:
        levels = Levels.from_arrays(load_file(directory / "levels.safetensors"))
        has_typical = (path := directory / "typical.safetensors").exists()
        typical = Levels.from_arrays(load_file(path)) if has_typical else None
        return EvidencePreprocessing.from_parts(scaler, ZoneExpectation(expectation, floor), levels, features, typical)
    return Preprocessing(scaler, Expectation(expectation, floor), FeatureNorm.from_dict(features))


def _optional(model: Model) -> dict[str, Limits | CommissioningRecord | None]:
    return {"limits": model.limits, "commissioning": model.commissioning}


def _read_limits(path: Path) -> Limits | None:
    return Limits.from_dict(read_small_json(path)) if path.exists() else None


def _contiguous(arrays: Arrays) -> dict[str, NDArray[Any]]:
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def model_directory(name: Path | str) -> Path:
    """Return the directory of this path or, if there is none, of the shipped model of this name."""
    path = Path(name)
    shipped = SHIPPED / path
    return shipped if len(path.parts) == 1 and not path.is_dir() and shipped.is_dir() else path


def shipped_model(plant: str) -> Path:
    """Return the directory of the model that comes with the package for a built-in plant."""
    directory = SHIPPED / plant
    if not directory.exists():
        raise NotFoundError(f"no model is shipped for plant {plant!r}; train one: graphghha train --out DIR")
    return directory


def model_for_sites(plant: str) -> Path:
    """Return the shipped model for sites that nobody has simulated: the one that judges zones, where there is one."""
    zones = SHIPPED / f"{plant}-zones"
    return zones if zones.exists() else shipped_model(plant)
