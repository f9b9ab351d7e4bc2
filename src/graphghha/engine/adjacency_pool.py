"""Neighbour rows that change in place: a pool in which every node owns a stretch that may move when it outgrows it.

s nodes in use, of a larger capacity.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class RowPool:
    """Rows of node numbers as the arrays `start`, `degree`, `idx`; writing one row costs its length."""

    def __init__(self, capacity: int, pool: int) -> None:
        self.start = np.zeros(capacity, np.int64)
        self.degree = np.zeros(capacity, np.int32)
        self._room = np.zeros(capacity, np.int32)  # length of each row's stretch
        self.idx = np.zeros(max(1, pool), np.int32)
        self._end = 0
        self.max_degree = 1  # never shrinks: scratch memory is sized by it

    def __getitem__(self, node: int) -> NDArray[np.int32]:
        return self.idx[self.start[node] : self.start[node] + self.degree[node]]

    def write(self, node: int, row: list[int]) -> None:
        if len(row) > self._room[node]:
            self._move(node, 2 * len(row))
        self.degree[node] = len(row)
        self[node][:] = row
        self.max_degree = max(self.max_degree, len(row))

    def _move(self, node: int, room: int) -> None:
        if self._end + room > len(self.idx):
            self._compact(room)
        self.start[node], self._room[node] = self._end, room
        self._end += room

    def _compact(self, room: int) -> None:
        """Close the holes that moved rows left and double the pool: seldom, so writing stays cheap on average."""
        used = np.flatnonzero(self._room).tolist()
        idx = np.zeros(2 * (int(self._room[used].sum()) + room), np.int32)
        end = 0
        for node in used:
            row = self[node]
            idx[end : end + len(row)] = row
            self.start[node] = end
            end += int(self._room[node])
        self.idx, self._end = idx, end

    def grow(self, capacity: int) -> None:
        self.start, self.degree, self._room = (grown(a, capacity) for a in (self.start, self.degree, self._room))


def grown(array: NDArray[Any], capacity: int) -> NDArray[Any]:
    """The same values with room for more."""
    out = np.zeros(capacity, array.dtype)
    out[: len(array)] = array
    return out
