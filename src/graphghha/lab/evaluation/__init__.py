"""Evaluation: the report of a model on labelled data. Names load on first use, since most of them need torch."""

from typing import TYPE_CHECKING

from graphghha._util.lazy import lazy_names

if TYPE_CHECKING:
    from graphghha.lab.evaluation.evaluate import evaluate_model, evaluate_task, record_model
    from graphghha.lab.evaluation.protocols import DeployConfig, EvaluationTask, deploy_task, files_task
    from graphghha.lab.evaluation.report import without_nan
    from graphghha.lab.evaluation.shift import ShiftConfig, shift_rows
    from graphghha.lab.evaluation.site_trials import TrialConfig, trial_rows

_MODULES = {
    "DeployConfig": "protocols",
    "EvaluationTask": "protocols",
    "ShiftConfig": "shift",
    "TrialConfig": "site_trials",
    "deploy_task": "protocols",
    "evaluate_model": "evaluate",
    "evaluate_task": "evaluate",
    "files_task": "protocols",
    "record_model": "evaluate",
    "shift_rows": "shift",
    "trial_rows": "site_trials",
    "without_nan": "report",
}

__all__ = [
    "DeployConfig",
    "EvaluationTask",
    "ShiftConfig",
    "TrialConfig",
    "deploy_task",
    "evaluate_model",
    "evaluate_task",
    "files_task",
    "record_model",
    "shift_rows",
    "trial_rows",
    "without_nan",
]

__getattr__ = lazy_names(__name__, _MODULES)
