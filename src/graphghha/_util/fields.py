"""Checks for the fields of a JSON object. They raise a ValueError that names the field."""

import math
from collections.abc import Collection, Mapping
from typing import Any


def check_fields(data: Any, names: Collection[str]) -> None:
    """Raise unless `data` is an object with exactly the fields `names`."""
    if not isinstance(data, Mapping):
        raise ValueError(f"expected an object, got {type(data).__name__}")
    if missing := [name for name in names if name not in data]:
        raise ValueError(f"the field {missing[0]!r} is missing")
    if unknown := [name for name in data if name not in names]:
        raise ValueError(f"unknown field {unknown[0]!r}")


def number(name: str, value: Any) -> float:
    """Return `value` as a float if it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return float(value)


def whole_number(name: str, value: Any) -> int:
    """Return `value` if it is an integer."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    return value
