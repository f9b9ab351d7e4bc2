"""Figures as JSON can carry them."""

import math
from typing import Any


def without_nan(data: Any) -> Any:
    """The same data with None where a figure is not defined: JSON knows no NaN."""
    if isinstance(data, dict):
        return {key: without_nan(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [without_nan(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
