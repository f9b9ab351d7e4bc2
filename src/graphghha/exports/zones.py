"""Time zones: what the letters behind a time mean, and local times with summer time turned into UTC."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import numpy as np
from numpy.typing import NDArray

from graphghha._util.suggest import did_you_mean
from graphghha.errors import ConfigError
from graphghha.exports.times import NO_TIME

HOUR_MS = 3_600_000
DAY_MS = 86_400_000

# abbreviation -> hours from UTC, and a region with that clock. Letters with several meanings, such as IST, are absent.
_ABBREVIATIONS = {
    **{name: (0.0, "UTC") for name in ("Z", "UTC", "UT")},
    "GMT": (0.0, "Europe/London"),
    "BST": (1.0, "Europe/London"),
    "WET": (0.0, "Europe/Lisbon"),
    "WEST": (1.0, "Europe/Lisbon"),
    **{name: (1.0, "Europe/Berlin") for name in ("CET", "MEZ")},
    **{name: (2.0, "Europe/Berlin") for name in ("CEST", "MESZ")},
    "EET": (2.0, "Europe/Helsinki"),
    "EEST": (3.0, "Europe/Helsinki"),
    "MSK": (3.0, "Europe/Moscow"),
    "NST": (-3.5, "America/St_Johns"),
    "NDT": (-2.5, "America/St_Johns"),
    "EST": (-5.0, "America/New_York"),
    "EDT": (-4.0, "America/New_York"),
    "CST": (-6.0, "America/Chicago"),
    "CDT": (-5.0, "America/Chicago"),
    "MST": (-7.0, "America/Denver"),
    "MDT": (-6.0, "America/Denver"),
    "PST": (-8.0, "America/Los_Angeles"),
    "PDT": (-7.0, "America/Los_Angeles"),
    "AKST": (-9.0, "America/Anchorage"),
    "AKDT": (-8.0, "America/Anchorage"),
    "HST": (-10.0, "Pacific/Honolulu"),
    "JST": (9.0, "Asia/Tokyo"),
    "KST": (9.0, "Asia/Seoul"),
    "SGT": (8.0, "Asia/Singapore"),
    "HKT": (8.0, "Asia/Hong_Kong"),
    "SAST": (2.0, "Africa/Johannesburg"),
    "AWST": (8.0, "Australia/Perth"),
    "ACST": (9.5, "Australia/Adelaide"),
    "ACDT": (10.5, "Australia/Adelaide"),
    "AEST": (10.0, "Australia/Sydney"),
    "AEDT": (11.0, "Australia/Sydney"),
    "NZST": (12.0, "Pacific/Auckland"),
    "NZDT": (13.0, "Pacific/Auckland"),
}
REGIONS = tuple(dict.fromkeys(region for _, region in _ABBREVIATIONS.values() if region != "UTC"))
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?")


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the clock: at this UTC time the distance from UTC goes from `before_ms` to `after_ms`."""

    utc_ms: int
    before_ms: int
    after_ms: int

    @property
    def is_back(self) -> bool:
        """Whether the clock is put back, so that an hour of local time comes twice."""
        return self.after_ms < self.before_ms


