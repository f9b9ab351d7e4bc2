"""Readings that were not used, by point or by the sender's name, with one example each."""

import numpy as np
from numpy.typing import NDArray

from graphghha.sources.base import Refused, Rejection

MOST_NAMES = 200  # of one batch: a flood of names must not fill the memory; `Batch.rejected` counts all
LONGEST_NAME = 200  # characters kept of a sender's name
LONGEST_EXAMPLE = 40

Key = tuple[int | str, Rejection]  # a column of the site, or a name that leads to none


class RefusalCounter:
    """Collects refusals until `take` hands them over."""

    def __init__(self) -> None:
        self._counts: dict[Key, int] = {}
        self._examples: dict[Key, object] = {}

    def add(self, key: int | str, reason: Rejection, example: object = "", count: int = 1) -> None:
        """Count readings of a column, or of a name that leads to no column."""
        where = key if isinstance(key, int) else key[:LONGEST_NAME], reason
        if where not in self._counts and isinstance(key, str) and len(self._counts) >= MOST_NAMES:
            return
        self._counts[where] = self._counts.get(where, 0) + count
        self._examples[where] = example

    def add_columns(
        self, columns: NDArray[np.integer], raw: NDArray[np.float64], chosen: NDArray[np.bool_], reason: Rejection
    ) -> None:
        """Count the chosen ones of single readings [n], as they came from the sender."""
        if not chosen.any():
            return
        for column in np.unique(columns[chosen]).tolist():
            values = raw[chosen & (columns == column)]
            self.add(column, reason, f"{values[-1]:g}", len(values))

    def take(self) -> dict[Key, Refused]:
        """Return what was collected, and start over."""
        counts, self._counts = self._counts, {}
        examples, self._examples = self._examples, {}
        return {key: Refused(count, str(examples[key])[:LONGEST_EXAMPLE]) for key, count in counts.items()}
