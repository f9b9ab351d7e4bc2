"""The alarm rule: attack probabilities in, alarms raised and cleared out. Pure: no clock, no I/O.

Time is counted in steps, one per call. Every field of a state has the shape of the probabilities: `()` for one
node, `[s]` for a plant, `[c s]` for c candidate thresholds evaluated at once.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphghha.errors import ConfigError

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

MOST_CLEAR_AFTER = 10_080  # steps: a week of minutes
NONE = -1  # stands for a step that has not happened


@dataclass(frozen=True, kw_only=True, slots=True)
class AlarmRule:
    """When an alarm is raised and when it clears.

    An alarm is raised when `votes` of the last `window` known probabilities are at or above `raise_at` (on-delay). It
    clears after `clear_after` known probabilities in a row below `clear_at` (off-delay).
    """

    raise_at: float = 0.9
    clear_at: float = 0.5  # below raise_at: the gap is the hysteresis
    votes: int = 3
    window: int = 5
    clear_after: int = 10

    def __post_init__(self) -> None:
        if not 0.0 < self.raise_at <= 1.0:
            raise ConfigError(f"alarm.raise_at {self.raise_at} must lie above 0 and not above 1")
        if not 0.0 < self.clear_at < self.raise_at:
            raise ConfigError(f"alarm.clear_at {self.clear_at} must lie above 0 and below raise_at {self.raise_at}")
        if not 1 <= self.votes <= self.window <= 64:
            raise ConfigError(f"alarm: {self.votes} votes of {self.window} readings; use 1 <= votes <= window <= 64")
        if not 1 <= self.clear_after <= MOST_CLEAR_AFTER:
            raise ConfigError(f"alarm.clear_after {self.clear_after} must be at least 1 and at most {MOST_CLEAR_AFTER}")


@dataclass(frozen=True, slots=True)
class AlarmState:
    """The state of every node's alarm. A node without a reading so far is unknown, not normal."""

    step: int  # steps so far
    active: Bools
    votes: NDArray[np.uint64]  # bit i: the probability i known readings ago was at or above raise_at
    quiet: Ints  # known readings in a row below clear_at
    silent: Ints  # unknown readings in a row
    onset: Ints  # step of the first vote of the present run of votes, or NONE

    @classmethod
    def start(cls, shape: int | tuple[int, ...] = ()) -> Self:
        """Return the state before the first step: everything is unknown."""

        def whole(value: int) -> Ints:
            return np.full(shape, value, np.int64)

        return cls(0, np.zeros(shape, np.bool_), np.zeros(shape, np.uint64), whole(0), whole(1), whole(NONE))

    @property
    def unknown(self) -> Bools:
        """Return which nodes had no number in the last step. An active alarm stays active meanwhile."""
        unknown: Bools = np.asarray(self.silent > 0)
        return unknown

    @property
    def is_idle(self) -> bool:
        """Return whether no alarm and no vote exists: readings below `raise_at` then change nothing but `unknown`."""
        return not (self.active.any() or self.votes.any())


@dataclass(frozen=True, slots=True)
class AlarmTransitions:
    """Which nodes changed in this step."""

    raised: Bools
    cleared: Bools
    lost: Bools  # known before, unknown now
    regained: Bools  # unknown before, known now

    def __bool__(self) -> bool:
        return any(bool(np.any(f)) for f in (self.raised, self.cleared, self.lost, self.regained))


def advance(state: AlarmState, probs: ArrayLike, rule: AlarmRule) -> tuple[AlarmState, AlarmTransitions]:
    """Take one attack probability per node and return the next state and what changed; NaN means unknown.

    An unknown probability neither raises nor clears. Votes are kept over at most a window of unknown steps and
    forgotten after that; the off-delay starts again after an unknown step.
    """
    probs = np.asarray(probs, np.float64)
    known = np.isfinite(probs)
    silent = np.where(known, 0, state.silent + 1)

    shifted = (state.votes << np.uint64(1) | (probs >= rule.raise_at)) & _mask(rule.window)
    votes = np.where(known, shifted, state.votes)
    votes = np.where(silent >= rule.window, np.uint64(0), votes)
    raised = ~state.active & (np.bitwise_count(votes) >= rule.votes)

    quiet = np.where(state.active & known & (probs < rule.clear_at), state.quiet + 1, 0)
    cleared = quiet >= rule.clear_after
    active = (state.active | raised) & ~cleared
    votes = np.where(cleared, np.uint64(0), votes)
    quiet = np.where(cleared, 0, quiet)

    onset = np.where((votes != 0) & (state.onset == NONE), state.step, state.onset)
    onset = np.where(active | (votes != 0), onset, NONE)
    after = AlarmState(state.step + 1, active, votes, quiet, silent, onset)
    return after, AlarmTransitions(raised, cleared, ~known & (state.silent == 0), known & (state.silent > 0))


def _mask(window: int) -> Any:
    return np.uint64(2**window - 1)
