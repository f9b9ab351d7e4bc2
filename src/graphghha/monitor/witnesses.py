"""Evidence is gathered after an alarm is decided: whatever fails meanwhile is noted, and the alarm is raised."""

import logging
from collections.abc import Callable, Iterable
from typing import Any

log = logging.getLogger(__name__)
MOST_REASON = 200  # characters
Items = list[dict[str, Any]]


def gather(witnesses: Iterable[Callable[[], Items]]) -> tuple[Items, str]:
    """Return what the witnesses give, and why some of them could not be heard (empty if all were)."""
    items: Items = []
    failed: list[str] = []
    for witness in witnesses:
        try:
            items += witness()
        except Exception as exc:  # memory, descriptors, imports, a damaged file: an alarm does not wait for any of them
            log.exception("evidence could not be gathered")
            failed.append(f"{type(exc).__name__}: {exc}"[:MOST_REASON])
    return items, "; ".join(dict.fromkeys(failed))
