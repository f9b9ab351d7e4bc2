"""Export to ONNX: a file is kept only if its scores equal those of the model.

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
from graphghha.classes import CLASSES
from graphghha.engine.engine import Engine
from graphghha.engine.frozen import freeze
from graphghha.engine.opening import open_scorer, rebuild_rows
from graphghha.errors import EngineError
from graphghha.graph import CpsGraph, graph_to_dict
from graphghha.models import NETWORK_FILE, Model, load_model, write_manifest
from graphghha.windows import STEP_S

FORMAT = "graphghha-gateway/1"
LARGER = (2, 5)  # zones of the larger buildings that are checked
COMPARED_ROWS = 60  # the last rows, whose scores are compared
FAR_OFF = 50.0  # in units of the scaler: beyond every clip, as readings under attack may be
TOLERANCE = 1e-4  # of calibrated probabilities, since sums run in another order
NETWORK_TOLERANCE = 1e-5

try:
    import onnxruntime
    import torch

    from graphghha.engine.onnx.detector import DetectorModule
    from graphghha.engine.onnx.memory import MemoryPart
    from graphghha.engine.onnx.zone_detector import ZoneDetectorModule
    from graphghha.nn import adu_from_arrays
    from graphghha.nn.onnx import as_program, export_onnx
except (ImportError, EngineError) as exc:
    raise EngineError(f"export needs more packages ({exc}); run: pip install 'graphghha[onnx,edge]'") from exc


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What was written, and the largest difference of its scores from the model's."""

    path: str
    bytes: int
    zones: tuple[int, ...]  # sizes of the buildings it was checked on
    windows: int  # compared windows
    max_difference: float  # of probabilities

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def buildings_to_check(model: Model) -> tuple[tuple[int, int], ...]:
    """Return zones and rows of the buildings that an exported detector is checked on.

    One zone is checked until the longest windows are full, larger buildings for an hour. A model that was commissioned
    is checked on the zones of its site.
    """
    full = rebuild_rows(model) + COMPARED_ROWS
    own = _own_zones(model)
    return ((own, full),) if own else ((1, full), *((zones, COMPARED_ROWS) for zones in LARGER))


def _own_zones(model: Model) -> int | None:
    """Return the number of zones that a model is bound to; None if it serves any number."""
    zones = model.zone_preprocessing.levels.num_zones if model.judges_zones else 1
    return None if zones == 1 else zones


