"""Benchmark results as JSON objects: how they are made, stored and read."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphghha._util.files import atomic_write
from graphghha.errors import DataError
from graphghha.lab.bench.harness import machine_info
from graphghha.lab.markdown import Result

_FIELDS = {"bench": str, "rows": list, "machine": dict, "config": dict}


def make_result(
    bench: str, config: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], **more: object
) -> dict[str, Any]:
    """Return the JSON object of a benchmark that ran on this machine."""
    return {"bench": bench, "machine": machine_info(), "config": dict(config), **more, "rows": list(rows)}


def write_result(result: Result, path: Path) -> None:
    """Store a result in one step, so that an interrupted run leaves no half of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, json.dumps(result, indent=1) + "\n")


def read_result(path: Path) -> Result:
    """Read a stored result: a JSON file, or the output of a command that ends in one JSON line."""
    text = path.read_text(encoding="utf-8", errors="replace")
    for part in (text, text.strip().rpartition("\n")[2]):
        try:
            value = json.loads(part)
        except ValueError:
            continue
        if isinstance(value, dict) and all(isinstance(value.get(name), kind) for name, kind in _FIELDS.items()):
            result: Result = value
            return result
    raise DataError(f"{path}: not a benchmark result; expected a JSON object with {', '.join(_FIELDS)}")


def is_paper_protocol(result: Result) -> bool:
    """Return False for results of the deploy protocol, of which the paper has no table."""
    return bool(result["config"].get("protocol") != "deploy")


def describe_machine(result: Result) -> str:
    """Return a paragraph on the machine, the packages and the network of a result."""
    machine, config = result["machine"], result["config"]
    load = machine.get("load_average")
    busy = f" Load average of the machine at the end of the run: {load[0]:g}; 1 is this run alone." if load else ""
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items() if version)
    return (
        f"Machine: {machine['cpu']}, {machine['cores']} cores ({', '.join(machine['features'])}); {machine['system']}; "
        f"{packages}. Network: {config['layers']} layers, {config['heads']} heads, width {config['width']}, MLP ratio "
        f"{config['mlp_ratio']:g}, {config['in_features']} features, {config['edges']} attended pairs in a zone.{busy}"
    )
