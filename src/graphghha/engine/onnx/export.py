"""A model as ONNX, checked against the model itself before the file gets its name.

Z zones, S signals of the template, s nodes of a building.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._version import __version__
from graphghha.engine.engine import Engine
from graphghha.engine.frozen import freeze
from graphghha.engine.scorer import Scorer
from graphghha.errors import EngineError
from graphghha.graph import CpsGraph, graph_to_dict
from graphghha.models import NETWORK_FILE, Model, load_model, write_manifest
from graphghha.windows import FEATURE_NAMES, STEP_S

FORMAT = "graphghha-gateway/1"
# Long windows are full only after three days: one zone goes through them all, the others through the first hour.
CHECKED = ((1, 4400), (2, 60), (5, 60))  # zones, rows
COMPARED_ROWS = 60  # the newest
FAR_OFF = 50.0  # units of the scaler: beyond every clip, as an attack may be
TOLERANCE = 1e-4  # of calibrated probabilities; sums run in another order
NETWORK_TOLERANCE = 1e-5

try:
    import onnxruntime
    import torch

    from graphghha.engine.onnx.detector import INPUTS, OUTPUTS, RESIDUAL_ROWS, VALUE_ROWS, Gateway
    from graphghha.nn.onnx import as_program, export_onnx
except (ImportError, EngineError) as exc:
    raise EngineError(f"export needs more packages ({exc}); run: pip install 'graphghha[onnx,edge]'") from exc


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and how far its scores are from the model's."""

    path: str
    bytes: int
    zones: tuple[int, ...]  # buildings it was checked on
    windows: int  # that were compared
    max_difference: float  # of probabilities

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def export_gateway(
    model: Model,
    path: Path,
    *,
    checked: Sequence[tuple[int, int]] = CHECKED,
    on_row: Callable[[], None] = lambda: None,
) -> Exported:
    """Readings in, calibrated probabilities and alarms out: everything of a model in one file for onnxruntime."""
    partial = path.with_name(path.name + ".partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write_gateway(model, partial)
        worst = check_gateway(model, partial, checked, on_row=on_row)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    compared = sum(min(rows, COMPARED_ROWS) for _, rows in checked)
    return Exported(str(path), path.stat().st_size, tuple(zones for zones, _ in checked), compared, worst)


def check_gateway(
    model: Model, path: Path, checked: Sequence[tuple[int, int]] = CHECKED, *, on_row: Callable[[], None] = lambda: None
) -> float:
    """Largest difference of the file's probabilities to the model's; EngineError when they are not the same."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    worst = max(_gateway_difference(model, session, zones, rows, on_row) for zones, rows in checked)
    _refuse(worst, TOLERANCE)
    return worst


def export_network(directory: Path) -> Exported:
    """The network alone into its model directory, for the engine's onnx backend: no torch, no compiler."""
    model = load_model(directory)
    path = directory / NETWORK_FILE
    partial = path.with_suffix(".partial")
    try:
        export_onnx(Gateway(model).adu, partial)
        differences = [_network_difference(model, partial, model.template.replicate(zones)) for zones, _ in CHECKED]
        _refuse(max(differences), NETWORK_TOLERANCE)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    write_manifest(directory)
    zones = tuple(zones for zones, _ in CHECKED)
    return Exported(str(path), path.stat().st_size, zones, len(CHECKED), max(differences))


def _refuse(worst: float, tolerance: float) -> None:
    if not worst <= tolerance:
        raise EngineError(
            f"export: probabilities differ from the model's by up to {worst:.1e}, more than {tolerance:.0e}; "
            "the file is not kept"
        )


def _write_gateway(model: Model, path: Path) -> None:
    gateway = Gateway(model).eval()
    # two zones: an export must not mistake a size for a constant 1
    inputs = tuple(torch.from_numpy(array) for array in _empty(model, 2).values())
    zones = torch.export.Dim("zones")
    shapes = ({0: zones}, {0: zones}, {1: zones}, {1: zones}, {1: zones})
    program = as_program(gateway, inputs, INPUTS, OUTPUTS, shapes)
    program.model.metadata_props.update({f"graphghha.{key}": json.dumps(data) for key, data in _about(model).items()})
    program.save(str(path))


def _about(model: Model) -> dict[str, Any]:
    """What a reader without this package needs to feed the file and to read its answers."""
    template = model.template
    return {
        "format": FORMAT,
        "version": __version__,
        "plant": model.plant,
        "step_s": STEP_S,
        "signals": list(template.point_signals),
        "nodes": list(template.names),
        "classes": list(freeze(model).classes),
        "memory": {name: list(array.shape[:1]) for name, array in _empty(model, 1).items() if name in INPUTS[2:]},
        "template": graph_to_dict(template),
        "scaler": model.scaler.to_dict(),
        "features": list(FEATURE_NAMES),
        "feature_norm": model.norm.to_dict(),
        "calibration": model.calibration.to_dict(),
        "thresholds": model.thresholds.to_dict(),
        "provenance": dict(model.provenance),
    }


def _empty(model: Model, zones: int) -> dict[str, NDArray[Any]]:
    """The inputs of a first row, before anything is known."""
    row = (zones, model.expectation.num_signals)
    arrays = (
        np.zeros(row),
        np.zeros(row, np.bool_),
        np.zeros((VALUE_ROWS, *row), np.float32),
        np.zeros((RESIDUAL_ROWS, *row), np.float32),
        np.zeros((RESIDUAL_ROWS, *row), np.bool_),
    )
    return dict(zip(INPUTS, arrays, strict=True))


def _gateway_difference(
    model: Model, session: "onnxruntime.InferenceSession", zones: int, rows: int, on_row: Callable[[], None]
) -> float:
    """Largest difference of probabilities to the scorer, on readings that wander through and past their usual range."""
    scorer = Scorer(model, model.template.replicate(zones))
    values, fresh = _readings(model, zones, rows)
    wanted = np.arange(rows) >= rows - COMPARED_ROWS
    expected = scorer.push(values.reshape(rows, -1), fresh.reshape(rows, -1), wanted).probs
    inputs, worst = _empty(model, zones), 0.0
    for number in range(rows):
        inputs["readings"], inputs["fresh"] = values[number], fresh[number]
        probs, alarm, *memory = session.run(list(OUTPUTS), inputs)
        inputs.update(zip(INPUTS[2:], memory, strict=True))
        if wanted[number]:
            want = expected[number - rows + len(expected)]
            worst = max(worst, _difference(probs.reshape(want.shape), want))
            _check_alarms(alarm.reshape(-1), probs.reshape(want.shape), model)
        on_row()
    return worst


def _readings(model: Model, zones: int, rows: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """[r Z S] random walks in SI that end with every third signal far off, and which of them arrived."""
    rng = np.random.default_rng(0)
    scale = model.scaler.columns(model.template.point_signals)
    shape = (rows, zones, len(scale.center))
    walk = rng.normal(0, 1, shape[1:]) + np.cumsum(rng.normal(0, 0.05, shape), axis=0)
    walk[-COMPARED_ROWS // 2 :, :, ::3] += FAR_OFF
    return scale.center + scale.scale * walk, rng.random(shape) > 0.02


def _check_alarms(alarm: NDArray[np.int8], probs: NDArray[np.float32], model: Model) -> None:
    attack = 1.0 - probs[:, 0].astype(np.float64)
    expected = np.where(np.isnan(attack), -1, attack >= model.thresholds.rule.raise_at)
    if (alarm != expected).any():
        raise EngineError("export: alarm flags do not follow from the probabilities; the file is not kept")


def _network_difference(model: Model, file: Path, graph: CpsGraph) -> float:
    frozen = freeze(model)
    exported = Engine(replace(frozen, onnx_file=file), graph, backend="onnx")
    if exported.backend != "onnx":
        raise EngineError(f"export: onnxruntime cannot run it: {exported.describe()['considered']['onnx']}")
    x = np.random.default_rng(0).normal(0, 2, (2, graph.num_nodes, frozen.in_features)).astype(np.float32)
    mask = np.random.default_rng(1).random((2, graph.num_nodes)) > 0.05
    return _difference(exported.score(x, mask), Engine(frozen, graph, backend="torch").score(x, mask))


def _difference(found: NDArray[np.float32], expected: NDArray[np.float32]) -> float:
    """Infinite when one of them knows a node that the other does not."""
    if (np.isnan(found) != np.isnan(expected)).any():
        return float("inf")
    return float(np.nanmax(np.abs(found - expected), initial=0.0))
