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

    A change of these numbers may silence alarms, so somebody should have asked for it.
    """
    old, new = before.numbers, after.numbers
    changed = {name: [old.get(name), new.get(name)] for name in {**old, **new} if old.get(name) != new.get(name)}
    priority = "high" if changed else "low" if before.model == after.model else "medium"
    return {
        "model": after.model,
        "was": before.model,
        "changed": changed,
        "signed_by": after.signed_by,
        "priority": priority,
    }
