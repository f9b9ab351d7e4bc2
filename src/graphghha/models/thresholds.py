"""Thresholds: the alarm and incident rules a model is shipped with, and the search that found them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from graphghha._util.fields import check_fields, number, whole_number
from graphghha.alarms import AlarmRule, BuildingRule, GroupRule
from graphghha.errors import ConfigError, SchemaError
from graphghha.windows import Fingerprint

FORMAT = "graphghha-threshold/1"
HIGHEST_RAISE_AT = 0.99995  # the search tries up to 0.9999; above that nothing would ever be raised


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetSearch:
    """How an alarm rule was found: the false alarms of every `raise_at` that was tried on validation data."""

    budget_per_day: float  # false alarms that are allowed
    false_alarms: int  # of the chosen rule
    days: float  # of validation data
    curve: tuple[tuple[float, float], ...]  # (raise_at, false alarms per day), as tried, highest first
    seen: Fingerprint

    def to_dict(self) -> dict[str, Any]:
        return {
            "budget_per_day": self.budget_per_day,
            "false_alarms": self.false_alarms,
            "days": self.days,
            "curve": [list(point) for point in self.curve],
            "seen": self.seen.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the fields that `to_dict` writes; ValueError names the one that does not fit."""
        search = cls(
            budget_per_day=number("budget_per_day", data["budget_per_day"]),
            false_alarms=whole_number("false_alarms", data["false_alarms"]),
            days=number("days", data["days"]),
            curve=tuple((number("curve", at), number("curve", rate)) for at, rate in data["curve"]),
            seen=Fingerprint.from_dict(data["seen"]),
        )
        if search.budget_per_day <= 0 or search.days <= 0 or search.false_alarms < 0:
            raise ValueError("budget_per_day and days must be positive, false_alarms not negative")
        return search


@dataclass(frozen=True, kw_only=True, slots=True)
class Thresholds:
    """When a node is in alarm and how alarms form incidents. Without a `search` the rules are defaults, not fitted."""

    rule: AlarmRule = AlarmRule()
    group: GroupRule = GroupRule()
    search: BudgetSearch | None = None

    @property
    def budget_per_day(self) -> float:
        """The false alarms per day that the rule was fitted to."""
        if self.search is None:
            raise ConfigError("the model has no alert budget: its thresholds were never fitted; train it again")
        return self.search.budget_per_day

    def to_dict(self) -> dict[str, Any]:
        """Return what thresholds.json holds."""
        rule, group = asdict(self.rule), asdict(self.group)
        if self.group.building is None:
            del group["building"]  # files of models without it stay as they are
        if self.search is None:
            return {"rule": rule, "group": group}
        return {"format": FORMAT, "rule": rule, **self.search.to_dict(), "group": group}

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read what `to_dict` writes; SchemaError names the field that is missing, unknown or out of range."""
        try:
            fitted = isinstance(data, Mapping) and "format" in data
            searched = ("format", *(field.name for field in fields(BudgetSearch))) if fitted else ()
            check_fields(data, ("rule", "group", *searched))
            if fitted and data["format"] != FORMAT:
                raise ValueError(f"it has format {data['format']!r}, but this version reads {FORMAT!r}")
            search = BudgetSearch.from_dict(data) if fitted else None
            return cls(rule=_alarm_rule(data["rule"]), group=_group_rule(data["group"]), search=search)
        except (ConfigError, SchemaError, ValueError, TypeError, OverflowError) as exc:
            raise SchemaError(f"thresholds: {exc}") from exc


def _alarm_rule(data: Any) -> AlarmRule:
    check_fields(data, [field.name for field in fields(AlarmRule)])
    if HIGHEST_RAISE_AT < (raise_at := number("rule.raise_at", data["raise_at"])) <= 1.0:
        raise ValueError(f"rule.raise_at {raise_at:g} would never raise an alarm; use at most {HIGHEST_RAISE_AT}")
    return AlarmRule(
        raise_at=raise_at,
        clear_at=number("rule.clear_at", data["clear_at"]),
        votes=whole_number("rule.votes", data["votes"]),
        window=whole_number("rule.window", data["window"]),
        clear_after=whole_number("rule.clear_after", data["clear_after"]),
    )


def _group_rule(data: Any) -> GroupRule:
    has_building = isinstance(data, Mapping) and "building" in data
    names = [field.name for field in fields(GroupRule) if field.name != "building"]
    check_fields(data, [*names, "building"] if has_building else names)
    numbers = {name: whole_number(f"group.{name}", data[name]) for name in names}
    return GroupRule(**numbers, building=_building_rule(data["building"]) if has_building else None)


def _building_rule(data: Any) -> BuildingRule:
    check_fields(data, [field.name for field in fields(BuildingRule)])
    return BuildingRule(
        zones=whole_number("group.building.zones", data["zones"]),
        share=number("group.building.share", data["share"]),
        within=whole_number("group.building.within", data["within"]),
    )
