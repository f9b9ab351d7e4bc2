"""The whole of `graphghha evaluate`: a model on data it has not seen, its rivals beside it, the report card on disk."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from graphghha.engine import EngineConfig
from graphghha.lab.baselines.suite import RivalConfig, Rivals
from graphghha.lab.evaluation.plain import without_nan
from graphghha.lab.evaluation.protocols import Trial, judge_trial, watch_trial
from graphghha.lab.evaluation.report import at_equal_price, baseline_row
from graphghha.lab.evaluation.report_page import write_card
from graphghha.lab.runs.recording import Recording

Say = Callable[[str], None]


def evaluate(
    trial: Trial,
    *,
    baselines: RivalConfig | None = None,
    work: Path | None = None,
    out: Path | None = None,
    price_per_day: float | None = None,
    say: Say = lambda text: None,
    on_day: Callable[[], None] = lambda: None,
    engine: EngineConfig = EngineConfig(),
) -> dict[str, Any]:
    """Findings ready for JSON. `work` keeps what the baselines learnt and said; without it that is thrown away.

    With baselines or a price, rows also say what a method finds for `price_per_day` false alarms; the price is
    otherwise what the model costs at its own threshold.
    """
    say("model: scoring")
    seen = watch_trial(trial, trial.runs, on_day=on_day, engine=engine)
    unseen = watch_trial(trial, trial.unseen, on_day=on_day, engine=engine)
    say("model: report card")
    found = {"model": trial.model.fingerprint, **judge_trial(trial, seen, unseen, price_per_day)}
    price = found["card"]["false_alarms_per_day"] if price_per_day is None else price_per_day
    if baselines:
        with TemporaryDirectory(prefix="graphghha-") as scratch:
            rivals = Rivals(trial.model, baselines, work or Path(scratch), say=say, on_day=on_day)
            _add_rivals(found, trial, seen, rivals, price, say)
    if baselines or price_per_day is not None:
        at_equal_price(found, price)
    answer: dict[str, Any] = without_nan(found)
    if out:
        say("figures")
        write_card(answer, out)
    return answer


def _add_rivals(
    found: dict[str, Any], trial: Trial, seen: list[Recording], rivals: Rivals, price: float, say: Say
) -> None:
    rivals.refuse_leaks([labelled.run for labelled in trial.runs])
    rules = rivals.rules
    say("baselines: scoring")
    for labelled in trial.runs:
        rivals.watch(labelled)
    for name, (rule, _) in rules.items():
        say(f"baseline {name}: report card")
        row, curve = baseline_row(
            [rivals.recording(name, labelled, like) for labelled, like in zip(trial.runs, seen, strict=True)],
            rule,
            rivals.group,
            method=name,
            protocol=trial.protocol,
            price_per_day=price,
        )
        found["rows"].append(row)
        found["curves"]["budget"][name] = curve
    found["baselines"] = {
        "config": asdict(rivals.config),
        "learnt_from": {name: getattr(rivals.recipe, name) for name in ("attacked_runs", "normal_runs")},
        "shares_validation": rivals.shares_validation,
        "budget_per_day": rivals.budget_per_day,
        "keeps_budget": {name: kept for name, (_, kept) in rules.items()},
        "raise_at": {name: rule.raise_at for name, (rule, _) in rules.items()},
    }
