"""Rows and scores of hours that are over, packed: rows by zone, so that one signal is read without all the others."""

import sqlite3
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import JournalError
from graphghha.monitor.journal.codec import pack_rows, pack_scores, pack_times, unpack_rows, unpack_scores

if TYPE_CHECKING:
    from graphghha.monitor.journal.journal import Commit

HOUR_MS = 3_600_000
MOST_BLOCKS = 600  # in one transaction; a journal of an older version is packed bit by bit


class Compaction:
    """Knows the zones of each site's points, and which hour of a site was packed last."""

    def __init__(self) -> None:
        self._parts: dict[str, list[slice]] = {}
        self._hour: dict[str, int] = {}  # of the newest row, when the site was last packed completely
        self._now: dict[str, int] = {}

    def set_points(self, site: str, points: list[str]) -> None:
        """Take the points of a site, in the order of its columns."""
        self._parts[site], self._hour[site] = zone_parts(points), -1

    def is_due(self, site: str, commit: "Commit") -> bool:
        """Return whether a commit begins an hour, so that those before it can be packed."""
        self._now[site] = int(commit.times_ms[-1]) // HOUR_MS
        return self._now[site] != self._hour.get(site)

    def run(self, connection: sqlite3.Connection, sites: list[str]) -> None:
        """Pack the rows and scores of sites from before the hour of their newest row."""
        for site in sites:
            self._run(connection, site)

    def _run(self, connection: sqlite3.Connection, site: str) -> None:
        before_ms = self._now[site] * HOUR_MS
        done = self._pack_rows(connection, site, before_ms) + _merge_scores(connection, site, before_ms)
        if not done:
            self._hour[site] = self._now[site]

    def _pack_rows(self, connection: sqlite3.Connection, site: str, before_ms: int) -> int:
        blocks = _blocks(connection, "rows", site, before_ms)
        times, values, packed = [], [], []
        width = None
        for first_ms, last_ms, count, data in blocks:
            try:
                block = unpack_rows(data, count)
            except JournalError:
                continue  # readers of it get an error
            if width not in (None, block.shape[1]):
                break  # the site has other points from here on
            width = block.shape[1]
            times.append(np.linspace(first_ms, last_ms, count).round().astype(np.int64))
            values.append(block)
            packed.append((site, first_ms))
        if not packed or width is None:
            return 0
        parts = self._parts.get(site, [])
        if not parts or parts[-1].stop != width:
            parts = [slice(0, width)]
        _insert_hours(connection, site, parts, np.concatenate(times), np.concatenate(values))
        connection.executemany("DELETE FROM rows WHERE site = ? AND first_ms = ?", packed)
        return len(packed)


def zone_parts(points: list[str]) -> list[slice]:
    """Return the columns of each zone; points are named `zone/role`, and those of a zone lie side by side."""
    parts, first = [], 0
    for _, zone in groupby(points, key=lambda point: point.rpartition("/")[0]):
        count = len(list(zone))
        parts.append(slice(first, first + count))
        first += count
    return parts


def _insert_hours(
    connection: sqlite3.Connection,
    site: str,
    parts: list[slice],
    times: NDArray[np.int64],
    values: NDArray[np.float32],
) -> None:
    edges = np.flatnonzero(np.diff(times // HOUR_MS)) + 1
    for rows in np.split(np.arange(len(times)), edges):
        moments, packed_times = times[rows], pack_times(times[rows])
        for number, part in enumerate(parts):
            connection.execute(
                "INSERT OR REPLACE INTO hours VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    site,
                    number,
                    int(moments[0]),
                    int(moments[-1]),
                    len(parts),
                    packed_times,
                    pack_rows(values[rows][:, part]),
                ),
            )


def _merge_scores(connection: sqlite3.Connection, site: str, before_ms: int) -> int:
    """Merge the blocks of each hour into one."""
    packed = 0
    blocks = _blocks(connection, "scores", site, before_ms, "AND last_ms - first_ms < 1800000")
    for _, group in groupby(blocks, key=lambda block: block[0] // HOUR_MS):
        hour = list(group)
        if len(hour) < 2:
            continue
        try:
            parts = [unpack_scores(data, count) for _, _, count, data in hour]
            times = np.concatenate([each for each, _ in parts])
            data = pack_scores(times, np.concatenate([scores for _, scores in parts]))
        except (JournalError, ValueError):  # damaged, or of another graph
            continue
        connection.executemany(
            "DELETE FROM scores WHERE site = ? AND first_ms = ?", [(site, first_ms) for first_ms, *_ in hour]
        )
        block = (site, hour[0][0], hour[-1][1], len(times), data)
        connection.execute("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?)", block)
        packed += len(hour)
    return packed


def _blocks(
    connection: sqlite3.Connection, table: str, site: str, before_ms: int, where: str = ""
) -> list[tuple[int, int, int, bytes]]:
    query = (
        f"SELECT first_ms, last_ms, count, data FROM {table} WHERE site = ? AND last_ms < ? {where} "
        "ORDER BY first_ms LIMIT ?"
    )
    return connection.execute(query, (site, before_ms, MOST_BLOCKS)).fetchall()
