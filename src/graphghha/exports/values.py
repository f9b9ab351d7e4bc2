"""Cells as exports write them: numbers with a decimal comma, states in words, marks of a missing value, units."""

import re
from collections import Counter
from dataclasses import dataclass

from graphghha.exports.vocabulary import BAD_FLAGS, MISSING_WORDS, OFF_WORDS, ON_WORDS
from graphghha.plants.units import is_known

MOST_STATES = 32

_FLAGS = re.compile(r"\s*\{([^}]*)\}\s*(?:@\s*\w+)?\s*$")  # `72.5 {ok} @ def`
_NUMBER_AND_UNIT = re.compile(r"([-+]?[\d.,]*\d(?:[eE][-+]?\d+)?)\s*(\D.{0,15})")


@dataclass(frozen=True, slots=True)
class Cell:
    """One text of a cell: a number, a word, or a mark of a missing value."""

    number: float = float("nan")
    word: str | None = None
    missing: str | None = None
    unit: str | None = None


def read_cell(text: str, decimal: str = ".") -> Cell:
    """Read one text."""
    text = text.strip()
    if match := _FLAGS.search(text):
        flags = {flag.strip().lower() for flag in match[1].split(",")}
        if bad := sorted(flags & BAD_FLAGS):
            return Cell(missing="{" + bad[0] + "}")
        text = text[: match.start()].strip()
    if not text:
        return Cell()
    if text.lower() in MISSING_WORDS:
        return Cell(missing=text.lower())
    if (number := parse_number(text, decimal)) is not None:
        return Cell(number)
    match = _NUMBER_AND_UNIT.fullmatch(text)
    if match and is_known(match[2]) and (number := parse_number(match[1], decimal)) is not None:
        return Cell(number, unit=match[2].strip())
    return Cell(word=text[:80])


def parse_number(text: str, decimal: str = ".") -> float | None:
    """Read a number with this decimal mark and any marks of thousands, or return None."""
    other = "," if decimal == "." else "."
    plain = text.replace("\N{NO-BREAK SPACE}", "").replace("\N{MINUS SIGN}", "-").replace("'", "")
    if other in plain and not re.fullmatch(rf"[-+]?\d{{1,3}}(?:\{other}\d{{3}})+(?:\{decimal}\d*)?", plain):
        return None
    plain = plain.replace(other, "").replace(decimal, ".")
    if "_" in plain or not any(mark.isdigit() for mark in plain):
        return None
    try:
        return float(plain)
    except ValueError:
        return None


def state_words(words: Counter[str]) -> tuple[str, ...]:
    """Return the words of a column of states in the order of their codes, or nothing if they are not states.

    Words that differ in case only are one state. A word of rest such as `Off` has the code 0 and its counterpart 1,
    also if only one of them occurs; other words follow in the order of the alphabet.
    """
    distinct: dict[str, str] = {}
    for word in words:
        distinct.setdefault(word.lower(), word)
    if not distinct or len(distinct) > MOST_STATES:
        return ()
    if len(distinct) > 3 and len(distinct) > sum(words.values()) // 2:
        return ()  # nearly every row has a text of its own: remarks or identifiers
    if len(distinct) == 1 and (word := next(iter(distinct))) in OFF_WORDS | ON_WORDS:
        given, other = distinct[word], f"not {distinct[word]}"
        return (given, other) if word in OFF_WORDS else (other, given)

    def rank(word: str) -> tuple[int, str]:
        return (0 if word in OFF_WORDS else 2 if word in ON_WORDS else 1, word)

    return tuple(distinct[word] for word in sorted(distinct, key=rank))
