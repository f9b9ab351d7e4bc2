"""An attacker on readings: hides an ongoing attack by what the nodes he holds report.

The attacker knows the model, its levels at the site, the defence and all readings. He may report anything within the
range of an instrument for the nodes that he holds, from the onset of the attack on, and cannot change other nodes.
Gradient descent through the front end of the model looks for the path that lowers the zone's highest score.

T rows of the window, S signals, k held ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from graphghha.lab.bench.detection.recorded_zone import RecordedZone
from graphghha.lab.bench.detection.zone_defences import Defence, Views

KNOT_ROWS = 15  # of the slow part of a path; the fast part changes from row to row
FAST = 0.1  # how large the fast part is against the slow one
ROUNDS = 2  # the expectation of one held signal depends on the others


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """How hard the attacker tries."""

    steps: int = 60
    learning_rate: float = 0.08  # in units of the scaler


@dataclass(frozen=True)
class Target:
    """A zone under attack: as a commissioned model sees it, and as its base model does."""

    commissioned: RecordedZone
    shipped: RecordedZone | None
    shipped_offset: float
    limits: Tensor  # [S 2] ranges of the instruments, SI
    whole: Tensor  # [S] signals that are whole numbers
    signal_nodes: tuple[int, ...]  # the node of every signal

    def views(self, readings: Tensor) -> Views:
        """Return the zone with these readings [T S]."""
        views = [
            (zone.front_end, *zone.features(readings)) for zone in (self.commissioned, self.shipped) if zone is not None
        ]
        return Views(views[0], views[1] if len(views) > 1 else None, self.shipped_offset)

    @property
    def readings(self) -> Tensor:
        """The readings [T S] of the attack that is to be hidden."""
        return self.commissioned.readings


def rank_signals(target: Target, defence: Defence) -> list[int]:
    """Return the signals by how much the score depends on their readings, in units of the scaler, strongest first."""
    readings = target.readings.clone().requires_grad_(True)
    (gradient,) = torch.autograd.grad(_height(defence(target.views(readings), ())), readings)
    strength = (gradient * target.commissioned.front_end.scale).nan_to_num().abs().sum(dim=0)
    return [int(at) for at in strength.argsort(descending=True)]


def hide(target: Target, defence: Defence, held: Sequence[int], effort: Effort) -> Tensor:
    """Return readings [T S] in which those of the held signals make the zone's highest score as low as possible."""
    columns = list(held)
    nodes = [target.signal_nodes[at] for at in columns]
    best, lowest = target.readings, float("inf")
    for start in (target.readings, _as_expected(target, columns)):
        path = _Path(target, start, columns)
        optimizer = torch.optim.Adam([path.slow, path.fast], lr=effort.learning_rate)
        for _ in range(effort.steps):
            readings = path.readings()
            height = _height(defence(target.views(readings), nodes))
            if float(height.detach()) < lowest:
                best, lowest = readings.detach(), float(height.detach())
            optimizer.zero_grad()
            height.backward()
            optimizer.step()
    return _possible(target, best, columns)


class _Path:
    """What the held signals report: a start plus a slow and a fast part, within the limits of the instruments."""

    def __init__(self, target: Target, start: Tensor, columns: list[int]) -> None:
        rows = len(start)
        self._start, self._columns = start, columns
        self._scale = target.commissioned.front_end.scale[columns]
        self._low, self._high = target.limits[columns].T
        self._rows = rows
        self.slow = torch.zeros(2 + rows // KNOT_ROWS, len(columns), requires_grad=True)
        self.fast = torch.zeros(rows, len(columns), requires_grad=True)

    def readings(self) -> Tensor:
        slow = torch.nn.functional.interpolate(self.slow.T[None], size=self._rows, mode="linear", align_corners=True)[
            0
        ].T
        moved = self._start[:, self._columns] + (slow + FAST * self.fast).double() * self._scale
        return self._start.index_copy(1, torch.tensor(self._columns), moved.clamp(self._low, self._high))


def _height(odds: Tensor) -> Tensor:
    """Return a smooth maximum over the rows."""
    return odds.logsumexp(dim=0)


def _as_expected(target: Target, columns: list[int]) -> Tensor:
    """Return readings in which the held signals read what the model expects, with the noise of the hours before."""
    zone, readings = target.commissioned, target.readings
    with torch.no_grad():
        noise = zone.usual_error()[:, columns]
        for _ in range(ROUNDS):
            wanted = zone.expected(readings)[:, columns] + noise
            readings = readings.index_copy(1, torch.tensor(columns), wanted)
            readings = _possible(target, readings, columns)
    return readings


def _possible(target: Target, readings: Tensor, columns: list[int]) -> Tensor:
    """Return readings whose held signals are within the limits of the instruments, and whole where they must be."""
    low, high = target.limits[columns].T
    own = readings[:, columns].clamp(low, high)
    own = torch.where(target.whole[columns], own.round(), own)
    own = torch.where(target.readings[:, columns].isfinite(), own, target.readings[:, columns])
    return readings.index_copy(1, torch.tensor(columns), own)
