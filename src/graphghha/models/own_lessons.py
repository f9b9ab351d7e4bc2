"""The readings that a plant of the user's own was learned from, kept beside its model so that it can learn on.

Normal data and labelled attacks stay in when later days join them. Readings have 32 bits, as in a journal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from graphghha.exports.attack_labels import AttackEvent
from graphghha.exports.recordings import Recording

LESSONS_FILE = "lessons.safetensors"
MOST_CELLS = 50_000_000  # 200 MB; a model that learned from more keeps none of it, and cannot learn on


@dataclass(frozen=True, slots=True)
class Lessons:
    """Recordings one after the other, and the attacks in them."""

    values: NDArray[np.float32]  # [r p]
    times_ms: NDArray[np.int64]  # [r]
    lengths: NDArray[np.int64]  # of the recordings
    events: tuple[AttackEvent, ...] = ()

    @classmethod
    def of(cls, recordings: Sequence[Recording], events: Sequence[AttackEvent]) -> "Lessons | None":
        """Return what is kept of training data; None if they are too large."""
        if sum(each.values.size for each in recordings) > MOST_CELLS:
            return None
        return cls(
            np.concatenate([each.values.astype(np.float32) for each in recordings]),
            np.concatenate([each.times_ms for each in recordings]),
            np.array([len(each.times_ms) for each in recordings], np.int64),
            tuple(events),
        )

    def recordings(self) -> list[Recording]:
        """Return the recordings again."""
        ends = np.cumsum(self.lengths)
        return [
            Recording("learned before", (), self.times_ms[a:b], self.values[a:b].astype(np.float64))
            for a, b in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)
        ]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {"values": self.values, "times_ms": self.times_ms, "lengths": self.lengths}

    def events_to_list(self) -> list[list[Any]]:
        return [[e.recording, e.start, e.stop, list(e.nodes), e.attack_class] for e in self.events]

    @classmethod
    def read(cls, directory: Path, config: Mapping[str, Any]) -> Self | None:
        """Return the lessons of a verified model directory; None if it keeps none."""
        if not (directory / LESSONS_FILE).is_file():
            return None
        arrays = load_file(directory / LESSONS_FILE)
        events = [
            AttackEvent(int(recording), int(start), int(stop), tuple(map(str, nodes)), str(stated), "")
            for recording, start, stop, nodes, stated in config.get("lessons", ())
        ]
        return cls(arrays["values"], arrays["times_ms"], arrays["lengths"], tuple(events))