@dataclass(frozen=True, slots=True)
class LocalClock:
    """A local clock. `shift_ms` is added to the result: a zone that is known but for its distance from UTC has one."""

    zone: str
    shift_ms: int = 0

    def to_utc(
        self, local_ms: NDArray[np.int64], points: NDArray[np.int32] | None = None
    ) -> tuple[NDArray[np.int64], "ClockReport"]:
        """Return UTC times of local times [n] in the order of the file, and what happened at changes of the clock.

        `points` [n] tells the rows of several points apart: each has an hour that comes twice of its own.
        """
        known = local_ms != NO_TIME
        if not known.any():
            return local_ms, ClockReport()
        first, last = int(local_ms[known].min()), int(local_ms[known].max())
        changes = clock_changes(self.zone, first - 2 * DAY_MS, last + 2 * DAY_MS)
        offsets = np.full(len(local_ms), offset_ms(self.zone, first - 2 * DAY_MS), np.int64)
        doubled = missing = 0
        for change in changes:
            late = known & (local_ms >= change.utc_ms + change.before_ms)
            offsets[late] = change.after_ms
            if change.is_back:
                start, end = change.utc_ms + change.after_ms, change.utc_ms + change.before_ms
                inside = known & (local_ms >= start) & (local_ms < end)
                offsets[inside] = change.before_ms
                for own in _each_point(inside, points):
                    offsets[_second_pass(local_ms, own)] = change.after_ms
                doubled += int(inside.sum())
            else:
                start, end = change.utc_ms + change.before_ms, change.utc_ms + change.after_ms
                missing += int((known & (local_ms >= start) & (local_ms < end)).sum())
        inside_span = tuple(c for c in changes if first < c.utc_ms + c.after_ms and c.utc_ms + c.before_ms < last)
        utc = np.where(known, local_ms - offsets + self.shift_ms, NO_TIME)
        return utc, ClockReport(doubled, missing, inside_span)


@dataclass(frozen=True, slots=True)
class ClockReport:
    """What happened at changes of a local clock."""

    doubled: int = 0  # readings in an hour that comes twice
    missing: int = 0  # readings in an hour that does not exist
    changes: tuple[Change, ...] = ()  # inside the span of the readings


def _each_point(inside: NDArray[np.bool_], points: NDArray[np.int32] | None) -> list[NDArray[np.int64]]:
    """Return the rows of a doubled hour, those of each point apart."""
    rows = np.flatnonzero(inside)
    if points is None:
        return [rows]
    return [rows[points[rows] == point] for point in np.unique(points[rows]).tolist()]


