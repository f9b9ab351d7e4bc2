"""Evaluate a model: score labelled runs, compute the report, compare with baselines, write the report page."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.engine import AnyScorer, EngineConfig
from graphghha.lab.baselines import BaselineConfig, BaselineSuite
from graphghha.lab.baselines.suite import check_can_be_compared
from graphghha.lab.evaluation.model_card import card_figures, model_card
from graphghha.lab.evaluation.protocols import DeployConfig, EvaluationTask, deploy_task, files_task
from graphghha.lab.evaluation.report import add_equal_false_alarms, baseline_row, build_report, without_nan
from graphghha.lab.evaluation.report_page import write_report
from graphghha.lab.runs import LabelledRun, Recording, record
from graphghha.lab.style import require_matplotlib
from graphghha.models import load_model, save_model

TIMED_ROWS, WARM_UP_ROWS = 200, 20


def evaluate_model(
    directory: Path,
    data: Path | None = None,
    config: DeployConfig | None = None,
    *,
    baselines: BaselineConfig | None = None,
    work: Path | None = None,
    out: Path | None = None,
    write_card: bool = False,
    progress: Callable[[str], None] = lambda line: None,
    on_start: Callable[[int], None] = lambda days: None,
    on_day: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Evaluate a model directory on labelled telemetry or, without `data`, on the buildings of the deploy protocol.

    With `write_card` the report card goes into README and card.json of the model directory. `on_start` is called with
    the number of days to score.
    """
    if out:
        require_matplotlib()  # now, and not after an hour of work
    model = load_model(directory)
    task = files_task(model, data) if data else deploy_task(model, config or DeployConfig())
    on_start(task.total_days)
    report = evaluate_task(task, baselines=baselines, work=work, out=out, progress=progress, on_day=on_day)
    if write_card:
        save_model(replace(model, card=model_card(model, report), figures=card_figures(report)), directory)
    return report


def evaluate_task(
    task: EvaluationTask,
    *,
    baselines: BaselineConfig | None = None,
    work: Path | None = None,
    out: Path | None = None,
    false_alarm_rate: float | None = None,
    engine: EngineConfig = EngineConfig(),
    progress: Callable[[str], None] = lambda line: None,
    on_day: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Return the report as data that JSON can hold. `work` caches the fitted baselines and their scores.

    With baselines or a `false_alarm_rate` (false alarms a day), every row also states what its method detects at that
    rate. The default rate is that of the model at its own threshold.
    """
    if baselines:
        check_can_be_compared(task.model)  # now, and not after the scoring
    progress("model: scoring")
    recordings = record_model(task, task.runs, engine=engine, on_day=on_day)
    unseen = record_model(task, task.unseen, engine=engine, on_day=on_day)
    progress("model: report card")
    report = {"model": task.model.fingerprint, **model_report(task, recordings, unseen, false_alarm_rate)}
    rate = report["card"]["false_alarms_per_day"] if false_alarm_rate is None else false_alarm_rate
    if baselines:
        with TemporaryDirectory(prefix="graphghha-") as scratch:
            suite = BaselineSuite(task.model, baselines, work or Path(scratch), progress=progress, on_day=on_day)
            _add_baselines(report, task, recordings, suite, rate, progress)
    if baselines or false_alarm_rate is not None:
        add_equal_false_alarms(report, rate)
    plain: dict[str, Any] = without_nan(report)
    if out:
        progress("figures")
        write_report(plain, out)
    return plain


def record_model(
    task: EvaluationTask,
    runs: Sequence[LabelledRun],
    *,
    engine: EngineConfig = EngineConfig(),
    on_day: Callable[[], None] = lambda: None,
) -> list[Recording]:
    """Score some runs with the model of the task."""
    return [record(task.plant, each, task.open_scorer(each, engine), on_day=on_day) for each in runs]


def model_report(
    task: EvaluationTask,
    recordings: Sequence[Recording],
    unseen: Sequence[Recording],
    false_alarm_rate: float | None = None,
) -> dict[str, Any]:
    """Return the report on the model; the recordings of unseen cases are reported separately."""
    thresholds = task.model.thresholds
    names: dict[str, Any] = {"method": task.method, "protocol": task.protocol}
    report = {"config": task.config} | build_report(
        recordings, thresholds, **names, held_out=task.held_out, false_alarm_rate=false_alarm_rate
    )
    if unseen:
        separate = build_report(unseen, thresholds, **names, held_out={}, with_budget=False)
        report["unseen_cases"] = {
            key: separate[key] for key in ("card", "families", "cases", "confusion", "attacks", "alarms", "buildings")
        }
    first = task.runs[0]
    values = next(iter(first.days())).values
    report["latency"] = measure_latency(task.open_scorer(first), values.reshape(len(values), -1))
    return report


def measure_latency(scorer: AnyScorer, values: NDArray[Any]) -> dict[str, Any]:
    """Time single rows of readings [r p] to calibrated probabilities, as a live monitor scores them."""
    wanted, took_ms = np.ones(1, np.bool_), []
    for number in range(WARM_UP_ROWS + TIMED_ROWS):
        row = values[number % len(values)][None]
        fresh = np.isfinite(row)
        started = time.perf_counter()
        scorer.push(row, fresh, wanted)
        took_ms.append((time.perf_counter() - started) * 1e3)
    p50, p99 = np.quantile(took_ms[WARM_UP_ROWS:], [0.5, 0.99]).tolist()
    return {
        "nodes": scorer.num_nodes,
        "rows": TIMED_ROWS,
        "p50_ms": p50,
        "p99_ms": p99,
        "backend": scorer.engine.backend,
    }


def _add_baselines(
    report: dict[str, Any],
    task: EvaluationTask,
    recordings: Sequence[Recording],
    suite: BaselineSuite,
    false_alarm_rate: float,
    progress: Callable[[str], None],
) -> None:
    suite.check_leaks([labelled.run for labelled in task.runs])
    rules = suite.rules
    progress("baselines: scoring")
    for labelled in task.runs:
        suite.record(labelled)
    for name, (rule, _) in rules.items():
        progress(f"baseline {name}: report card")
        row, curve = baseline_row(
            [suite.recording(name, labelled, like) for labelled, like in zip(task.runs, recordings, strict=True)],
            replace(task.model.thresholds, rule=rule),
            method=name,
            protocol=task.protocol,
            false_alarm_rate=false_alarm_rate,
        )
        report["rows"].append(row)
        report["curves"]["budget"][name] = curve
    report["baselines"] = _describe(suite)


def _describe(suite: BaselineSuite) -> Mapping[str, Any]:
    return {
        "config": asdict(suite.config),
        "learnt_from": {name: getattr(suite.recipe, name) for name in ("attacked_runs", "normal_runs")},
        "shares_validation": suite.shares_validation,
        "budget_per_day": suite.budget_per_day,
        "keeps_budget": {name: kept for name, (_, kept) in suite.rules.items()},
        "raise_at": {name: rule.raise_at for name, (rule, _) in suite.rules.items()},
    }
