"""Evaluation: the report of a model on labelled data. Names load on first use, since most of them need torch."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphghha.lab.evaluation.evaluate import evaluate_model, evaluate_task, record_model
    from graphghha.lab.evaluation.protocols import DeployConfig, EvaluationTask, deploy_task, files_task
    from graphghha.lab.evaluation.report import without_nan
    from graphghha.lab.evaluation.shift import ShiftConfig, shift_rows

_HOMES = {
    "DeployConfig": "protocols",
    "EvaluationTask": "protocols",
    "ShiftConfig": "shift",
    "deploy_task": "protocols",
    "evaluate_model": "evaluate",
    "evaluate_task": "evaluate",
    "files_task": "protocols",
    "record_model": "evaluate",
    "shift_rows": "shift",
    "without_nan": "report",
}

__all__ = [
    "DeployConfig",
    "EvaluationTask",
    "ShiftConfig",
    "deploy_task",
    "evaluate_model",
    "evaluate_task",
    "files_task",
    "record_model",
    "shift_rows",
    "without_nan",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
