"""A model that is about to replace another one: loaded beside the loop, and described by what it changes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphghha.monitor.detector import Detector
from graphghha.monitor.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A detector with windows filled up to a time, or the reason why the model is refused."""

    directory: Path
    detector: Detector | None = None
    pipeline: Pipeline | None = None
    until_ms: int | None = None  # plant time of the newest row in the windows
    reason: str = ""


def describe_swap(before: Detector, after: Detector) -> dict[str, Any]:
    """Return the body of the event: what decides about alarms and is another number now, as [before, after].

    A change of these numbers may silence alarms, so somebody should have asked for it. A model that this monitor has
    adapted to the site changes them within the limits of the model it was derived from.
    """
    old, new = before.numbers, after.numbers
    changed = {name: [old.get(name), new.get(name)] for name in {**old, **new} if old.get(name) != new.get(name)}
    priority = "low" if before.model == after.model or after.is_own else "high" if changed else "medium"
    return {
        "model": after.model,
        "was": before.model,
        "changed": changed,
        "signed_by": after.signed_by,
        "priority": priority,
    }


def describe_commissioning(detector: Detector) -> dict[str, Any]:
    """Return the body of the event: what the site's own days taught, and what stands out in them."""
    record = dict(detector.commissioning or {})
    return {
        "model": detector.model,
        **{name: record.get(name) for name in ("first", "last", "days", "threshold", "expected_false_per_day")},
        "standing": record.get("standing"),
        "missing_points": len(record.get("missing_points") or ()),
        "priority": "medium" if record.get("standing") else "low",
    }
