"""The region of a plant whose times state how far its clock is from UTC, such as `2024-03-10T03:00:00-05:00`.

The times are clear without it. But labels and schedules are by the clock on the wall, which changes in spring.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphghha.exports.times import NO_TIME, Order, TimeFields, possible_orders
from graphghha.exports.zones import HOUR_MS, REGIONS, is_zone, offset_ms, zone_offset_ms


def stated_offsets(fields: TimeFields) -> list[tuple[int, int]]:
    """Return times in UTC and their distances from UTC, of the texts that state one in digits."""
    orders = possible_orders(fields) or [(Order.YEAR_FIRST, "")]
    local = fields.local_ms(orders[0][0])
    digits = [zone_offset_ms(text) if any(mark.isdigit() for mark in text) else None for text in fields.zones]
    pairs = [(int(ms), digits[zone]) for ms, zone in zip(local.tolist(), fields.zone.tolist(), strict=True)]
    return [(ms - offset, offset) for ms, offset in pairs if offset is not None and ms != NO_TIME]


def region_of_offsets(pairs: Sequence[tuple[int, int]]) -> tuple[str, str] | None:
    """Return a common region whose clock has these distances from UTC at these times, and the reason; None for UTC."""
    found: NDArray[np.int64] = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    if not len(found) or not found[:, 1].any():
        return None
    changes = np.flatnonzero(np.diff(found[:, 1])) + 1
    rows = np.unique(np.concatenate([[0], changes - 1, changes, [len(found) - 1]]).astype(np.int64))
    wanted = [tuple(row) for row in found[rows].tolist()]
    shown = " and ".join(dict.fromkeys(_hours(offset) for _, offset in wanted))
    for region in REGIONS:
        if all(offset_ms(region, utc_ms) == offset for utc_ms, offset in wanted):
            return region, f"times state {shown}, as its clocks show then; correct `zone` if the plant is elsewhere"
    offset = wanted[0][1]
    fixed = f"Etc/GMT{-offset // HOUR_MS:+d}"
    if len({offset for _, offset in wanted}) == 1 and offset % HOUR_MS == 0 and is_zone(fixed):
        return fixed, f"times state {shown}"
    return None


def _hours(offset: int) -> str:
    return f"{'-' if offset < 0 else '+'}{abs(offset) // HOUR_MS:02d}:{abs(offset) % HOUR_MS // 60_000:02d}"
