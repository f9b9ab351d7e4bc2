"""Markdown tables and figures of generated pages."""

from collections.abc import Mapping, Sequence
from typing import Any

Result = Mapping[str, Any]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return the lines of a Markdown table; None gives an empty cell."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return lines + ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in rows]


def number(value: float | None, form: str = ".3f") -> str:
    """Return a formatted figure, or an empty text for None."""
    return "" if value is None else format(value, form)