def export_detector(
    model: Model,
    path: Path,
    *,
    checked: Sequence[tuple[int, int]] = (),
    on_row: Callable[[], None] = lambda: None,
) -> ExportResult:
    """Write a whole detector as one file for onnxruntime: readings in, calibrated probabilities and alarms out.

    The file judges zones; the typical zone of a commissioned site, which shows what all zones do at once, is left out.
    """
    if model.judges_zones:
        model = replace(model, preprocessing=replace(model.zone_preprocessing, typical=None))
    checked = checked or buildings_to_check(model)
    partial = path.with_name(path.name + ".partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write_detector(model, partial)
        worst = check_detector(model, partial, checked, on_row=on_row)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    compared = sum(min(rows, COMPARED_ROWS) for _, rows in checked)
    return ExportResult(str(path), path.stat().st_size, tuple(zones for zones, _ in checked), compared, worst)


def check_detector(
    model: Model, path: Path, checked: Sequence[tuple[int, int]], *, on_row: Callable[[], None] = lambda: None
) -> float:
    """Return the largest difference of the file's probabilities from the model's; EngineError if it is too large."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    worst = max(_detector_difference(model, session, zones, rows, on_row) for zones, rows in checked)
    _check_tolerance(worst, TOLERANCE)
    return worst


def export_network(directory: Path) -> ExportResult:
    """Write the network into its model directory as model.onnx, for the onnx backend."""
    model = load_model(directory)
    path = directory / NETWORK_FILE
    partial = path.with_suffix(".partial")
    try:
        export_onnx(adu_from_arrays(model.template, model.adu_config, model.weights), partial)
        zones = (1, *LARGER)
        differences = [_network_difference(model, partial, model.template.replicate(count)) for count in zones]
        _check_tolerance(max(differences), NETWORK_TOLERANCE)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    write_manifest(directory)
    return ExportResult(str(path), path.stat().st_size, zones, len(zones), max(differences))


def _check_tolerance(worst: float, tolerance: float) -> None:
    if not worst <= tolerance:
        raise EngineError(
            f"export: probabilities differ from the model's by up to {worst:.1e}, more than {tolerance:.0e}; "
            "the file was not kept"
        )


def detector_module(model: Model) -> DetectorModule | ZoneDetectorModule:
    """Return the module that is exported for a model."""
    return ZoneDetectorModule(model) if model.judges_zones else DetectorModule(model)


def _write_detector(model: Model, path: Path) -> None:
    detector = detector_module(model).eval()
    # two zones, since the export would treat a size of 1 as a constant
    own = _own_zones(model)
    empty = _empty(model, own or 2)
    inputs = tuple(torch.from_numpy(array) for array in empty.values())
    zones = torch.export.Dim("zones")
    shapes = tuple({} if own else {0 if array.ndim == 2 else 1: zones} for array in empty.values())
    memory = [f"next_{part.name}" for part in detector.MEMORY]
    program = as_program(detector, inputs, list(empty), ["probabilities", "alarm", *memory], shapes)
    program.model.metadata_props.update({f"graphghha.{key}": json.dumps(data) for key, data in _about(model).items()})
    program.save(str(path))


def _about(model: Model) -> dict[str, Any]:
    """Return the metadata that a user without this package needs to feed the file and to read its outputs."""
    template = model.template
    return {
        "format": FORMAT,
        "version": __version__,
        "plant": model.plant,
        "judges": "zones" if model.judges_zones else "nodes",
        "step_s": STEP_S,
        "signals": list(template.point_signals),
        "nodes": list(template.names),
        "classes": list(CLASSES if model.judges_zones else freeze(model).classes),
        "memory": {part.name: [part.rows] for part in _memory(model)},
        "template": graph_to_dict(template),
        "scaler": model.scaler.to_dict(),
        "features": list(model.feature_names),
        **_about_site(model),
        "calibration": model.calibration.to_dict(),
        "thresholds": model.thresholds.to_dict(),
        "provenance": dict(model.provenance),
    }


def _about_site(model: Model) -> dict[str, Any]:
    """Return what features are measured against, or the site that it comes from."""
    if not model.judges_zones:
        return {"feature_norm": model.norm.to_dict()}
    record = model.commissioning
    return {"commissioning": record.to_dict() if record else None}


def _memory(model: Model) -> Sequence[MemoryPart]:
    return ZoneDetectorModule.MEMORY if model.judges_zones else DetectorModule.MEMORY


def _empty(model: Model, zones: int) -> dict[str, NDArray[Any]]:
    """Return the inputs of the first row, with an empty memory."""
    signals, nodes = model.expectation.num_signals, model.template.num_nodes
    row = {"readings": np.zeros((zones, signals)), "fresh": np.zeros((zones, signals), np.bool_)}
    return row | {part.name: part.empty(zones, signals, nodes) for part in _memory(model)}


def _detector_difference(
    model: Model, session: "onnxruntime.InferenceSession", zones: int, rows: int, on_row: Callable[[], None]
) -> float:
    """Return the largest difference from the scorer's probabilities, on readings in and beyond their usual range."""
    scorer = open_scorer(model, model.template.replicate(zones))
    values, fresh = _readings(model, zones, rows)
    wanted = np.arange(rows) >= rows - COMPARED_ROWS
    expected = scorer.push(values.reshape(rows, -1), fresh.reshape(rows, -1), wanted).probs
    inputs, worst = _empty(model, zones), 0.0
    names = [part.name for part in _memory(model)]
    for number in range(rows):
        inputs["readings"], inputs["fresh"] = values[number], fresh[number]
        probs, alarm, *memory = session.run(None, inputs)
        inputs.update(zip(names, memory, strict=True))
        if wanted[number]:
            want = expected[number - rows + len(expected)]
            worst = max(worst, _difference(probs.reshape(want.shape), want))
            _check_alarms(alarm.reshape(-1), probs.reshape(want.shape), model)
        on_row()
    return worst


def _readings(model: Model, zones: int, rows: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return random walks [r Z S] in SI units, which end with every third signal far off, and their freshness."""
    rng = np.random.default_rng(0)
    scale = model.scaler.columns(model.template.point_signals)
    shape = (rows, zones, len(scale.center))
    walk = rng.normal(0, 1, shape[1:]) + np.cumsum(rng.normal(0, 0.05, shape), axis=0)
    walk[-COMPARED_ROWS // 2 :, :, ::3] += FAR_OFF
    return scale.center + scale.scale * walk, rng.random(shape) > 0.02


def _check_alarms(alarm: NDArray[np.int8], probs: NDArray[np.float32], model: Model) -> None:
    """Raise EngineError if alarm flags do not follow from the probabilities."""
    attack = 1.0 - probs[:, 0].astype(np.float64)
    expected = np.where(np.isnan(attack), -1, attack >= model.thresholds.rule.raise_at)
    if (alarm != expected).any():
        raise EngineError("export: alarm flags do not follow from the probabilities; the file was not kept")


def _network_difference(model: Model, file: Path, graph: CpsGraph) -> float:
    frozen = freeze(model)
    exported = Engine(replace(frozen, onnx_file=file), graph, backend="onnx")
    if exported.backend != "onnx":
        raise EngineError(f"export: onnxruntime cannot run it: {exported.describe()['considered']['onnx']}")
    x = np.random.default_rng(0).normal(0, 2, (2, graph.num_nodes, frozen.in_features)).astype(np.float32)
    mask = np.random.default_rng(1).random((2, graph.num_nodes)) > 0.05
    return _difference(exported.score(x, mask), Engine(frozen, graph, backend="torch").score(x, mask))


def _difference(actual: NDArray[np.float32], expected: NDArray[np.float32]) -> float:
    """Return the largest difference, infinite if a node is unknown in only one of the two."""
    if (np.isnan(actual) != np.isnan(expected)).any():
        return float("inf")
    return float(np.nanmax(np.abs(actual - expected), initial=0.0))