def _second_pass(local_ms: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which of the rows of a doubled hour belong to its second pass.

    In a file in the order of time the clock steps back between the passes. In a file that was sorted by local time
    both readings of a time stand side by side. A file with the newest reading first is looked at from its end.
    """
    if len(rows) < 2:
        return rows[:0]
    ordered = rows[::-1] if np.median(np.diff(local_ms[rows])) < 0 else rows
    steps = np.diff(local_ms[ordered])
    back = np.flatnonzero(steps < 0)
    if len(back):
        return ordered[back[0] + 1 :]
    return ordered[1:][steps == 0] if (steps == 0).sum() >= len(rows) // 3 else rows[:0]


def zone_offset_ms(text: str) -> int | None:
    """Return the distance from UTC that the letters or digits behind a time state, or None if they are unknown."""
    if not text:
        return None
    if text.upper() in _ABBREVIATIONS:
        return round(_ABBREVIATIONS[text.upper()][0] * HOUR_MS)
    if match := _OFFSET.fullmatch(text):
        sign = -1 if match[1] == "-" else 1
        return sign * (int(match[2]) * HOUR_MS + int(match[3] or 0) * 60_000)
    return None


def zone_region(text: str) -> str | None:
    """Return a region whose clock shows this abbreviation, or None."""
    if text.upper() in _ABBREVIATIONS:
        return _ABBREVIATIONS[text.upper()][1]
    return text if "/" in text and is_zone(text) else None


@lru_cache(maxsize=64)
def region_of_city(city: str) -> str | None:
    """Return the region that a city names, `America/New_York` of `New_York`, or None."""
    if city in ("AM", "PM") or city.upper() in _ABBREVIATIONS:
        return None
    found = [name for name in available_timezones() if name == city or name.endswith(f"/{city}")]
    known = [name for name in found if "/" in name and name.split("/")[0] not in ("posix", "right", "Etc", "SystemV")]
    return min(known, key=lambda name: (name.count("/"), name), default=None)


def is_zone(name: str) -> bool:
    """Return whether a zone of this name is known."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def check_zone(name: str) -> str:
    """Return the name of a region, for a region or an abbreviation; raise a `ConfigError` for anything else."""
    if is_zone(name):
        return name
    if region := zone_region(name):
        return region
    common = ("UTC", "Europe/Berlin", "Europe/London", "America/New_York", "America/Chicago", "America/Los_Angeles")
    hint = did_you_mean(name, common)
    raise ConfigError(f"time zone {name[:40]!r} is unknown{hint or '; write it like America/Chicago or UTC'}")


def offset_ms(zone: str, utc_ms: int) -> int:
    """Return the distance of a zone from UTC at a time."""
    offset = datetime.fromtimestamp(utc_ms / 1000, UTC).astimezone(ZoneInfo(zone)).utcoffset()
    assert offset is not None
    return round(offset.total_seconds() * 1000)


def clock_changes(zone: str, start_ms: int, end_ms: int) -> tuple[Change, ...]:
    """Return the changes of a zone's clock between two times."""
    if zone == "UTC":
        return ()
    first_year = datetime.fromtimestamp(start_ms / 1000, UTC).year
    last_year = datetime.fromtimestamp(end_ms / 1000, UTC).year
    found = [change for year in range(first_year, last_year + 1) for change in _changes_of_year(zone, year)]
    return tuple(change for change in found if start_ms <= change.utc_ms <= end_ms)


@lru_cache(maxsize=1024)
def _changes_of_year(zone: str, year: int) -> tuple[Change, ...]:
    start = round(datetime(year, 1, 1, tzinfo=UTC).timestamp() * 1000)
    end = round(datetime(year + 1, 1, 1, tzinfo=UTC).timestamp() * 1000)
    changes = []
    for day in range(start, end, DAY_MS):
        before, after = offset_ms(zone, day), offset_ms(zone, day + DAY_MS)
        if before != after:
            low, high = day, day + DAY_MS
            while high - low > 60_000:
                middle = (low + high) // 2
                low, high = (middle, high) if offset_ms(zone, middle) == before else (low, middle)
            changes.append(Change(round(high / 60_000) * 60_000, before, after))
    return tuple(changes)


# clocks that differ in when they change: a region with the rule, and its common name
SUMMER_RULES = (
    ("America/New_York", "North America"),
    ("Europe/Berlin", "Central Europe"),
    ("Europe/London", "Western Europe"),
    ("Australia/Sydney", "Australia"),
)


def guess_summer_rule(local_ms: NDArray[np.int64], step_ms: int) -> tuple[LocalClock, str] | None:
    """Return a clock whose changes show in regular local times without a zone, and where they show.

    In spring the readings of one hour are absent, and in autumn an hour comes twice. The clock's distance from UTC
    stays unknown and is taken as zero in winter.
    """
    times = local_ms[local_ms != NO_TIME]
    if len(times) < 3 or not 0 < step_ms <= HOUR_MS:
        return None
    if times[0] > times[-1]:
        times = times[::-1]
    steps = np.diff(times)
    gaps = np.flatnonzero((steps > HOUR_MS) & (steps <= 2 * HOUR_MS))
    backs = np.flatnonzero((steps < 0) & (steps >= -HOUR_MS))
    for region, people in SUMMER_RULES:
        for change in clock_changes(region, int(times.min()) - DAY_MS, int(times.max()) + DAY_MS):
            rows = backs if change.is_back else gaps
            # what the clock showed just before the change, and at it
            shown_before, shown_after = change.utc_ms + change.before_ms, change.utc_ms + change.after_ms
            for row in rows.tolist():
                near_before = shown_before - step_ms <= times[row] < shown_before + (step_ms if change.is_back else 0)
                near_after = shown_after <= times[row + 1] < shown_after + step_ms
                if near_before and near_after:
                    winter = min(change.before_ms, change.after_ms)
                    day = np.datetime64(int(times[row]), "ms").astype("datetime64[D]")
                    what = "an hour comes twice" if change.is_back else "an hour is absent"
                    reason = f"{what} on {day}, when the clocks of {people} change"
                    return LocalClock(region, winter), reason
    return None
