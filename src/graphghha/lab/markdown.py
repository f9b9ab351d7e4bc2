"""What several results pages share."""

from collections.abc import Mapping, Sequence
from typing import Any

Result = Mapping[str, Any]


def of_paper(result: Result) -> bool:
    """Not of the deploy protocol, which the paper has no table of: `graphghha evaluate --out` writes its page."""
    return bool(result["config"].get("protocol") != "deploy")


def machine_line(result: Result) -> str:
    """Where and on what network a result was measured."""
    machine, config = result["machine"], result["config"]
    load = machine.get("load_average")
    busy = f" Load average of the machine when the run ended: {load[0]:g}; 1 is this run alone." if load else ""
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items() if version)
    return (
        f"Machine: {machine['cpu']}, {machine['cores']} cores ({', '.join(machine['features'])}); {machine['system']}; "
        f"{packages}. Network: {config['layers']} layers, {config['heads']} heads, width {config['width']}, MLP ratio "
        f"{config['mlp_ratio']:g}, {config['in_features']} features, {config['edges']} attended pairs in a zone.{busy}"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A Markdown table; None is an empty cell."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return lines + ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in rows]


def number(value: float | None, form: str = ".3f") -> str:
    """A figure, or nothing where it is not defined."""
    return "" if value is None else format(value, form)
