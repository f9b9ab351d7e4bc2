"""A threshold from an alert budget: "at most B false alarms a day", found with the alarm logic the monitor runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.alarms import AlarmRule, GroupRule, Proximity, replay
from graphghha.errors import ConfigError, DataError, SchemaError
from graphghha.lab.metrics.events import DAY_S
from graphghha.windows import Fingerprint, Span, fingerprint

Recording = NDArray[np.floating[Any]]

FORMAT = "graphghha-threshold/1"


def _candidates() -> tuple[float, ...]:
    """From nearly sure down to a coin's tenth, evenly spaced in log-odds."""
    log_odds = np.linspace(9.2, -2.2, 58)
    return tuple((1.0 / (1.0 + np.exp(-log_odds))).tolist())


CANDIDATES = _candidates()


@dataclass(frozen=True, slots=True)
class Threshold:
    """The alarm rule that keeps a budget on validation data, and how it was found."""

    rule: AlarmRule
    budget_per_day: float
    false_alarms: int
    days: float
    curve: tuple[tuple[float, float], ...]  # (raise_at, false alarms per day), as tried, highest first
    seen: Fingerprint

    def to_dict(self) -> dict[str, Any]:
        fields = AlarmRule.__dataclass_fields__
        return {
            "format": FORMAT,
            "rule": {name: getattr(self.rule, name) for name in fields},
            "budget_per_day": self.budget_per_day,
            "false_alarms": self.false_alarms,
            "days": self.days,
            "curve": [list(point) for point in self.curve],
            "seen": self.seen.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise SchemaError(f"threshold: expected a JSON object with format {FORMAT!r}")
        try:
            return cls(
                AlarmRule(**data["rule"]),
                float(data["budget_per_day"]),
                int(data["false_alarms"]),
                float(data["days"]),
                tuple((float(at), float(rate)) for at, rate in data["curve"]),
                Fingerprint.from_dict(data["seen"]),
            )
        except (KeyError, TypeError, ValueError) as exc:
            raise SchemaError(f"threshold: a field is missing or does not fit: {exc}") from exc


def rule_at(rule: AlarmRule, raise_at: float) -> AlarmRule:
    """The same rule at another height; the clearing threshold keeps its share of the raising one."""
    return replace(rule, raise_at=raise_at, clear_at=rule.clear_at / rule.raise_at * raise_at)


def count_incidents(recordings: Sequence[Recording], near: Proximity, rule: AlarmRule, group_rule: GroupRule) -> int:
    """Announced incidents; on normal data every one of them is a false alarm."""
    found = (incident for probs in recordings for incident in replay(probs, near, rule, group_rule))
    return sum(incident.is_annunciated for incident in found)


def threshold_for_budget(
    recordings: Sequence[Recording],
    near: Proximity,
    rule: AlarmRule,
    group_rule: GroupRule,
    *,
    budget_per_day: float,
    step_s: float,
    spans: Sequence[Span],
    candidates: Sequence[float] = CANDIDATES,
    count_false: Callable[[AlarmRule], int] | None = None,
) -> Threshold:
    """The lowest candidate that keeps the budget and whose higher neighbours all keep it too.

    Recordings are attack probabilities [t s] on validation data: normal ones, where every incident is false, or
    any with `count_false` to tell how many are. Grouping makes the count not quite monotone in the threshold, so the
    search walks down from the top and stops at the first breach.
    """
    count_false = count_false or partial(count_incidents, recordings, near, group_rule=group_rule)
    if not budget_per_day > 0:
        raise ConfigError(f"alert budget {budget_per_day} per day must be positive")
    days = sum(len(probs) for probs in recordings) * step_s / DAY_S
    if days * budget_per_day < 1:
        raise DataError(
            f"alert budget: {days:.2f} days cannot tell {budget_per_day} false alarms a day from none; "
            f"give at least {1 / budget_per_day:.1f} days"
        )
    if not spans:
        raise DataError("alert budget: say which rows it is found on; the leak check needs them")
    best: tuple[AlarmRule, int] | None = None
    curve = []
    for raise_at in sorted(candidates, reverse=True):
        tried = rule_at(rule, raise_at)
        count = count_false(tried)
        curve.append((raise_at, count / days))
        if count > budget_per_day * days:
            break
        best = tried, count
    if best is None:
        raise DataError(
            f"alert budget: even raise_at {curve[0][0]:.5f} gives {curve[0][1]:.2f} false alarms a day on normal data; "
            "calibrate the model, lengthen the on-delay or raise the budget"
        )
    seen = fingerprint(spans, *recordings)
    return Threshold(best[0], budget_per_day, best[1], days, tuple(curve), seen)
