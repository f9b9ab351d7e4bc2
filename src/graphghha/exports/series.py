"""One point of an export: its readings with times in UTC, and what is known or guessed about it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha._util.times import iso
from graphghha.exports.naming import Kind
from graphghha.exports.notes import Guess, Omission
from graphghha.exports.reporting import Mode, Reporting


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """The readings of one point [n] in the order of time, in SI where the unit is known."""

    name: str
    file: Path
    column: str  # as the file names it
    times_ms: NDArray[np.int64]  # UTC
    values: NDArray[np.float64]
    unit: str | None  # of the values; None if nothing states it
    stated_unit: str | None  # as the file writes it
    kind: Kind
    reporting: Reporting
    states: tuple[str, ...] = ()  # states[code] is the word in the file
    resolution: float | None = None  # the step between values, in the unit of the values
    decimals: int | None = None  # after the point, as the file writes the values
    sentinels: tuple[float, ...] = ()  # values that mean "no sensor", as the file writes them
    guesses: tuple[Guess, ...] = ()
    omissions: tuple[Omission, ...] = ()

    def __len__(self) -> int:
        return len(self.times_ms)

    @property
    def is_dead(self) -> bool:
        """Whether the point has rows but no reading: a sensor that is not there."""
        return not len(self) and bool(self.omissions)

    @property
    def is_constant(self) -> bool:
        return len(self) > 0 and bool((self.values == self.values[0]).all())

    @property
    def holds(self) -> bool:
        """Whether silence means that the value is unchanged."""
        return self.reporting.mode in (Mode.COV, Mode.NONE)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the readings as JSON values."""
        return {
            "name": self.name,
            "file": str(self.file),
            "column": self.column,
            "readings": len(self),
            "from": iso(int(self.times_ms[0])) if len(self) else None,
            "to": iso(int(self.times_ms[-1])) if len(self) else None,
            "low": float(self.values.min()) if len(self) else None,
            "high": float(self.values.max()) if len(self) else None,
            "unit": self.unit,
            "stated_unit": self.stated_unit,
            "kind": self.kind.to_dict(),
            "reporting": str(self.reporting.mode),
            "step_s": None if self.reporting.step_ms is None else self.reporting.step_ms / 1000,
            "reporting_reason": self.reporting.reason,
            "states": list(self.states),
            "resolution": self.resolution,
            "sentinels": list(self.sentinels),
            "guesses": [guess.to_dict() for guess in self.guesses],
            "left_out": [omission.to_dict() for omission in self.omissions],
        }
