"""Let the model of a plant of the user's own learn on: later rows that are not in alarm join what it learned from.

Everything is fitted again, the threshold included, with the same alert budget. What it learned from before stays in,
so that a model does not forget, and an attack on the days in between cannot make it forget.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._util.times import iso, parse_time_ms
from graphghha.engine.own_scorer import OwnScorer
from graphghha.errors import DataError
from graphghha.exports.recordings import Recording
from graphghha.lab.training.own_card import own_card
from graphghha.lab.training.own_train import OwnRecipe, fit_own_plant
from graphghha.models.own import RAISE_AT, OwnModel
from graphghha.windows import Rows

Bools = NDArray[np.bool_]
FALSE_ALARM = "false"
LEAST_QUIET = 0.25  # of the later rows: with fewer, most of the time is in alarm, and somebody should look first


def learn_on(
    model: OwnModel,
    later: Sequence[Recording],
    *,
    base: str = "",
    progress: Callable[[str], None] = lambda text: None,
) -> OwnModel:
    """Return a model that has learned from later recordings as well; `base` names the model it is derived from."""
    if model.lessons is None:
        raise DataError(
            f"the model of plant {model.plant.name!r} does not hold the readings that it learned from, so it cannot "
            "learn on; train it again on old and new files together"
        )
    if not later:
        raise DataError("there are no later rows to learn from")
    facts, plant = model.provenance, model.plant
    recipe = OwnRecipe(budget_per_day=facts["budget_per_day"], seed=facts["seed"])
    known = [*model.lessons.recordings(), *later]
    learned = fit_own_plant(plant, known, model.lessons.events, recipe, progress)
    rows = sum(len(each.times_ms) for each in later)
    record = {
        "base": base,
        "first": iso(min(int(each.times_ms[0]) for each in later)),
        "last": iso(max(int(each.times_ms[-1]) for each in later) + round(plant.step_s * 1000)),
        "later_days": rows * plant.step_s / 86_400,
        "threshold_before": model.rule.threshold,
    }
    learned = replace(learned, provenance={**learned.provenance, "learned_on": record})
    return replace(learned, card=own_card(learned))


def quiet_recordings(model: OwnModel, recordings: Sequence[Recording]) -> list[Recording]:
    """Return the stretches of recordings in which the model is not in alarm, nor shortly before or after."""
    found = []
    for recording in recordings:
        values = recording.values
        attack = OwnScorer(model).push(values, np.isfinite(values), np.ones(len(values), np.bool_)).attack
        found.append(np.nan_to_num(attack).max(axis=1) >= RAISE_AT)
    return _quiet(model, recordings, found)


def quiet_rows(model: OwnModel, rows: Rows, incidents: Iterable[Mapping[str, Any]]) -> list[Recording]:
    """Return the stretches of monitored rows without an incident; those that people called false alarms stay in."""
    hidden = np.zeros(len(rows), np.bool_)
    for body in incidents:
        if (body.get("disposition") or {}).get("is") != FALSE_ALARM:
            since, closed = parse_time_ms(body.get("since")), parse_time_ms(body.get("closed"))
            hidden |= (rows.times_ms >= (since or 0)) & (rows.times_ms <= (2**62 if closed is None else closed))
    values = np.where(rows.fresh, rows.values, np.nan).astype(np.float64)
    cuts = np.flatnonzero(np.diff(rows.times_ms) != round(model.plant.step_s * 1000)) + 1
    parts = np.split(np.arange(len(rows)), cuts)
    recordings = [Recording("journal", (), rows.times_ms[part], values[part]) for part in parts]
    return _quiet(model, recordings, [hidden[part] for part in parts])


def _quiet(model: OwnModel, recordings: Sequence[Recording], in_alarm: Sequence[Bools]) -> list[Recording]:
    plan = model.preprocessing.plan
    margin = 2 * plan.smooth * plan.stride
    found, rows = [], 0
    for recording, alarm in zip(recordings, in_alarm, strict=True):
        near = np.convolve(alarm, np.ones(2 * margin + 1), mode="same") > 0.5 if alarm.any() else alarm
        edges = np.flatnonzero(np.diff(np.concatenate([[False], ~near, [False]]).astype(np.int8)))
        for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            if stop - start > margin:
                times, values = recording.times_ms[start:stop], recording.values[start:stop]
                found.append(Recording(recording.name, recording.files, times, values))
                rows += stop - start
    total = sum(len(each.times_ms) for each in recordings)
    if rows < LEAST_QUIET * total:
        raise DataError(
            f"only {rows} of {total} later rows are quiet; find out what the alarms are about first, record which are "
            "false (`graphghha alarms dispose`), or train again"
        )
    return found
