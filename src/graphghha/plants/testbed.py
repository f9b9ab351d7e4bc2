"""What a testbed returns for training and evaluation: telemetry with its ground truth, day by day."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphghha.plants.base import CaseSpec

NO_EVENT = -1


@dataclass(frozen=True, slots=True)
class LabelledDay:
    """One day with its ground truth: m minutes, Z zones, S signals and n nodes in the order of the template."""

    times: NDArray[np.datetime64]  # [m]
    values: NDArray[np.floating[Any]]  # [m Z S], SI; the last value reported, NaN where it is unknown
    attack_class: NDArray[np.uint8]  # [m Z n] index into CLASSES; 0 is normal
    event: NDArray[np.int16]  # [m Z n] number of the case specification, or NO_EVENT
    observable: NDArray[np.bool_]  # [m Z n] attacked, and some signal of the zone shows it
    recovering: NDArray[np.bool_]  # [m Z] the attack is over, but its effects are still observable


class Testbed(Protocol):
    """A plant that can be attacked in simulation."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """The names of its buildings: the reference first, then those that differ from it in one way each."""

    @property
    def mechanisms(self) -> Mapping[str, float]:
        """The mechanisms of its generic attacks, `generic:MECHANISM:SEED`, and how often each is drawn."""

    @property
    def power_signals(self) -> tuple[str, ...]:
        """The names of the signals that `power` is computed from."""

    def power(self, values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """Return the power [m Z] in kW that zones take, from readings [m Z S]; NaN where one of them is unknown."""

    def points_of(self, building: str) -> tuple[str, ...]:
        """Return the signals that a building reports; a site need not have all of them."""

    def run(
        self,
        *,
        zones: int,
        days: int,
        start: datetime,
        seed: int,
        cases: Sequence[CaseSpec] = (),
        nominal: bool = False,
        building: str = "reference",
        observe: str = "bms",
    ) -> Iterator[LabelledDay]:
        """Simulate a building day by day; the same arguments give the same bytes.

        `nominal` zones are all the reference unit, as in the data the paper used; else each zone differs. `building` is
        a condition by name or the seed of a random building; `observe` is how its telemetry is reported.
        """
