"""What a model knows about deciding at a site: limits for thresholds, and the record of a commissioning."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from graphghha._util.fields import check_fields, number, whole_number
from graphghha.errors import SchemaError

LIMITS_FORMAT = "graphghha-limits/1"
RECORD_FORMAT = "graphghha-commissioning/1"
DAYS_PER_ATTACK = 10.0  # of a zone: the rate of attacks for which probabilities are calibrated


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Limits for the threshold of a site, in log-odds of a zone, found on random validation buildings.

    A budget on a site's own two weeks alone is exceeded later, hence the floor. Attacks during these weeks would raise
    the threshold at will, hence the cap.
    """

    floor: float
    cap: float
    shipped: float  # the threshold of a site that is not commissioned
    budget_per_day: float  # episodes per 12 zones that a site's threshold may allow on its own days
    set_share: float  # the set of suspects: nodes with at least this share of the probability
    coverage: float  # how often that set holds the attacked node, for the kinds of attacks that were taught
    false_low: float  # false alarms a day, per 12 zones, in the quieter and in
    false_high: float  # the less quiet of the validation buildings after commissioning

    def __post_init__(self) -> None:
        if not (-20 < self.floor <= self.cap < 30 and -20 < self.shipped < 30):
            given = f"floor {self.floor}, cap {self.cap} and shipped {self.shipped}"
            raise SchemaError(f"limits: {given} must lie between -20 and 30, with the floor at most the cap")
        if not (0 < self.set_share <= 1 and 0 < self.coverage < 1 and self.budget_per_day > 0):
            raise SchemaError("limits: set_share, coverage and budget_per_day must be positive, shares at most 1")

    def clamp(self, threshold: float) -> float:
        """Return a site's threshold within floor and cap."""
        return min(max(threshold, self.floor), self.cap)

    def to_dict(self) -> dict[str, Any]:
        """Return what limits.json holds."""
        return {"format": LIMITS_FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read what `to_dict` writes; SchemaError names the field that does not fit."""
        names = [each.name for each in fields(cls)]
        try:
            check_fields(data, ("format", *names))
            if data["format"] != LIMITS_FORMAT:
                raise ValueError(f"it has format {data['format']!r}, but this version reads {LIMITS_FORMAT!r}")
            return cls(**{name: number(name, data[name]) for name in names})
        except (ValueError, TypeError) as exc:
            raise SchemaError(f"limits: {exc}") from exc


@dataclass(frozen=True, kw_only=True, slots=True)
class StandingFault:
    """A zone that looked abnormal to the shipped levels for a part of the commissioning, and its leading node."""

    zone: str
    node: str
    share_of_time: float

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read one entry of a record."""
        return cls(
            zone=str(data["zone"]),
            node=str(data["node"]),
            share_of_time=number("share_of_time", data["share_of_time"]),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CommissioningRecord:
    """Where the levels of a commissioned model come from, and what was found on the way."""

    base: str  # fingerprint of the model it was derived from
    data: str  # SHA-256 of the file with the site's days, or where else they come from
    first: str  # ISO time of the first and the last row
    last: str
    days: int  # that hold usable readings
    zones: tuple[str, ...]
    threshold: float  # in log-odds of a zone
    own_threshold: float  # what the site's own days asked for, before floor and cap
    expected_false_per_day: tuple[float, float]
    standing: tuple[StandingFault, ...] = ()  # for much of the time
    left_out: tuple[StandingFault, ...] = ()  # for a time that the levels were not learned from
    missing_points: tuple[str, ...] = ()  # without a usable reading in these days
    reporting: Mapping[str, str] | None = None  # signal -> how it is reported, in words
    out_of_limits: Mapping[str, int] = field(default_factory=dict)  # point -> readings that were rejected
    short_zones: Mapping[str, int] = field(default_factory=dict)  # zones heard on too few days -> on how many

    def to_dict(self) -> dict[str, Any]:
        """Return what commissioning.json holds."""
        return {"format": RECORD_FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read what `to_dict` writes; SchemaError names the field that does not fit."""
        try:
            data = {"left_out": [], "out_of_limits": {}, "short_zones": {}, **data}  # as in records of version 0.1
            check_fields(data, ("format", *(each.name for each in fields(cls))))
            if data["format"] != RECORD_FORMAT:
                raise ValueError(f"it has format {data['format']!r}, but this version reads {RECORD_FORMAT!r}")
            low, high = (number("expected_false_per_day", each) for each in data["expected_false_per_day"])
            return cls(
                base=str(data["base"]),
                data=str(data["data"]),
                first=str(data["first"]),
                last=str(data["last"]),
                days=whole_number("days", data["days"]),
                zones=tuple(map(str, data["zones"])),
                threshold=number("threshold", data["threshold"]),
                own_threshold=number("own_threshold", data["own_threshold"]),
                expected_false_per_day=(low, high),
                standing=tuple(map(StandingFault.from_dict, data["standing"])),
                left_out=tuple(map(StandingFault.from_dict, data["left_out"])),
                missing_points=tuple(map(str, data["missing_points"])),
                reporting=dict(data["reporting"]) if data["reporting"] is not None else None,
                out_of_limits=_counts(data["out_of_limits"]),
                short_zones=_counts(data["short_zones"]),
            )
        except (KeyError, ValueError, TypeError) as exc:
            raise SchemaError(f"commissioning record: {exc}") from exc


def _counts(data: Mapping[str, Any]) -> dict[str, int]:
    return {str(name): whole_number(name, count) for name, count in data.items()}
