"""The model of a plant of the user's own, as a directory: verified on every load, never pickled. No torch.

| file | holds |
|---|---|
| plant.toml | the whole plant, as it was when the model was trained |
| scale, expectation, levels .safetensors | what is normal: ranges, expectations, levels of the statistics |
| model.safetensors, known_answer.safetensors | the network that names the node; a check of it |
| config.json | windows, threshold, network, budget and provenance |
| lessons.safetensors | the readings that it learned from, if they are not too many: it can learn on |
| README.md, manifest.json | the model card; SHA-256 of every file |
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from graphghha._util.fields import check_fields, number
from graphghha.classes import CLASSES
from graphghha.errors import CheckpointError, GraphGHHAError
from graphghha.models.directory import _MALFORMED, PLANT_FILE, replaced_directory
from graphghha.models.manifest import verify_manifest, write_manifest
from graphghha.models.own_lessons import LESSONS_FILE, Lessons
from graphghha.models.weights import check_network
from graphghha.plants import Plant, parse_plant
from graphghha.windows.own_features import OwnPreprocessing
from graphghha.windows.own_plan import OwnPlan

FORMAT = "graphghha-own-plant/1"
RAISE_AT = 0.9  # the probability at the threshold
CLEAR_AT = 0.5
P_IS = "tail"  # what the probability of such a model is: from the tail of normal scores, not from attacks
RETIRED = ("early",)  # of older model directories: a node that began late was ranked lower
_ARRAYS = ("scale", "expectation", "levels")


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeRule:
    """When a plant is in alarm and how its nodes are ranked."""

    threshold: float
    network: float = 0.0  # weight of the network beside the strength of the evidence
    tail: tuple[tuple[float, float], ...] = ()  # (score, share of normal rows at or above it), falling

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"tail": [list(point) for point in self.tail]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` writes; ValueError names the field that does not fit."""
        data = {name: value for name, value in data.items() if name not in RETIRED}
        check_fields(data, [field.name for field in fields(cls)])
        numbers = {name: number(name, data[name]) for name in ("threshold", "network")}
        tail = tuple((number("tail", score), number("tail", share)) for score, share in data["tail"])
        rule = cls(**numbers, tail=tail)
        if rule.threshold <= 0 or len(rule.tail) < 2:
            raise ValueError("threshold must be above 0, and tail needs two points at least")
        return rule

    def probability(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of an attack at a score, from the tail of normal scores.

        Odds are inverse to the share of normal rows that score as high, and nine to one at the threshold.
        """
        scores = np.array([each for each, _ in self.tail])
        shares = np.log(np.array([share for _, share in self.tail]))
        at_threshold = np.interp(self.threshold, scores, shares)
        beyond = np.maximum(score - scores[-1], 0.0)  # the tail is taken to fall on as it did at its end
        slope = (shares[-1] - shares[0]) / max(scores[-1] - scores[0], 1e-9)
        own = np.interp(score, scores, shares) + slope * beyond
        odds = np.log(RAISE_AT / (1 - RAISE_AT)) + at_threshold - own
        result: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.clip(odds, -50, 50)))
        # between two points of a flat tail the threshold itself decides
        result = np.where(score >= self.threshold, np.maximum(result, RAISE_AT), np.minimum(result, RAISE_AT - 1e-6))
        return result


@dataclass(frozen=True, kw_only=True, slots=True)
class Taught:
    """What labelled attacks taught the network: alarms of its own, and the classes of attacks."""

    rule: JudgeRule  # threshold and tail of the network's score
    classes: Mapping[str, str]  # of attacks on the nodes that were attacked; empty where labels state none

    def to_dict(self) -> dict[str, Any]:
        return {"rule": self.rule.to_dict(), "classes": dict(self.classes)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` writes; ValueError names what does not fit."""
        check_fields(data, ["rule", "classes"])
        classes = dict(data["classes"])
        if wrong := [each for each in classes.values() if each and each not in CLASSES[1:]]:
            raise ValueError(f"classes: {wrong[0]!r} is not one of {', '.join(CLASSES[1:])}")
        return cls(rule=JudgeRule.from_dict(data["rule"]), classes=classes)


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnModel:
    """Everything that scoring and alarms need."""

    plant: Plant
    preprocessing: OwnPreprocessing
    rule: JudgeRule
    adu_config: Mapping[str, Any]
    weights: Mapping[str, NDArray[Any]]
    known_answer: Mapping[str, NDArray[Any]]
    provenance: Mapping[str, Any]  # budget, normal days, what stands, ..
    card: str = ""
    taught: Taught | None = None  # None: no labelled attack was learned from
    lessons: Lessons | None = None  # the readings that it learned from, if they were loaded

    def __post_init__(self) -> None:
        check_network(self.adu_config, self.weights, len(set(self.plant.template.roles)))
        points = len(self.plant.template.points)
        if self.preprocessing.num_signals != points or len(self.preprocessing.expectation.neighbors) != points:
            raise CheckpointError(f"the arrays are not those of a plant with {points} signals")
        known = self.plant.template.names
        if self.taught and (foreign := [name for name in self.taught.classes if name not in known]):
            raise CheckpointError(f"config.json: the labels name {foreign[0]!r}, which is no node of the plant")

    @property
    def class_is(self) -> str:
        """Where the class of an alarm comes from: `by_label` (of nodes that labels name), or `by_kind` of the node."""
        return "by_label" if self.taught else "by_kind"


def is_own_model(directory: Path) -> bool:
    """Return whether a directory holds the model of a plant of the user's own."""
    return (directory / PLANT_FILE).is_file()


def save_own_model(model: OwnModel, directory: Path) -> None:
    """Write a model directory, replacing an older model in one step."""
    with replaced_directory(directory) as fresh:
        _write(model, fresh)


def _write(model: OwnModel, fresh: Path) -> None:
    (fresh / PLANT_FILE).write_text(model.plant.text, encoding="utf-8")
    arrays = {**model.preprocessing.to_arrays(), "model": model.weights, "known_answer": model.known_answer}
    if model.lessons is not None:
        arrays[LESSONS_FILE.removesuffix(".safetensors")] = model.lessons.to_arrays()
    for name, parts in arrays.items():
        plain = {key: np.ascontiguousarray(array) for key, array in parts.items()}
        (fresh / f"{name}.safetensors").write_bytes(save(plain))
    config = {
        "format": FORMAT,
        "plan": model.preprocessing.plan.to_dict(),
        "rule": model.rule.to_dict(),
        "adu": dict(model.adu_config),
        "provenance": dict(model.provenance),
        **({"taught": model.taught.to_dict()} if model.taught else {}),
        **({"lessons": model.lessons.events_to_list()} if model.lessons else {}),
    }
    (fresh / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    (fresh / "README.md").write_text(model.card or f"# A detector for {model.plant.name}\n", encoding="utf-8")
    write_manifest(fresh)


def load_own_model(directory: Path, *, with_lessons: bool = False) -> OwnModel:
    """Verify a model directory and read it, on request with the readings that it learned from."""
    verify_manifest(directory)
    try:
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        if config.get("format") != FORMAT:
            raise CheckpointError(f"config.json has format {config.get('format')!r}; this version reads {FORMAT!r}")
        arrays = {name: load_file(directory / f"{name}.safetensors") for name in _ARRAYS}
        return OwnModel(
            plant=parse_plant((directory / PLANT_FILE).read_text(encoding="utf-8"), PLANT_FILE),
            preprocessing=OwnPreprocessing.from_arrays(OwnPlan.from_dict(config["plan"]), arrays),
            rule=JudgeRule.from_dict(config["rule"]),
            adu_config=config["adu"],
            weights=load_file(directory / "model.safetensors"),
            known_answer=load_file(directory / "known_answer.safetensors"),
            provenance=config["provenance"],
            card=(directory / "README.md").read_text(encoding="utf-8"),
            taught=Taught.from_dict(config["taught"]) if "taught" in config else None,
            lessons=Lessons.read(directory, config) if with_lessons else None,
        )
    except (GraphGHHAError, OSError, SafetensorError, *_MALFORMED) as exc:
        raise CheckpointError(f"{directory}: {exc}") from exc
