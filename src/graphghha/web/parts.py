"""Sentences in parts, so that their times are shown in the site's zone and their temperatures as a person chose."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from graphghha._util.times import iso, parse_time_ms
from graphghha.monitor.display import Display
from graphghha.web.contract.incidents import Parts, TimePart, ValuePart

_OPEN, _CLOSE = "\ue000", "\ue001"  # of the private area: around what is no text
_MARKED = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")
_CELSIUS = re.compile(r"(-?\d+(?:\.\d+)?) °C(?:(, expected )(-?\d+(?:\.\d+)?)(?![\d.]* ?[°%\w]))?")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Marking(Display):
    """Marks times and temperatures instead of writing them."""

    def clock(self, time: int | str, on: int | str | None = None) -> str:
        given = "" if on is None else _iso(on)
        return f"{_OPEN}t {_iso(time)} {given}{_CLOSE}"

    def reword(self, text: str) -> str:
        return _mark_temperatures(text)


_MARKING = _Marking()


def in_parts(write: Callable[[Display], str]) -> Parts:
    """Return the parts of a sentence that a function writes for a display."""
    return _split(_mark_temperatures(write(_MARKING)))


def text_in_parts(text: str) -> Parts:
    """Return the parts of a sentence that has been written, whose times look like other digits."""
    return _split(_mark_temperatures(text))


def _mark_temperatures(text: str) -> str:
    def mark(match: re.Match[str]) -> str:
        expected = f"{match[2]}{_OPEN}v {match[3]} bare{_CLOSE}" if match[3] else ""
        return f"{_OPEN}v {match[1]} degC{_CLOSE}{expected}"

    return _CELSIUS.sub(mark, text)


def _split(text: str) -> Parts:
    parts: Parts = []
    at = 0
    for match in _MARKED.finditer(text):
        parts += [text[at : match.start()], _part(match[1])]
        at = match.end()
    parts.append(text[at:])
    return [part for part in parts if part != ""]


def _part(marked: str) -> str | TimePart | ValuePart:
    fields = marked.split(" ")
    if len(fields) == 3 and fields[0] == "t" and parse_time_ms(fields[1]) is not None:
        return TimePart(time=fields[1], on=fields[2] or None)
    if len(fields) == 3 and fields[0] == "v" and re.fullmatch(r"-?\d+(\.\d+)?", fields[1]):
        decimals = len(fields[1].partition(".")[2])
        return ValuePart(value=float(fields[1]), unit="degC", decimals=decimals, is_bare=fields[2] == "bare")
    return marked  # a name of the plant that holds our marks


def _iso(time: int | str) -> str:
    return iso(time) if isinstance(time, int) else time
