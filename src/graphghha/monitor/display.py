"""How times and readings are shown to people: the site's time zone beside UTC, and the units they chose. Pure."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from graphghha._util.times import parse_time_ms
from graphghha.errors import ConfigError
from graphghha.plants import Signal

UNITS = ("degC", "degF")
UTC_NAME = "UTC"
_WRITTEN = re.compile(r"(-?\d+(?:\.\d+)?) °([CF])(, expected (-?\d+(?:\.\d+)?)(?![\d.]* ?[°%\w]))?")


@lru_cache(maxsize=64)
def find_zone(name: str) -> ZoneInfo:
    """Return a time zone by its name, such as `America/Chicago`."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError) as exc:  # ZoneInfoNotFoundError is a KeyError
        raise ConfigError(f"time zone {name!r} cannot be read: {exc}") from exc
    except KeyError as exc:
        raise ConfigError(f"there is no time zone {name!r}; write one such as America/Chicago, or UTC") from exc


@dataclass(frozen=True, kw_only=True, slots=True)
class Display:
    """The time zone of a site and the unit in which temperatures are shown."""

    time_zone: str = UTC_NAME
    units: str = "degC"

    def __post_init__(self) -> None:
        find_zone(self.time_zone)
        if self.units not in UNITS:
            raise ConfigError(f"units {self.units!r}: use {' | '.join(UNITS)}")

    @classmethod
    def of_site(cls, about: dict[str, Any], time_zone: str | None = None, units: str | None = None) -> "Display":
        """Return how a site of a journal is shown; what is given here takes the place of what the journal keeps."""
        kept = cls.kept(about)
        return cls(time_zone=time_zone or kept.time_zone, units=units or kept.units)

    @classmethod
    def kept(cls, about: dict[str, Any]) -> "Display":
        """Return the display that a journal keeps for a site; UTC and degC if it keeps none that can be used."""
        try:
            return cls(time_zone=str(about.get("time_zone") or UTC_NAME), units=str(about.get("units") or cls().units))
        except ConfigError:
            return cls()

    def to_dict(self) -> dict[str, str]:
        """Return the display as a journal keeps it."""
        return {"time_zone": self.time_zone, "units": self.units}

    def clock(self, time: int | str, on: int | str | None = None) -> str:
        """Return the local time of day with its zone, such as `14:07 CDT`; with the date unless it is that of `on`."""
        local = self._local(time)
        is_same_day = on is not None and self._local(on).date() == local.date()
        return f"{local:%H:%M} {_zone_name(local)}" if is_same_day else f"{self.day(time)} {self.clock(time, time)}"

    def day(self, time: int | str) -> str:
        """Return the local date, such as `3 Jul 2018`."""
        local = self._local(time)
        return f"{local.day} {local:%b %Y}"

    def moment(self, time: int | str) -> str:
        """Return date and local time with UTC beside it, such as `2018-07-02 21:12 CDT (3 Jul 02:12 UTC)`."""
        local = self._local(time)
        if _zone_name(local) == UTC_NAME:
            return f"{local:%Y-%m-%d %H:%M} {UTC_NAME}"
        world = local.astimezone(UTC)
        day = "" if world.date() == local.date() else f"{world.day} {world:%b} "
        return f"{local:%Y-%m-%d %H:%M} {_zone_name(local)} ({day}{world:%H:%M} {UTC_NAME})"

    def offset_ms(self, time_ms: int) -> int:
        """Return how far local time is ahead of UTC at a moment."""
        offset = self._local(time_ms).utcoffset()
        return 0 if offset is None else round(offset.total_seconds() * 1000)

    def reading(self, signal: Signal, value: float) -> str:
        """Return a reading in SI for people, in the unit chosen."""
        return self.reword(signal.format_reading(value))

    def reword(self, text: str) -> str:
        """Return a text with the temperatures in it converted to the unit chosen."""
        wanted = self.units[-1]

        def convert(match: re.Match[str]) -> str:
            if match[2] == wanted:
                return match[0]
            expected = f", expected {_convert(match[4], wanted)}" if match[4] else ""
            return f"{_convert(match[1], wanted)} °{wanted}{expected}"

        return _WRITTEN.sub(convert, text)

    def _local(self, time: int | str) -> datetime:
        time_ms = time if isinstance(time, int) else parse_time_ms(time)
        if time_ms is None:
            raise ValueError(f"{time!r} is not a time")
        return datetime.fromtimestamp(time_ms / 1000, find_zone(self.time_zone))


def _zone_name(local: datetime) -> str:
    """Return the abbreviation of a time's zone; zones that have none are named by their distance from UTC."""
    name = local.tzname() or UTC_NAME
    return f"{UTC_NAME}{name}" if name[:1] in "+-" else name


def _convert(number: str, wanted: str) -> str:
    digits = len(number.partition(".")[2])
    value = float(number)
    return f"{value * 1.8 + 32 if wanted == 'F' else (value - 32) / 1.8:.{digits}f}"


PLAIN = Display()
