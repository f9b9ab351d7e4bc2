"""Parts that several generated pages share: tables, numbers, and the machine of a result."""

from collections.abc import Mapping, Sequence
from typing import Any

Result = Mapping[str, Any]


def of_paper(result: Result) -> bool:
    """Return whether a result belongs to a table of the paper; those of the deploy protocol do not."""
    return bool(result["config"].get("protocol") != "deploy")


def machine_line(result: Result) -> str:
    """Return a sentence about the machine and the network that a result was measured on."""
    machine, config = result["machine"], result["config"]
    load = machine.get("load_average")
    busy = f" Load average when the run ended: {load[0]:g} (this run alone gives 1)." if load else ""
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items() if version)
    return (
        f"Machine: {machine['cpu']}, {machine['cores']} cores ({', '.join(machine['features'])}); {machine['system']}; "
        f"{packages}. Network: {config['layers']} layers, {config['heads']} heads, width {config['width']}, MLP ratio "
        f"{config['mlp_ratio']:g}, {config['in_features']} features, {config['edges']} attended pairs in a zone.{busy}"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return the lines of a Markdown table; None becomes an empty cell."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return lines + ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in rows]


def number(value: float | None, form: str = ".3f") -> str:
    """Return a formatted figure, or an empty text for None."""
    return "" if value is None else format(value, form)
